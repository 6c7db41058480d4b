//! Storing memories.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::terms;
use crate::embed::Purpose;
use crate::engine::core::Core;
use crate::engine::user_index::{Attributes, IndexChange, facts_of};
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, Result};
use crate::index::lexical::to_stored;
use crate::memory::limits::{BATCH_MAX, ROWS_MAX};
use crate::memory::{Evidence, Memory, MemoryId, NewMemory, UserId, Vector, Verb};
use crate::text::time::time_expressions;
use crate::text::{Stems, TermList, canonical};

/// From this many memories on, checking and analysing them is worth a second thread.
const PARALLEL_MIN: usize = 64;

/// A memory that passed every check that needs no store.
pub(crate) struct Prepared {
    pub(crate) memory: Memory,
    pub(crate) vector: Option<(u32, Vector)>,
    /// Its terms, as they are stored.
    pub(crate) terms: Vec<u8>,
    /// Whether the caller gave the id, so that the memory may be there already.
    pub(crate) id_given: bool,
    /// Whether the caller gave the time of creation.
    pub(crate) time_given: bool,
}

impl Core {
    /// Checks, embeds and stores; each memory has its own outcome, all stored ones share one commit.
    pub(crate) fn remember_all(&self, user: &UserId, news: Vec<NewMemory>) -> Result<Vec<Result<MemoryId>>> {
        self.check_open()?;
        if news.len() > BATCH_MAX {
            return Err(Error::invalid(format!("remember_all: {} memories, at most {BATCH_MAX}", news.len())));
        }
        if news.is_empty() {
            return Ok(Vec::new());
        }
        let prepared = self.prepare(news);
        let (hash, id) = (self.user_hash(user), user.clone());
        let outcomes: Vec<Option<Error>> = prepared.iter().map(|p| p.as_ref().err().map(Error::duplicate)).collect();
        let good: Vec<Prepared> = prepared.into_iter().flatten().collect();
        let mut stored = if good.is_empty() {
            Vec::new()
        } else {
            self.write(hash, false, move |transaction| {
                transaction.with_new_user(hash, &id, |writer| writer.remember(good))
            })?
        }
        .into_iter();
        let missing = || Err(Error::io("remember_all: no outcome"));
        Ok(outcomes.into_iter().map(|bad| bad.map_or_else(|| stored.next().unwrap_or_else(missing), Err)).collect())
    }

    pub(crate) fn prepare(&self, news: Vec<NewMemory>) -> Vec<Result<Prepared>> {
        // Ids are given in order; the rest of the work has none.
        let named: Vec<Result<(MemoryId, NewMemory)>> = news
            .into_iter()
            .map(|new| {
                let id = new.id.map_or_else(|| self.world.new_id().map(MemoryId::from_bytes), Ok)?;
                Ok((id, new))
            })
            .collect();
        let prepare = |stems: &mut Stems, named: Result<(MemoryId, NewMemory)>| {
            named.and_then(|(id, new)| self.prepare_one(id, new, stems))
        };
        let mut prepared: Vec<Result<Prepared>> = if named.len() < PARALLEL_MIN {
            let mut stems = Stems::default();
            named.into_iter().map(|one| prepare(&mut stems, one)).collect()
        } else {
            named.into_par_iter().with_min_len(PARALLEL_MIN).map_init(Stems::for_many, prepare).collect()
        };
        self.embed_missing(&mut prepared);
        prepared
    }

    fn prepare_one(&self, id: MemoryId, mut new: NewMemory, stems: &mut Stems) -> Result<Prepared> {
        let (id_given, time_given) = (new.id.is_some(), new.created_at.is_some());
        let vector = new.vector.take().map(|numbers| Vector::new(&numbers)).transpose()?;
        let mut memory = new.admit(id, self.now())?;
        let vector = match vector {
            Some(vector) => Some((self.space_for(&vector)?, vector)),
            None => None,
        };
        memory.space = vector.as_ref().map(|(space, _)| *space);
        let terms = terms_of(&memory, stems);
        Ok(Prepared { memory, vector, terms, id_given, time_given })
    }

    /// Embeds what came without a vector. What the embedder does not give stays pending.
    fn embed_missing(&self, prepared: &mut [Result<Prepared>]) {
        let mut waiting: Vec<&mut Prepared> = prepared.iter_mut().flatten().filter(|p| p.vector.is_none()).collect();
        if waiting.is_empty() {
            return;
        }
        let texts: Vec<String> = waiting.iter().map(|p| text_to_embed(&p.memory)).collect();
        let Some((space, vectors)) = self.embed_all(&texts) else { return };
        for (one, vector) in waiting.iter_mut().zip(vectors) {
            one.memory.space = Some(space);
            one.vector = vector.map(|vector| (space, vector));
        }
    }

    /// The space of the embedder and its vectors of texts to be stored, `None` for a text that has none; `None` for all
    /// where there is no embedder that fits, or it failed.
    pub(crate) fn embed_all(&self, texts: &[String]) -> Option<(u32, Vec<Option<Vector>>)> {
        let embedder = self.settings.embedder.as_ref()?;
        let space = {
            let spaces = self.spaces.read();
            spaces.check_embedder().ok()?;
            spaces.current()?.0
        };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answer = embedder.embed(&texts, Purpose::Memory);
        let vectors = answer.inspect_err(|error| log::warn!("memories stay pending: {error}")).ok()?;
        if vectors.len() != texts.len() {
            log::warn!("memories stay pending: {} vectors for {} texts", vectors.len(), texts.len());
            return None;
        }
        let checked: Result<Vec<Option<Vector>>> =
            vectors.iter().map(|numbers| numbers.as_deref().map(Vector::new).transpose()).collect();
        let checked = checked.inspect_err(|error| log::warn!("memories stay pending: {error}")).ok()?;
        let dims = self.spaces.read().get(space)?.dims();
        let fits = checked.iter().flatten().all(|vector| vector.dims() == dims);
        fits.then_some((space, checked))
    }
}

/// What stands for a memory in its embedding: a sentence is found far better with its speaker's name before it.
pub(crate) fn text_to_embed(memory: &Memory) -> String {
    match memory.speaker() {
        Some(speaker) if !memory.text().starts_with(speaker) => format!("{speaker}: {}", memory.text()),
        _ => memory.text().to_owned(),
    }
}

/// The terms of a memory and the times that it tells of, as they are stored.
pub(crate) fn terms_of(memory: &Memory, stems: &mut Stems) -> Vec<u8> {
    let text = text_to_embed(memory);
    let at = memory.event_at.unwrap_or(memory.created_at).as_micros();
    let told: Vec<_> = time_expressions(&text, at).into_iter().map(|told| told.interval).collect();
    terms::encode(&to_stored(&TermList::with(&text, stems), &told))
}

impl UserWriter<'_, '_> {
    fn remember(&mut self, all: Vec<Prepared>) -> Result<Vec<Result<MemoryId>>> {
        if self.head().facts.paused {
            return Err(Error::denied("remember: memory is paused for this user"));
        }
        let mut rows = Vec::new();
        let mut outcomes = Vec::with_capacity(all.len());
        for one in all {
            if let Some(outcome) = self.settled(&one)? {
                outcomes.push(outcome);
                continue;
            }
            outcomes.push(Ok(one.memory.id));
            rows.push(RowChange { row: self.insert(&one.memory, one.vector, one.terms)?, before: None });
        }
        if !rows.is_empty() {
            let at = self.now();
            self.log(&LogEntry { verb: Verb::Remember.into(), at, rows })?;
        }
        Ok(outcomes)
    }

    /// The outcome of a memory that need not, or must not, be stored.
    fn settled(&self, one: &Prepared) -> Result<Option<Result<MemoryId>>> {
        match self.stored_before(one)? {
            Some(outcome) => Ok(Some(outcome)),
            None => Ok(self.refused(&one.memory)?.map(Err)),
        }
    }

    /// The outcome for an id of the caller's that is there already: fine with the same content, else a conflict.
    fn stored_before(&self, one: &Prepared) -> Result<Option<Result<MemoryId>>> {
        if !one.id_given {
            return Ok(None);
        }
        let Some((row, _)) = self.find(one.memory.id)? else { return Ok(None) };
        let stored = self.record(row)?.ok_or_else(|| Error::corrupt(format!("records: row {row} is missing")))?;
        let mut same = one.memory.clone().with_engine_fields_of(&stored);
        if !one.time_given {
            same.created_at = stored.created_at;
        }
        let same_vector = match &one.vector {
            Some((_, vector)) => self.vector(row)?.is_none_or(|(_, kept)| kept == *vector),
            None => true,
        };
        same.supersedes.clone_from(&stored.supersedes);
        if same == stored && same_vector {
            return Ok(Some(Ok(stored.id)));
        }
        Ok(Some(Err(Error::conflict(format!("id {}: stored with other content", stored.id)))))
    }

    /// What was forgotten does not come back by inference; the user may always say it again.
    fn refused(&self, memory: &Memory) -> Result<Option<Error>> {
        if memory.evidence < Evidence::Inferred {
            return Ok(None);
        }
        let forgotten = self.has_tombstone(self.text_hash(memory.text()))?;
        Ok(forgotten.then(|| Error::denied("remember: this was forgotten, and may only be stated again, not inferred")))
    }

    /// Gives a memory the next row.
    pub(crate) fn insert(&mut self, memory: &Memory, vector: Option<(u32, Vector)>, terms: Vec<u8>) -> Result<u32> {
        let facts = self.facts();
        let row = facts.next_row;
        if row >= ROWS_MAX {
            return Err(Error::unsupported(format!("user: {ROWS_MAX} memories were stored, no row is left")));
        }
        facts.next_row += 1;
        facts.live += 1;
        facts.linked += u32::from(is_linked(memory));
        self.insert_row(row, memory)?;
        let attributes = Attributes::of(memory);
        self.change_index(IndexChange::Insert { facts: facts_of(memory, row), vector, attributes, terms });
        Ok(row)
    }

    /// What stands for a text among the tombstones.
    pub(crate) fn text_hash(&self, text: &str) -> [u8; 16] {
        let key = self.head().keys.tombstone.derive("mnemic tombstone text");
        key.short_mac(&[&[crate::text::CANON_VERSION], blake3::hash(canonical(text).as_bytes()).as_bytes()])
    }
}

/// Whether a record names others.
pub(crate) fn is_linked(memory: &Memory) -> bool {
    let superseded = matches!(memory.status, crate::memory::Status::Superseded { by: Some(_), .. });
    superseded || !memory.derived_from.is_empty() || !memory.supersedes.is_empty()
}
