//! Upkeep within a budget of time: what it does not get to, the next one begins with.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::codec::{Table, UserHash};
use crate::engine::core::{Core, ShardState};
use crate::error::{Error, ErrorKind, Result};
use crate::policy::upkeep;
use crate::storage::Shard;

/// Users between two looks at the clock.
const USERS_AT_ONCE: usize = 64;

/// What an upkeep did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Maintenance {
    /// Shards that were rewritten because less than two fifths of their file were in use.
    pub shards_rewritten: u32,
    /// Bytes that this gave back to the file system.
    pub bytes_freed: u64,
    /// Entries of logs that were older than 30 days.
    pub log_entries_trimmed: u64,
    /// Files of unfinished snapshots and rewrites that were removed.
    pub strays_removed: u32,
    /// Memories whose words were analysed anew, because the analyser has changed.
    pub memories_reindexed: u64,
    /// What was passed over because it is damaged, or written by a newer version, by name.
    pub damaged: Vec<String>,
    /// Whether all was done; otherwise the next upkeep goes on from here.
    pub finished: bool,
}

/// How far the upkeep of an open store has come.
#[derive(Default)]
pub(crate) struct Upkeep {
    shard: usize,
    /// The last user of that shard whose log was looked at.
    user: Option<UserHash>,
    /// The commit at which each shard was last found in order.
    measured: Vec<Option<u64>>,
}

impl Core {
    /// Trims logs, rewrites shards, removes strays and sets the reserve aside, until the budget is spent.
    pub(crate) fn maintain(&self, budget: Duration) -> Result<Maintenance> {
        self.check_open()?;
        let Some(mut upkeep) = self.upkeep.try_lock() else {
            return Err(Error::busy("maintain: another one is under way"));
        };
        let budget = u64::try_from(budget.as_micros()).unwrap_or(u64::MAX);
        let deadline = self.world.monotonic_micros().saturating_add(budget);
        let mut done = Maintenance::default();
        // A snapshot under way has temporaries of its own.
        if let Some(_alone) = self.snapshotting.try_write() {
            done.strays_removed = self.directory.remove_strays()?;
        }
        self.directory.restore_reserve();
        upkeep.measured.resize(self.shard_count(), None);
        while upkeep.shard < self.shard_count() {
            if self.world.monotonic_micros() >= deadline {
                return Ok(done);
            }
            if let Err(error) = self.maintain_shard(&mut upkeep, &mut done) {
                // Whatever is wrong with one shard, the others get their turn.
                (upkeep.shard, upkeep.user) = (upkeep.shard + 1, None);
                done.note(error)?;
            }
        }
        *upkeep = Upkeep { measured: std::mem::take(&mut upkeep.measured), ..Upkeep::default() };
        done.finished = true;
        Ok(done)
    }

    /// A step in one shard: the logs of some users, or, when those are done, the file.
    fn maintain_shard(&self, upkeep: &mut Upkeep, done: &mut Maintenance) -> Result<()> {
        let state = self.shard_at(upkeep.shard);
        let shard = state.serving()?;
        let users = users_after(shard, upkeep.user)?;
        if users.is_empty() {
            self.rewrite_if_free(state, shard, upkeep, done)?;
            (upkeep.shard, upkeep.user) = (upkeep.shard + 1, None);
            return Ok(());
        }
        let begins = upkeep::log_begins(self.now());
        for user in users {
            upkeep.user = Some(user);
            let kept = self.keep_measured(user).and_then(|()| self.trim_log(user, begins));
            match kept.and_then(|trimmed| Ok((trimmed, self.reindex(user)?))) {
                Ok((trimmed, reindexed)) => {
                    done.log_entries_trimmed += trimmed;
                    done.memories_reindexed += reindexed;
                }
                // Forgotten meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => done.note(error)?,
            }
        }
        Ok(())
    }

    fn rewrite_if_free(
        &self,
        state: &ShardState,
        shard: &Shard,
        upkeep: &mut Upkeep,
        done: &mut Maintenance,
    ) -> Result<()> {
        let before = shard.file_bytes()?;
        let measured = upkeep.measured.get_mut(upkeep.shard);
        let is_known = measured.as_ref().is_some_and(|seq| **seq == Some(state.last_seq()));
        if is_known || before < self.settings.rewrite_min_bytes {
            return Ok(());
        }
        if upkeep::is_mostly_free(shard.read()?.used_bytes()?, before, self.settings.rewrite_min_bytes) {
            self.rewrite_shard(state)?;
            done.shards_rewritten += 1;
            done.bytes_freed += before.saturating_sub(shard.file_bytes()?);
        }
        if let Some(measured) = measured {
            *measured = Some(state.last_seq());
        }
        Ok(())
    }
}

impl Maintenance {
    /// Damage, and what only a newer version can read, is named and passed over.
    fn note(&mut self, error: Error) -> Result<()> {
        if !error.is_of_a_value() {
            return Err(error);
        }
        self.damaged.push(error.message().to_owned());
        Ok(())
    }
}

/// Some users of a shard after the given one.
fn users_after(shard: &Shard, after: Option<UserHash>) -> Result<Vec<UserHash>> {
    let mut users = Vec::new();
    let start = after.map_or(Vec::new(), |user| user.0.to_vec());
    shard.read()?.scan_from(Table::Users, &start, |key, _| {
        let user = UserHash(key.try_into().map_err(|_| Error::corrupt("users: malformed key"))?);
        if Some(user) != after {
            users.push(user);
        }
        Ok(if users.len() < USERS_AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(users)
}
