//! From staged jobs to durable commits to memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::keyring::{Copy, Slot};
use crate::codec::{Table, UserHash};
use crate::engine::core::{Core, Durability, ShardState};
use crate::engine::job::{AnyJob, Job, answer};
use crate::engine::transaction::{Rekey, Staged, Transaction};
use crate::engine::user_cell::{CellState, UserCell};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Shard, Sync, WriteSet};

impl Core {
    /// Queues work on the shard of `user` and returns its answer after the commit that carried it.
    pub(crate) fn write<R: Send + 'static>(
        &self,
        user: UserHash,
        alone: bool,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        self.check_open()?;
        self.write_on(self.shard_of(user), alone, work)
    }

    pub(crate) fn write_on<R: Send + 'static>(
        &self,
        state: &ShardState,
        alone: bool,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let (job, reply) = Job::new(alone, work);
        state.queue.submit(
            Box::new(job) as Box<dyn AnyJob>,
            |job| job.alone(),
            |mut jobs| {
                let outcome = self.run_batch(state, &mut jobs);
                jobs.into_iter().for_each(|job| job.finish(&outcome));
            },
        );
        answer(&reply)
    }

    fn run_batch(&self, state: &ShardState, jobs: &mut [Box<dyn AnyJob>]) -> Result<()> {
        let shard = state.serving()?;
        let seq = state.last_seq.load(Ordering::Acquire) + 1;
        let mut transaction = Transaction::new(self, shard.read()?, seq);
        for job in jobs {
            job.run(&mut transaction);
        }
        if transaction.rewrite {
            drop(transaction);
            return rewrite(state, shard);
        }
        if transaction.is_empty() {
            return Ok(());
        }
        let writes = transaction.seal_heads()?;
        let Transaction { users, new_slots, rekey, view, must_commit, .. } = transaction;
        drop(view);
        if new_slots {
            self.keyring.sync()?;
        }
        let commit = Commit { core: self, state, shard, seq, writes };
        match rekey {
            None => {
                let _alone = state.installing.write();
                commit.write(if must_commit { Sync::Now } else { self.sync_for(state) })?;
                users.into_iter().for_each(|(user, staged)| self.install(&self.cell(user), user, staged, seq));
                Ok(())
            }
            Some(rekey) => commit.write_rekeyed(&rekey, users),
        }
    }

    /// Writes a shard's file anew. Its writers wait, its readers don't.
    pub(crate) fn rewrite_shard(&self, state: &ShardState) -> Result<()> {
        self.with_reserve(state, || {
            self.write_on(state, true, |transaction| {
                transaction.rewrite = true;
                Ok(())
            })
        })
    }

    fn sync_for(&self, state: &ShardState) -> Sync {
        sabotage!(20, return Sync::Later);
        match self.settings.durability {
            Durability::Durable => Sync::Now,
            Durability::Relaxed { every } => {
                if state.unsynced.load(Ordering::Relaxed) + 1 >= every {
                    Sync::Now
                } else {
                    Sync::Later
                }
            }
        }
    }

    /// Lets memory follow a commit.
    fn install(&self, cell: &Arc<UserCell>, user: UserHash, staged: Staged, seq: u64) {
        let mut state = cell.state.write();
        self.install_in(cell, &mut state, user, staged, seq);
    }

    fn install_in(&self, cell: &UserCell, state: &mut CellState, user: UserHash, staged: Staged, seq: u64) {
        if !staged.dirty {
            return;
        }
        staged.head.chunks.write().extend(staged.new_chunks);
        if let Some(index) = state.index.as_mut().filter(|index| index.version < seq)
            && let Err(error) = index.apply(staged.changes, seq)
        {
            log::warn!("the index of {user} is loaded anew: {error}");
            state.index = None;
        }
        state.head = Some(Arc::new(staged.head));
        let bytes = state.index.as_ref().map_or(0, crate::engine::user_index::UserIndex::bytes);
        self.cache.settle(cell, bytes);
    }

    /// Carries every commit so far to the disk.
    pub(crate) fn flush(&self) -> Result<()> {
        self.check_open()?;
        sabotage!(19, return Ok(()));
        for number in 0..self.shard_count() {
            let state = self.shard_at(number);
            if state.unsynced.load(Ordering::Acquire) == 0 || state.serving().is_err() {
                continue;
            }
            self.write_on(state, true, |transaction| {
                transaction.must_commit = true;
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Where the new file may not last, nothing is written to either.
fn rewrite(state: &ShardState, shard: &Shard) -> Result<()> {
    let done = shard.rewrite();
    match &done {
        Ok(()) => state.unsynced.store(0, Ordering::Release),
        Err(error) if shard.read().is_err() => {
            state.set_broken(Error::io(format!("a rewritten shard may not last ({error}); reopen the store")));
        }
        Err(_) => {}
    }
    done
}

/// One commit on its way to the disk.
struct Commit<'a> {
    core: &'a Core,
    state: &'a ShardState,
    shard: &'a Shard,
    seq: u64,
    writes: WriteSet,
}

impl Commit<'_> {
    /// Commits; an error means that the commit did not happen, or that the shard is out of service.
    fn write(&self, sync: Sync) -> Result<()> {
        match self.shard.commit(&self.writes, self.seq, sync) {
            Ok(()) => self.count(sync),
            Err(error) => self.find_out(error)?,
        }
        self.state.last_seq.store(self.seq, Ordering::Release);
        Ok(())
    }

    fn count(&self, sync: Sync) {
        match sync {
            Sync::Now => self.state.unsynced.store(0, Ordering::Release),
            Sync::Later => _ = self.state.unsynced.fetch_add(1, Ordering::AcqRel),
        }
    }

    /// After a failed commit: opens the file again and looks whether the commit is there.
    fn find_out(&self, error: Error) -> Result<()> {
        let found = self.shard.reopen().and_then(|()| self.shard.last_seq());
        match found {
            Ok(seq) if seq == self.seq => {
                sabotage!(15, return Err(Error::io("not committed: the write failed")));
                Ok(())
            }
            Ok(seq) if seq + 1 == self.seq => {
                Err(Error::new(error.kind(), "not committed: the write failed").with_source(error))
            }
            Ok(seq) => {
                let lost =
                    Error::io(format!("relaxed commits after {seq} were lost in a failed write; reopen the store"));
                self.state.set_broken(lost.duplicate());
                Err(lost.with_source(error))
            }
            Err(unknown) => {
                let kind = if unknown.kind() == ErrorKind::Corrupt { ErrorKind::Corrupt } else { ErrorKind::Io };
                let message = "the outcome of a write is unknown; reopen the store and look";
                self.state.set_broken(Error::new(kind, message));
                Err(Error::new(kind, message).with_source(error))
            }
        }
    }

    /// Commits a forgetting: the keys change around it, and readers of the user wait.
    fn write_rekeyed(&self, rekey: &Rekey, users: std::collections::HashMap<UserHash, Staged>) -> Result<()> {
        let user = rekey.user();
        let cell = self.core.cell(user);
        let mut held = cell.state.write();
        let _alone = self.state.installing.write();
        self.begin(rekey)?;
        if let Err(error) = self.write_with_reserve() {
            // An unknown outcome leaves both keys in place: the epoch in the shard decides at the next open.
            if self.state.serving().is_ok() {
                self.take_back(rekey, &error);
            }
            return match rekey {
                Rekey::Replace { .. } => Err(error),
                // The keys are gone, so the user is; the next open removes the rows.
                Rekey::Erased { .. } => {
                    log::warn!("rows of {user} remain until the next open, without their keys: {error}");
                    *held = CellState::default();
                    self.core.cache.settle(&cell, 0);
                    Ok(())
                }
            };
        }
        match users.into_iter().find(|(staged, _)| *staged == user) {
            Some((_, staged)) if matches!(rekey, Rekey::Replace { .. }) => {
                self.core.install_in(&cell, &mut held, user, staged, self.seq);
            }
            _ => {
                *held = CellState::default();
                self.core.cache.settle(&cell, 0);
            }
        }
        self.complete(rekey)
    }

    /// Before the commit: the intent, and copy A with the new key.
    fn begin(&self, rekey: &Rekey) -> Result<()> {
        let Rekey::Replace { user, slot, new, .. } = rekey else { return Ok(()) };
        let keyring = &self.core.keyring;
        keyring.write_intent(self.core.shard_number(*user) as u32, Some(*user))?;
        keyring.write_slot(*slot, Copy::A, new)?;
        keyring.sync().inspect_err(|error| self.take_back(rekey, error))
    }

    /// A full disk must not stop a forgetting.
    fn write_with_reserve(&self) -> Result<()> {
        let Err(error) = self.write(Sync::Now) else { return Ok(()) };
        if error.kind() != ErrorKind::Io || self.state.serving().is_err() {
            return Err(error);
        }
        sabotage!(16, return Err(error));
        self.core.directory.release_reserve()?;
        let second = self.write(Sync::Now);
        self.core.directory.restore_reserve();
        second
    }

    /// After a commit that did not happen: the old key stays.
    fn take_back(&self, rekey: &Rekey, cause: &Error) {
        let Rekey::Replace { user, slot, old, .. } = rekey else { return };
        let keyring = &self.core.keyring;
        let undone = keyring
            .write_slot(*slot, Copy::A, old)
            .and_then(|()| keyring.write_intent(self.core.shard_number(*user) as u32, None))
            .and_then(|()| keyring.sync());
        if undone.is_err() {
            self.state
                .set_broken(Error::io(format!("KEYRING: a forgetting was cut short ({cause}); reopen the store")));
        }
    }

    /// Between the two copies, while the old key still opens what it has to.
    fn rekey_snapshots(&self, old: &Slot, new: &Slot, lost: &AtomicU32) -> Result<()> {
        lost.store(self.core.rekey_snapshots(&self.shard.read()?, old, new)?, Ordering::Release);
        Ok(())
    }

    /// After the commit: snapshots, copy B, and no intent any more.
    fn complete(&self, rekey: &Rekey) -> Result<()> {
        let keyring = &self.core.keyring;
        let done = match rekey {
            Rekey::Replace { slot, old, new, lost, .. } => self
                .rekey_snapshots(old, new, lost)
                .and_then(|()| keyring.write_slot(*slot, Copy::B, new))
                .and_then(|()| keyring.sync()),
            Rekey::Erased { .. } => Ok(()),
        };
        let shard = self.core.shard_number(rekey.user()) as u32;
        done.and_then(|()| keyring.write_intent(shard, None)).inspect_err(|_| {
            let message = "KEYRING: a forgetting is committed but not complete; reopen the store to complete it";
            self.state.set_broken(Error::io(message));
        })
    }
}

impl Rekey {
    fn user(&self) -> UserHash {
        match self {
            Self::Replace { user, .. } | Self::Erased { user } => *user,
        }
    }
}

impl Core {
    /// Finishes the forgettings that a crash cut short, before anything is served.
    pub(crate) fn finish_intents(&self) -> Result<()> {
        for number in 0..self.shard_count() {
            let Some(user) = self.keyring.read_intent(number as u32)? else { continue };
            if self.shard_at(number).serving().is_err() {
                continue;
            }
            let stays = |error: Error| log::warn!("a forgetting of {user} stays unfinished: {error}");
            match self.head(user) {
                // Damage of one user must not keep the store from serving the others.
                Err(error) if error.is_of_a_value() => stays(error),
                head => {
                    head?;
                    let serves = || self.shard_at(number).serving().is_ok();
                    match self.remove_unfinished(user) {
                        Ok(()) => self.keyring.write_intent(number as u32, None)?,
                        Err(error) if error.is_of_a_value() => stays(error),
                        // Nor must a full disk: the keys are gone, and the rows go at the next open.
                        Err(error) if error.kind() == ErrorKind::Io && serves() => stays(error),
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    /// Before another's intent takes the place of one that is still open: what that one stands for is finished.
    pub(crate) fn finish_other(&self, user: UserHash) -> Result<()> {
        self.check_open()?;
        let open = self.keyring.read_intent(self.shard_number(user) as u32)?;
        let Some(other) = open.filter(|other| *other != user) else { return Ok(()) };
        match self.remove_unfinished(other) {
            Err(error) if error.is_of_a_value() => Ok(()),
            outcome => outcome,
        }
    }

    /// Removes the rows of a user whose keys are gone, on a full disk with the room of the reserve.
    fn remove_unfinished(&self, user: UserHash) -> Result<()> {
        let remove = || self.write(user, true, move |transaction| transaction.remove_unfinished(user));
        self.with_reserve(self.shard_of(user), remove)
    }

    /// What makes room must not fail for the lack of it.
    fn with_reserve(&self, state: &ShardState, call: impl Fn() -> Result<()>) -> Result<()> {
        match call() {
            Err(error) if error.kind() == ErrorKind::Io && state.serving().is_ok() => {
                self.directory.release_reserve()?;
                let second = call();
                self.directory.restore_reserve();
                second
            }
            first => first,
        }
    }
}

impl Transaction<'_> {
    fn remove_unfinished(&mut self, user: UserHash) -> Result<()> {
        use crate::engine::head::{Found, Repair, load};
        let Found::Absent(Some(past)) = load(self.core, &self.view, user, Repair::No)? else { return Ok(()) };
        self.erase_past(user, past)?;
        if past.unfinished {
            // Durable also in a relaxed store: the intent goes next.
            self.must_commit = true;
            self.remove_rows(user)?;
            let erased = crate::codec::head::SlotRef { erased: true, ..past.slot };
            self.job.put(Table::Users, &user.0, erased.encode(&[]));
        }
        Ok(())
    }
}
