//! Back to a snapshot: memories become what they were in it, newer ones are archived, forgotten ones stay away.

use std::collections::HashSet;
use std::sync::Arc;

use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::snapshot::{Entry, RowKey, decode_row};
use crate::codec::{UserHash, record, vector};
use crate::engine::change::VectorEdit;
use crate::engine::core::Core;
use crate::engine::remember::{terms_of, text_to_embed};
use crate::engine::snapshot::rekey::{Epoch, is_forgotten};
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{ArchiveReason, Memory, MemoryId, SnapshotId, Status, StatusKind, UserId, Vector, Verb};
use crate::storage::SnapshotReader;
use crate::text::Stems;

/// What going back to a snapshot did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restored {
    /// Users who are as they were in the snapshot.
    pub users: u64,
    /// Users of the snapshot who were forgotten since: nothing of them came back.
    pub users_refused: u64,
    /// Memories that were changed back, or stored again.
    pub restored: u64,
    /// Memories that were as in the snapshot already.
    pub unchanged: u64,
    /// Memories that are newer than the snapshot and were archived.
    pub archived: u64,
    /// Memories of the snapshot that were forgotten since: they stay forgotten.
    pub refused: u64,
    /// Memories of the snapshot that are damaged in it; what is stored of them stays as it is.
    pub damaged: u64,
}

impl Core {
    /// Brings back every user of a snapshot, each in one commit.
    pub(crate) fn restore(&self, id: SnapshotId) -> Result<Restored> {
        self.check_open()?;
        let reader = Arc::new(self.directory.snapshots().open(&self.keyring, id)?);
        let mut all = Restored::default();
        for entry in reader.directory()? {
            match self.restore_one(&reader, entry.user) {
                Ok(one) => all.add(&one),
                Err(error) if error.kind() == ErrorKind::NotFound => all.users_refused += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Brings back one user.
    pub(crate) fn restore_user(&self, id: SnapshotId, user: &UserId) -> Result<Restored> {
        self.check_open()?;
        let reader = self.directory.snapshots().open(&self.keyring, id)?;
        self.restore_one(&Arc::new(reader), self.user_hash(user))
    }

    fn restore_one(&self, reader: &Arc<SnapshotReader>, user: UserHash) -> Result<Restored> {
        let reader = Arc::clone(reader);
        self.write(user, true, move |transaction| {
            transaction.with_user(user, |writer| {
                let entry = reader.entry(user, writer.head().slot.generation)?;
                let entry = entry.ok_or_else(|| Error::not_found("snapshot: nothing of this user is in it"))?;
                writer.restore(&reader, &entry)
            })
        })
    }
}

impl Restored {
    fn add(&mut self, one: &Self) {
        self.users += one.users;
        self.restored += one.restored;
        self.unchanged += one.unchanged;
        self.archived += one.archived;
        self.refused += one.refused;
        self.damaged += one.damaged;
    }
}

impl UserWriter<'_, '_> {
    fn restore(&mut self, reader: &SnapshotReader, entry: &Entry) -> Result<Restored> {
        let head = self.head();
        let epoch = Epoch::new(head.user, head.slot.generation, head.slot.epoch, head.keys.clone());
        let section = self.core().find_section(reader, &reader.keys()?, entry, &[&epoch])?;
        let (_, section) = section
            .ok_or_else(|| Error::corrupt(format!("snapshot {}: the keys of {} are damaged", reader.id, self.user)))?;
        let mut done = Restored { users: 1, refused: u64::from(section.forgotten), ..Restored::default() };
        let mut known = HashSet::new();
        let mut again = Vec::new();
        for row in &section.rows {
            known.insert(row.id);
            if is_forgotten(&self.transaction.view, entry, row) {
                done.refused += 1;
                continue;
            }
            match self.open_copied(reader, entry, row) {
                Ok((memory, vector)) => self.restore_memory(memory, vector, entry, &mut again, &mut done)?,
                Err(error) if error.is_of_a_value() => done.damaged += 1,
                Err(error) => return Err(error),
            }
        }
        if !again.is_empty() {
            let at = self.now();
            self.log(&LogEntry { verb: Verb::Restore.into(), at, rows: again })?;
        }
        done.archived = self.archive_newer(&known)?;
        Ok(done)
    }

    fn open_copied(
        &self,
        reader: &SnapshotReader,
        entry: &Entry,
        row: &RowKey,
    ) -> Result<(Memory, Option<(u32, Vector)>)> {
        let plain = self.core().copied_row(reader, entry, row)?;
        let (bytes, numbers) = decode_row(&plain)?;
        let memory = record::decode(bytes)?;
        let vector = if numbers.is_empty() { None } else { Some(vector::decode(numbers)?) };
        Ok((memory, vector))
    }

    /// Makes a memory what it was; one that is missing, as after damage, is stored anew.
    fn restore_memory(
        &mut self,
        mut memory: Memory,
        vector: Option<(u32, Vector)>,
        entry: &Entry,
        again: &mut Vec<RowChange>,
        done: &mut Restored,
    ) -> Result<()> {
        self.strip_forgotten(&mut memory, entry);
        let Some((row, version)) = self.find(memory.id)? else {
            let terms = terms_of(&memory, &mut Stems::default());
            again.push(RowChange { row: self.insert(&memory, vector, terms)?, before: None });
            done.restored += 1;
            return Ok(());
        };
        let before = self.record(row)?.filter(|before| before.version == version);
        let before = before.ok_or_else(|| Error::corrupt(format!("records: row {row} is missing or stale")))?;
        if version == memory.version {
            done.unchanged += 1;
            return Ok(());
        }
        let edit = self.vector_edit(row, &before, &memory, vector)?;
        if matches!(edit, VectorEdit::Keep) {
            memory.space = before.space;
        }
        (memory.version, memory.updated_at) = (before.version, before.updated_at);
        // Going back is a change of what it says, and has its own time: no reason to go back again.
        memory.revised_at = before.revised_at;
        if matches!(edit, VectorEdit::Keep) && memory == before {
            done.unchanged += 1;
            return Ok(());
        }
        self.rewrite(Verb::Restore, row, &before, memory, edit)?;
        done.restored += 1;
        Ok(())
    }

    /// The vector stays where it is the same, or where the copy has none for the same text.
    fn vector_edit(
        &self,
        row: u32,
        before: &Memory,
        copied: &Memory,
        vector: Option<(u32, Vector)>,
    ) -> Result<VectorEdit> {
        let is_pending = vector.is_none() && text_to_embed(before) == text_to_embed(copied);
        let keep = is_pending || self.vector(row)? == vector;
        Ok(match vector {
            _ if keep => VectorEdit::Keep,
            Some((space, vector)) => VectorEdit::Replace(space, Some(vector)),
            None => copied.space.map_or(VectorEdit::Drop, |space| VectorEdit::Replace(space, None)),
        })
    }

    /// Takes out the ids of what was forgotten since.
    fn strip_forgotten(&self, memory: &mut Memory, entry: &Entry) {
        let is_gone = |id: &MemoryId| {
            let id = self.head().keys.hash_id(id.as_bytes());
            let row = RowKey { id, key: zeroize::Zeroizing::default(), number: 0, at: 0, len: 0 };
            is_forgotten(&self.transaction.view, entry, &row)
        };
        memory.derived_from.retain(|id| !is_gone(id));
        memory.supersedes.retain(|id| !is_gone(id));
        if let Status::Superseded { by, .. } = &mut memory.status {
            *by = by.filter(|id| !is_gone(id));
        }
    }

    /// What the snapshot does not know goes out of the way, but not away: an undo has to be undone at need.
    fn archive_newer(&mut self, known: &HashSet<[u8; 16]>) -> Result<u64> {
        sabotage!(34, return Ok(0));
        let current = [StatusKind::Active.code(), StatusKind::Candidate.code()];
        let keys = self.head().keys.clone();
        let newer = self.core().with_index(self.user, |_, index| {
            let newer =
                index.arena.iter().filter(|f| current.contains(&f.status) && !known.contains(&keys.hash_id(&f.id)));
            Ok(newer.map(|f| (f.row, f.version)).collect::<Vec<_>>())
        })?;
        let mut newer = newer.unwrap_or_default();
        newer.sort_unstable();
        for (row, version) in &newer {
            let before = self.record(*row)?.filter(|before| before.version == *version);
            let before = before.ok_or_else(|| Error::corrupt(format!("records: row {row} is missing or stale")))?;
            let mut after = before.clone();
            after.status = Status::Archived { since: self.now(), reason: ArchiveReason::Requested };
            self.rewrite(Verb::Restore, *row, &before, after, VectorEdit::Keep)?;
        }
        Ok(newer.len() as u64)
    }
}
