//! The writes of one commit while they are staged: jobs see those before them, and a failed job leaves none.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::codec::head::{SlotRef, UserFacts};
use crate::codec::keyring::{Copy, Slot};
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::engine::head::{self, ChunkKey, Found, Head, Past, Repair};
use crate::engine::user_index::IndexChange;
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, Result};
use crate::memory::{Timestamp, UserId};
use crate::seal::{Nonces, SlotOwner, UserKeys};
use crate::storage::{self, ReadView, WriteSet};

/// A transaction on one shard.
pub(crate) struct Transaction<'a> {
    pub(crate) core: &'a Core,
    pub(crate) view: ReadView,
    /// The number of this commit, and the version of every value in it.
    pub(crate) seq: u64,
    pub(crate) now: Timestamp,
    pub(crate) nonces: Nonces<'a>,
    /// Of the jobs that are done.
    writes: WriteSet,
    /// Of the job that runs.
    pub(crate) job: WriteSet,
    pub(crate) users: HashMap<UserHash, Staged>,
    /// Slots of new users were written and must be durable before the commit.
    pub(crate) new_slots: bool,
    /// What a forgetting does to the keyring, around the commit.
    pub(crate) rekey: Option<Rekey>,
    /// Commit even though nothing is written: what came before has to reach the disk.
    pub(crate) must_commit: bool,
    /// Instead of a commit, the shard's file is written anew.
    pub(crate) rewrite: bool,
}

/// A user as the transaction has changed it.
pub(crate) struct Staged {
    pub(crate) head: Head,
    pub(crate) new_chunks: Vec<(u64, ChunkKey)>,
    pub(crate) changes: Vec<IndexChange>,
    /// Row and version of memories that were changed, `None` for those that are gone.
    pub(crate) ids: HashMap<[u8; 16], Option<(u32, u32)>>,
    pub(crate) dirty: bool,
}

/// A change of a user's keys. Copy A goes before the commit, copy B after it.
pub(crate) enum Rekey {
    /// A new user key.
    Replace {
        /// Whose.
        user: UserHash,
        /// The slot's number.
        slot: u32,
        /// The slot with the old key, for the way back.
        old: Box<Slot>,
        /// The slot with the new key.
        new: Box<Slot>,
        /// Counts the snapshots that lose the user.
        lost: Arc<AtomicU32>,
    },
    /// No key any more: both copies were overwritten before, and the user is gone whatever the commit does.
    Erased {
        /// Whose.
        user: UserHash,
    },
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(core: &'a Core, view: ReadView, seq: u64) -> Self {
        Self {
            core,
            view,
            seq,
            now: core.now(),
            nonces: Nonces::new(&core.world),
            writes: WriteSet::default(),
            job: WriteSet::default(),
            users: HashMap::new(),
            new_slots: false,
            rekey: None,
            must_commit: false,
            rewrite: false,
        }
    }

    /// Runs a job; when it fails, what it staged is dropped.
    pub(crate) fn attempt<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.job = WriteSet::default();
        let result = work(self);
        let job = std::mem::take(&mut self.job);
        if result.is_ok() {
            self.writes.absorb(job);
        }
        result
    }

    /// Runs the part of a job that concerns one user, who must exist.
    pub(crate) fn with_user<R>(
        &mut self,
        user: UserHash,
        work: impl FnOnce(&mut UserWriter<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let staged = self.take_staged(user)?.ok_or_else(|| Error::not_found("user: nothing is stored"))?;
        self.guarded(user, staged, false, work)
    }

    /// The same, for a user who is made if need be.
    pub(crate) fn with_new_user<R>(
        &mut self,
        user: UserHash,
        id: &UserId,
        work: impl FnOnce(&mut UserWriter<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let (staged, is_new) = match self.take_staged(user)? {
            // After a repair that did not find the id.
            Some(mut staged) if staged.head.facts.user_id != *id => {
                staged.head.facts.user_id = id.clone();
                staged.dirty = true;
                (staged, false)
            }
            Some(staged) => (staged, false),
            None => (self.create_user(user, id)?, true),
        };
        self.guarded(user, staged, is_new, work)
    }

    /// Hands the staged user to `work`, and undoes what it changed when it fails. A user who was made for it is not.
    pub(crate) fn guarded<R>(
        &mut self,
        user: UserHash,
        staged: Staged,
        is_new: bool,
        work: impl FnOnce(&mut UserWriter<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let saved = Savepoint::of(&staged);
        let first_change = staged.changes.len();
        let mut writer = UserWriter { transaction: self, user, staged, first_change };
        let result = work(&mut writer).and_then(|answer| writer.settle().map(|()| answer));
        let mut staged = writer.staged;
        if result.is_err() {
            if is_new {
                return result;
            }
            saved.restore(&mut staged);
        }
        self.users.insert(user, staged);
        result
    }

    /// The user as staged before, or as committed; `None` where there is none.
    fn take_staged(&mut self, user: UserHash) -> Result<Option<Staged>> {
        if let Some(staged) = self.users.remove(&user) {
            return Ok(Some(staged));
        }
        let head = self.core.head(user)?;
        Ok(head.map(|head| Staged::new(Head::clone(&head))))
    }

    /// Gives a user a slot and keys; a returning one gets the next generation in the old slot.
    fn create_user(&mut self, user: UserHash, id: &UserId) -> Result<Staged> {
        let core = self.core;
        let past = match head::load(core, &self.view, user, Repair::No)? {
            Found::Absent(past) => past,
            Found::Live(_) => return Err(Error::corrupt(format!("users: {user} came back to life"))),
        };
        if let Some(past) = past {
            self.erase_past(user, past)?;
            self.remove_rows(user)?;
        }
        let (slot, generation) = match past {
            Some(past) => (past.slot.slot, past.slot.generation.saturating_add(1)),
            None => (core.keyring.take_slot()?, 1),
        };
        let keys = UserKeys::random(&core.world)?;
        let value = core.keyring.live_slot(&core.world, SlotOwner { user, generation, epoch: 0 }, &keys)?;
        core.keyring.write_slot(slot, Copy::A, &value)?;
        if past.is_some() {
            core.keyring.sync()?;
        }
        core.keyring.write_slot(slot, Copy::B, &value)?;
        self.new_slots = true;
        let facts = UserFacts { analyser: crate::text::ANALYSER, ..UserFacts::new(id.clone()) };
        let mut staged = Staged::new(Head::new(SlotOwner { user, generation, epoch: 0 }, slot, keys, facts));
        staged.dirty = true;
        Ok(staged)
    }

    /// Both copies of the slot of a life that is over, whatever a crash left of it, hold no key any more.
    pub(crate) fn erase_past(&self, user: UserHash, past: Past) -> Result<()> {
        let at = SlotOwner { user, generation: past.slot.generation, epoch: past.slot.epoch };
        self.core.keyring.erase(past.slot.slot, at, self.now)
    }

    /// Removes every value of a user but the row of table `users`.
    pub(crate) fn remove_rows(&mut self, user: UserHash) -> Result<()> {
        let (view, job) = (&self.view, &mut self.job);
        for table in Table::OF_USERS {
            view.scan_user(table, user, |key, _| {
                job.remove(table, key);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The value at `key`, as this transaction would leave it.
    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        for set in [&self.job, &self.writes] {
            match set.get(table, key) {
                storage::Staged::Untouched => {}
                storage::Staged::Removed => return Ok(None),
                storage::Staged::Put(value) => return Ok(Some(value.to_vec())),
            }
        }
        self.view.get(table, key)
    }

    /// The values of a user in `table`, as this transaction would leave them, in order.
    pub(crate) fn scan_user(&self, table: Table, user: UserHash) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut found = std::collections::BTreeMap::new();
        self.view.scan_user(table, user, |key, value| {
            found.insert(key.to_vec(), value.to_vec());
            Ok(())
        })?;
        for set in [&self.writes, &self.job] {
            for (key, value) in set.of_prefix(table, &user.0) {
                match value {
                    Some(value) => _ = found.insert(key.to_vec(), value.to_vec()),
                    None => _ = found.remove(key),
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Seals the rows of table `users` and hands over all writes.
    pub(crate) fn seal_heads(&mut self) -> Result<WriteSet> {
        for (user, staged) in self.users.iter_mut().filter(|(_, staged)| staged.dirty) {
            let head = &mut staged.head;
            head.version = self.seq;
            if let Some(measured) = self.core.measured(*user) {
                head.facts.measured = Some(measured);
            }
            let place = head::head_place(*user, &head.slot);
            let plain = head.facts.encode();
            let sealed = self.core.sealer.seal(&head.keys.user, &place, self.seq, self.nonces.next()?, &plain)?;
            self.writes.put(Table::Users, &user.0, head.slot.encode(&sealed));
        }
        Ok(std::mem::take(&mut self.writes))
    }

    /// Whether a commit has anything to write.
    pub(crate) fn is_empty(&self) -> bool {
        !self.must_commit && self.writes.is_empty() && !self.users.values().any(|staged| staged.dirty)
    }
}

impl Staged {
    pub(crate) fn new(head: Head) -> Self {
        Self { head, new_chunks: Vec::new(), changes: Vec::new(), ids: HashMap::new(), dirty: false }
    }
}

impl Staged {
    /// Notes a change that the index has to follow.
    pub(crate) fn note(&mut self, change: IndexChange) {
        match &change {
            IndexChange::Insert { facts, .. } | IndexChange::Change { facts, .. } => {
                self.ids.insert(facts.id, Some((facts.row, facts.version)));
            }
            IndexChange::Remove { id, .. } => _ = self.ids.insert(*id, None),
            IndexChange::SetVector { .. } | IndexChange::SetTerms { .. } | IndexChange::Block { .. } => {}
        }
        self.changes.push(change);
    }
}

/// A staged user before a job.
struct Savepoint {
    head: Head,
    new_chunks: usize,
    changes: usize,
    dirty: bool,
}

impl Savepoint {
    fn of(staged: &Staged) -> Self {
        Self {
            head: staged.head.clone(),
            new_chunks: staged.new_chunks.len(),
            changes: staged.changes.len(),
            dirty: staged.dirty,
        }
    }

    fn restore(self, staged: &mut Staged) {
        staged.head = self.head;
        staged.new_chunks.truncate(self.new_chunks);
        staged.changes.truncate(self.changes);
        staged.dirty = self.dirty;
        let changes = std::mem::take(&mut staged.changes);
        staged.ids.clear();
        changes.into_iter().for_each(|change| staged.note(change));
    }
}

impl Head {
    pub(crate) fn new(owner: SlotOwner, slot: u32, keys: UserKeys, facts: UserFacts) -> Self {
        let SlotOwner { user, generation, epoch } = owner;
        let slot = SlotRef { slot, generation, epoch, erased: false };
        let log_checked = Arc::new(true.into());
        Self { user, slot, keys, facts, version: 0, chunks: Arc::default(), log_checked }
    }

    /// The same user with the same keys, before anything was stored.
    pub(crate) fn as_empty(&self) -> Self {
        let facts = UserFacts {
            paused: self.facts.paused,
            analyser: crate::text::ANALYSER,
            ..UserFacts::new(self.facts.user_id.clone())
        };
        let SlotRef { generation, epoch, slot, .. } = self.slot;
        Self::new(SlotOwner { user: self.user, generation, epoch }, slot, self.keys.clone(), facts)
    }
}
