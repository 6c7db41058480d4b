//! Embedding after the fact: of memories whose embedder failed, and of all when the model changes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::codec::head::BLOCK_ROWS;
use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::{Table, UserHash, record};
use crate::embed::{EmbedError, Embedder, Purpose};
use crate::engine::core::Core;
use crate::engine::head::row_chunk;
use crate::engine::recall::ATTEMPTS;
use crate::engine::remember::text_to_embed;
use crate::engine::rows::{BlockRow, Kept};
use crate::engine::user_index::{Attributes, IndexChange, UserIndex, facts_of};
use crate::engine::user_writer::{Before, UserWriter};
use crate::error::{Error, Result};
use crate::memory::{Memory, Vector, Verb, space_code};

/// Rows that one commit takes on, rounded up to whole blocks: a user of ordinary size changes models at once.
const ROWS_A_COMMIT: usize = 8_192;
/// Texts that the embedder gets at a time.
const TEXTS_A_BATCH: usize = 256;
/// From so many rows on, a block is built anew rather than patched.
const REBUILD_MIN: usize = 16;

/// How far an embedding run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EmbedProgress {
    /// Users that are done.
    pub users_done: usize,
    /// Users of the store when it began.
    pub users: usize,
    /// Memories that have a vector now.
    pub embedded: usize,
    /// Memories that the model has no vector for, such as those in a language that it does not have.
    pub without_vector: usize,
    /// Memories that the embedder refused; they stay pending.
    pub refused: usize,
}

/// What is told how far a run has come, and may stop it.
type OnProgress<'a> = dyn FnMut(&EmbedProgress) -> ControlFlow<()> + 'a;

/// Rows with their memories, ascending.
type Rows = Vec<(u32, Memory)>;

/// A row with the version that was embedded, and what the model answered.
struct Answered {
    row: u32,
    version: u32,
    vector: Option<Vector>,
}

impl Core {
    /// Makes the embedder's space the store's, if it is not, and embeds what is not in it.
    pub(crate) fn reembed(&self, on_progress: &mut OnProgress<'_>) -> Result<EmbedProgress> {
        self.check_open()?;
        if self.settings.embedder.is_none() {
            return Err(no_embedder());
        }
        self.adopt_space()?;
        self.embed_pending(on_progress)
    }

    /// Embeds every memory that no embedder of the current space has answered for.
    pub(crate) fn embed_pending(&self, on_progress: &mut OnProgress<'_>) -> Result<EmbedProgress> {
        self.check_open()?;
        let embedder = self.settings.embedder.clone().ok_or_else(no_embedder)?;
        self.spaces.read().check_embedder()?;
        let users = self.all_user_hashes()?;
        let mut progress = EmbedProgress { users: users.len(), ..EmbedProgress::default() };
        for user in users {
            if self.embed_user(user, &*embedder, &mut progress, on_progress)?.is_break() {
                break;
            }
            progress.users_done += 1;
            if on_progress(&progress).is_break() {
                break;
            }
        }
        Ok(progress)
    }

    fn embed_user(
        &self,
        user: UserHash,
        embedder: &dyn Embedder,
        progress: &mut EmbedProgress,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut from = 0;
        while let Some((space, memories)) = self.pending(user, from)? {
            from = memories.last().map_or(u32::MAX, |(row, _)| row.saturating_add(1));
            let (answered, refused) = answers(embedder, &memories)?;
            let with_vector = answered.iter().filter(|one| one.vector.is_some()).count();
            let stored = self.write(user, false, move |transaction| {
                transaction.with_user(user, |writer| writer.embed(space, answered))
            })?;
            progress.embedded += with_vector.min(stored);
            progress.without_vector += stored.saturating_sub(with_vector);
            progress.refused += refused;
            if on_progress(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next memories of a user that are not in the current space, with its number; `None` where there are no more.
    fn pending(&self, user: UserHash, from: u32) -> Result<Option<(u32, Rows)>> {
        for _ in 0..ATTEMPTS {
            let found = self.with_index(user, |_, index| Ok((index.pending(from), index.version, index.space)))?;
            let Some((rows, version, Some(space))) = found.filter(|(rows, ..)| !rows.is_empty()) else {
                return Ok(None);
            };
            if let Some(memories) = self.page_records(user, version, &rows)? {
                let rows = rows.into_iter().map(|(row, _)| row);
                return Ok(Some((space, rows.zip(memories).collect())));
            }
            self.wait_for_commit(user);
        }
        Err(Error::busy("embed_pending: a user's memories changed faster than they could be read; try again"))
    }
}

impl UserIndex {
    /// Rows from `from` on that are not in the index's space, with their versions, up to the end of a block.
    fn pending(&self, from: u32) -> Vec<(u32, u32)> {
        let code = space_code(self.space);
        let waits = |facts: &&crate::index::vector::Facts| facts.row >= from && facts.space != code;
        let mut rows: Vec<(u32, u32)> =
            self.arena.iter().filter(waits).map(|facts| (facts.row, facts.version)).collect();
        rows.sort_unstable();
        if let Some((last, _)) = rows.get(ROWS_A_COMMIT) {
            let end = last - last % BLOCK_ROWS;
            let whole = rows.partition_point(|(row, _)| *row < end);
            rows.truncate(if whole == 0 { ROWS_A_COMMIT } else { whole });
        }
        rows
    }
}

impl UserWriter<'_, '_> {
    /// Stores what a model answered, for rows that have not changed since; how many.
    fn embed(&mut self, space: u32, answered: Vec<Answered>) -> Result<usize> {
        if self.core().spaces.read().current().map(|(number, _)| number) != Some(space) {
            return Err(Error::busy("embed_pending: the embedding space is changing; try again"));
        }
        let mut blocks: BTreeMap<u32, Vec<Embedded>> = BTreeMap::new();
        let mut rows = Vec::new();
        for one in answered {
            let memory = self.record(one.row)?.filter(|memory| memory.version == one.version);
            let Some(memory) = memory else { continue };
            rows.push(RowChange { row: one.row, before: None });
            let memory = Memory { space: Some(space), ..memory };
            let vector = one.vector.map(|vector| (space, vector));
            blocks.entry(one.row / BLOCK_ROWS).or_default().push(Embedded { row: one.row, memory, vector });
        }
        let stored = rows.len();
        for (block, rows) in blocks {
            let closed = block < self.head().facts.closed_blocks;
            if closed && rows.len() >= REBUILD_MIN {
                self.rebuild_block(block, rows)?;
            } else {
                rows.into_iter().try_for_each(|one| self.patch_row(one))?;
            }
        }
        if stored > 0 {
            let at = self.now();
            self.log(&LogEntry { verb: Verb::Embed.into(), at, rows })?;
        }
        Ok(stored)
    }

    fn patch_row(&mut self, one: Embedded) -> Result<()> {
        let kept = if one.vector.is_some() { Kept::Own } else { Kept::Nothing };
        self.put_record(one.row, &one.memory, kept)?;
        self.put_vector(one.row, one.vector.as_ref().map(|(space, numbers)| (*space, numbers)))?;
        self.note_embedded(one);
        Ok(())
    }

    fn rebuild_block(&mut self, block: u32, new: Vec<Embedded>) -> Result<()> {
        let mut new: BTreeMap<u32, Embedded> = new.into_iter().map(|one| (one.row, one)).collect();
        let mut rows = Vec::with_capacity(BLOCK_ROWS as usize);
        for row in block * BLOCK_ROWS..(block + 1) * BLOCK_ROWS {
            let terms = self.terms(row)?;
            let (memory, vector) = match new.remove(&row) {
                Some(one) => {
                    let plain = record::encode(&one.memory)?;
                    self.put_value(Table::Records, u64::from(row), row_chunk(row), &plain, Before::Perhaps)?;
                    let kept = (one.memory.clone(), one.vector.clone());
                    self.note_embedded(one);
                    kept
                }
                None => match self.record(row)? {
                    Some(memory) => (memory, self.vector(row)?),
                    None => continue,
                },
            };
            let (facts, attributes) = (facts_of(&memory, row), Attributes::of(&memory));
            rows.push(BlockRow { facts, attributes, vector, terms });
        }
        self.write_block(block, &rows, |_| false)
    }

    fn note_embedded(&mut self, one: Embedded) {
        let Embedded { row, memory, vector } = one;
        self.change_index(IndexChange::Change { facts: facts_of(&memory, row), attributes: Attributes::of(&memory) });
        self.change_index(IndexChange::SetVector { row, vector });
    }
}

/// A memory with the vector that it gets.
struct Embedded {
    row: u32,
    memory: Memory,
    vector: Option<(u32, Vector)>,
}

/// What the embedder answers, batch by batch; one that it refuses is tried text by text. How many were refused.
fn answers(embedder: &dyn Embedder, memories: &[(u32, Memory)]) -> Result<(Vec<Answered>, usize)> {
    let (mut answered, mut refused) = (Vec::with_capacity(memories.len()), 0);
    for batch in memories.chunks(TEXTS_A_BATCH) {
        match embed(embedder, batch) {
            Ok(all) => answered.extend(all),
            Err(EmbedError::Refused(_)) => {
                for one in batch {
                    match embed(embedder, std::slice::from_ref(one)) {
                        Ok(all) => answered.extend(all),
                        Err(EmbedError::Refused(_)) => refused += 1,
                        Err(error) => return Err(unavailable(error)),
                    }
                }
            }
            Err(error) => return Err(unavailable(error)),
        }
    }
    Ok((answered, refused))
}

fn embed(embedder: &dyn Embedder, batch: &[(u32, Memory)]) -> std::result::Result<Vec<Answered>, EmbedError> {
    let texts: Vec<String> = batch.iter().map(|(_, memory)| text_to_embed(memory)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts, Purpose::Memory)?;
    if vectors.len() != batch.len() {
        return Err(EmbedError::Refused(format!("{} vectors for {} texts", vectors.len(), batch.len())));
    }
    let dims = embedder.space().dims();
    let answer = |((row, memory), numbers): (&(u32, Memory), Option<Vec<f32>>)| {
        let vector = numbers.as_deref().map(Vector::new).transpose();
        let vector = vector.map_err(|error| EmbedError::Refused(error.message().to_owned()))?;
        if vector.as_ref().is_some_and(|vector| vector.dims() != dims) {
            return Err(EmbedError::Refused(format!("a vector that has not {dims} numbers")));
        }
        Ok(Answered { row: *row, version: memory.version, vector })
    };
    batch.iter().zip(vectors).map(answer).collect()
}

fn no_embedder() -> Error {
    Error::unsupported("embed: the store was opened without an embedder")
}

fn unavailable(error: EmbedError) -> Error {
    Error::busy(format!("embed: {error}; what was embedded before is stored, try again")).with_source(error)
}
