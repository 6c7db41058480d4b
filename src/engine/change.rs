//! Changes of stored memories: each keeps what was before in the log.

use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::record;
use crate::engine::core::Core;
use crate::engine::remember::{is_linked, terms_of, text_to_embed};
use crate::engine::rows::Kept;
use crate::engine::user_index::{Attributes, IndexChange, facts_of};
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryId, NewMemory, Sensitivity, Status, SupersedeReason, UserId, Vector, Verb};
use crate::policy::belief;

/// A change of a record, as a pure function.
pub(crate) type Edit = Box<dyn FnOnce(&mut Memory) -> Result<()> + Send>;

/// What becomes of the vector in a change.
#[derive(Debug, Clone)]
pub(crate) enum VectorEdit {
    /// It stays: the meaning did not change.
    Keep,
    /// A new one of this space; none where its model has none.
    Replace(u32, Option<Vector>),
    /// None, and none is known: the memory is pending.
    Drop,
}

impl Core {
    /// Changes a memory in place.
    pub(crate) fn update(
        &self,
        user: &UserId,
        id: MemoryId,
        level: Sensitivity,
        if_version: Option<u32>,
        (edit, vector): (Edit, VectorEdit),
    ) -> Result<u32> {
        let hash = self.user_hash(user);
        self.write(hash, false, move |transaction| {
            transaction.with_user(hash, |writer| {
                let (row, before) = writer.visible(id, level)?;
                if let Some(expected) = if_version.filter(|expected| *expected != before.version) {
                    let found = before.version;
                    return Err(Error::conflict(format!("version: {found} is stored, not {expected}")));
                }
                let mut after = before.clone();
                edit(&mut after)?;
                writer.rewrite(Verb::Update, row, &before, after, vector)
            })
        })
    }

    /// Stores `new` in place of `old`, which stays as superseded.
    pub(crate) fn correct(&self, user: &UserId, old: MemoryId, level: Sensitivity, new: NewMemory) -> Result<MemoryId> {
        let mut new = self.prepare_correction(new)?;
        let hash = self.user_hash(user);
        self.write(hash, false, move |transaction| {
            transaction.with_user(hash, |writer| {
                let (row, before) = writer.visible(old, level)?;
                if matches!(before.status, Status::Superseded { .. }) {
                    return Err(Error::conflict(format!("id {old}: superseded already; correct the newest")));
                }
                let (id, known_at) = (new.memory.id, new.memory.created_at);
                new.memory.supersedes = vec![old];
                let row_of_new = writer.insert(&new.memory, new.vector, new.terms)?;
                let (at, change) = (writer.now(), RowChange { row: row_of_new, before: None });
                writer.log(&LogEntry { verb: Verb::Remember.into(), at, rows: vec![change] })?;
                let mut after = before.clone();
                after.status = Status::Superseded { by: Some(id), reason: SupersedeReason::Corrected };
                after.ended_at = Some(known_at);
                writer.rewrite(Verb::Correct, row, &before, after, VectorEdit::Keep)?;
                Ok(id)
            })
        })
    }

    fn prepare_correction(&self, new: NewMemory) -> Result<crate::engine::remember::Prepared> {
        let mut prepared = self.prepare(vec![new]);
        prepared.pop().unwrap_or_else(|| Err(Error::invalid("correct: nothing to store")))
    }

    /// The user agreed to it: evidence and confidence rise, a candidate becomes active.
    pub(crate) fn confirm(&self, user: &UserId, id: MemoryId, level: Sensitivity) -> Result<u32> {
        let now = self.now();
        let edit: Edit = Box::new(move |memory| {
            belief::confirm(memory, now);
            Ok(())
        });
        self.edit_as(Verb::Confirm, user, id, level, edit)
    }

    /// Something spoke against it: confidence falls.
    pub(crate) fn contradict(&self, user: &UserId, id: MemoryId, level: Sensitivity) -> Result<u32> {
        let edit: Edit = Box::new(|memory| {
            belief::contradict(memory);
            Ok(())
        });
        self.edit_as(Verb::Contradict, user, id, level, edit)
    }

    fn edit_as(&self, verb: Verb, user: &UserId, id: MemoryId, level: Sensitivity, edit: Edit) -> Result<u32> {
        let hash = self.user_hash(user);
        self.write(hash, false, move |transaction| {
            transaction.with_user(hash, |writer| {
                let (row, before) = writer.visible(id, level)?;
                let mut after = before.clone();
                edit(&mut after)?;
                writer.rewrite(verb, row, &before, after, VectorEdit::Keep)
            })
        })
    }

    /// Notes that memories were used in an answer, all or none.
    pub(crate) fn used(&self, user: &UserId, ids: Vec<MemoryId>, level: Sensitivity) -> Result<()> {
        let hash = self.user_hash(user);
        self.write(hash, false, move |transaction| {
            transaction.with_user(hash, |writer| {
                let at = writer.now();
                let mut rows = Vec::with_capacity(ids.len());
                for id in ids {
                    let (row, mut memory) = writer.visible(id, level)?;
                    belief::used(&mut memory, at);
                    writer.put_record(row, &memory, Kept::AsBefore)?;
                    let attributes = Attributes::of(&memory);
                    writer.change_index(IndexChange::Change { facts: facts_of(&memory, row), attributes });
                    rows.push(RowChange { row, before: None });
                }
                writer.log(&LogEntry { verb: Verb::Use.into(), at, rows })
            })
        })
    }

    /// The vector that belongs to a changed text.
    pub(crate) fn vector_for_text(&self, memory: &Memory, text: &str) -> VectorEdit {
        let changed = Memory { text: text.to_owned(), ..memory.clone() };
        match self.embed_all(&[text_to_embed(&changed)]) {
            Some((space, mut vectors)) => VectorEdit::Replace(space, vectors.pop().flatten()),
            None => VectorEdit::Drop,
        }
    }

    /// Stops or resumes the taking of memories.
    pub(crate) fn set_paused(&self, user: &UserId, paused: bool) -> Result<()> {
        let (hash, id) = (self.user_hash(user), user.clone());
        self.write(hash, false, move |transaction| {
            transaction.with_new_user(hash, &id, |writer| {
                writer.facts().paused = paused;
                Ok(())
            })
        })
    }
}

impl UserWriter<'_, '_> {
    /// A memory that may be seen at this level; one above it is as good as absent.
    pub(crate) fn visible(&self, id: MemoryId, level: Sensitivity) -> Result<(u32, Memory)> {
        let missing = || Error::not_found(format!("id {id}: no such memory"));
        let (row, version) = self.find(id)?.ok_or_else(missing)?;
        let memory = self.record(row)?.filter(|memory| memory.version == version);
        let memory = memory.ok_or_else(|| Error::corrupt(format!("records: row {row} is missing or stale")))?;
        sabotage!(7, return Ok((row, memory)));
        if memory.sensitivity > level { Err(missing()) } else { Ok((row, memory)) }
    }

    /// Puts a changed record in place, with the old one in the log; its new version.
    pub(crate) fn rewrite(
        &mut self,
        verb: Verb,
        row: u32,
        before: &Memory,
        mut after: Memory,
        vector: VectorEdit,
    ) -> Result<u32> {
        after.version = before.version.saturating_add(1);
        after.updated_at = self.now();
        after.note_change(before, after.updated_at);
        let replaced = match vector {
            VectorEdit::Keep => None,
            VectorEdit::Drop => Some((None, None)),
            VectorEdit::Replace(space, new) => Some((Some(space), new.map(|vector| (space, vector)))),
        };
        if let Some((space, _)) = &replaced {
            after.space = *space;
        }
        crate::memory::check(&after)?;
        let kept = match &replaced {
            None => Kept::AsBefore,
            Some((_, Some(_))) => Kept::Own,
            Some((_, None)) => Kept::Nothing,
        };
        self.put_record(row, &after, kept)?;
        if text_to_embed(&after) != text_to_embed(before) {
            let terms = terms_of(&after, &mut crate::text::Stems::default());
            self.put_terms(row, &terms)?;
            self.change_index(IndexChange::SetTerms { row, terms });
        }
        let linked = i64::from(is_linked(&after)) - i64::from(is_linked(before));
        let facts = self.facts();
        facts.linked = facts.linked.saturating_add_signed(linked as i32);
        self.change_index(IndexChange::Change { facts: facts_of(&after, row), attributes: Attributes::of(&after) });
        if let Some((_, new)) = replaced {
            self.put_vector(row, new.as_ref().map(|(space, numbers)| (*space, numbers)))?;
            self.change_index(IndexChange::SetVector { row, vector: new });
        }
        let rows = vec![RowChange { row, before: Some(record::encode(before)?) }];
        let at = self.now();
        self.log(&LogEntry { verb: verb.into(), at, rows })?;
        Ok(after.version)
    }
}
