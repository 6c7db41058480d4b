//! Looking at everything that a store holds, and saying what is damaged.

mod files;
mod shard;
mod snapshots;
mod user;

use std::fmt;

use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::error::{Error, ErrorKind, NEWER, Result};
use crate::memory::MemoryId;

pub(crate) use shard::{Patient, ShardReport};
pub(crate) use user::{STALE, chunk_of};

/// What the doctor found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Shards that were looked at.
    pub shards: u32,
    /// Users who live in them.
    pub users: u64,
    /// Sealed values that were opened.
    pub values: u64,
    /// What is damaged, missing or left over, one by one.
    pub damaged: Vec<Damage>,
}

impl Diagnosis {
    /// Whether nothing is damaged.
    pub fn is_clean(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// Something that is damaged, missing or extra.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The shard, where it lies in one.
    pub shard: Option<u32>,
    /// The table of the shard, or the file.
    pub part: &'static str,
    /// Whose it is: the user's id, or the keyed hash of one whose id is not known.
    pub user: Option<String>,
    /// The number of the row, block, pack, chunk or entry.
    pub number: Option<u64>,
    /// The memory, where it is known which one it is.
    pub memory: Option<MemoryId>,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    pub(crate) fn of(part: &'static str, what: impl Into<String>) -> Self {
        Self { shard: None, part, user: None, number: None, memory: None, what: what.into() }
    }

    /// Whether it is whole, and only this version too old to read it: a repair leaves it alone.
    pub fn is_newer(&self) -> bool {
        self.what.ends_with(NEWER)
    }

    pub(crate) fn in_shard(number: u32, part: &'static str, what: impl Into<String>) -> Self {
        Self { shard: Some(number), ..Self::of(part, what) }
    }

    pub(crate) fn in_table(shard: u32, table: Table, user: String, number: Option<u64>, what: &str) -> Self {
        Self { user: Some(user), number, ..Self::in_shard(shard, table.name(), what) }
    }

    pub(crate) fn of_slot(user: UserHash, what: &str) -> Self {
        Self { user: Some(user.to_string()), ..Self::of("KEYRING", what) }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(shard) = self.shard {
            write!(f, "shard {shard:02}, ")?;
        }
        write!(f, "{}", self.part)?;
        if let Some(user) = &self.user {
            write!(f, " of {user}")?;
        }
        if let Some(number) = self.number {
            write!(f, ", number {number}")?;
        }
        if let Some(memory) = self.memory {
            write!(f, ", memory {memory}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl Core {
    /// Looks at every file, page and value.
    pub(crate) fn doctor(&self) -> Result<Diagnosis> {
        self.check_open()?;
        self.flush_for_doctor()?;
        let mut diagnosis = Diagnosis { damaged: self.examine_files()?, ..Diagnosis::default() };
        for number in 0..self.shard_count() {
            let report = self.examine_in_turn(number)?;
            diagnosis.shards += 1;
            diagnosis.users += report.live_users() as u64;
            diagnosis.values += report.values;
            diagnosis.damaged.extend(report.damaged);
        }
        diagnosis.damaged.extend(self.examine_snapshots()?);
        Ok(diagnosis)
    }

    /// What is on the disk is what is looked at.
    pub(crate) fn flush_for_doctor(&self) -> Result<()> {
        match self.flush() {
            Err(error) if error.kind() != ErrorKind::Corrupt => Err(error),
            _ => Ok(()),
        }
    }

    /// The report on a shard, while its writers wait.
    fn examine_in_turn(&self, number: usize) -> Result<ShardReport> {
        let state = self.shard_at(number);
        if state.serving().is_err() {
            return self.examine_shard(number as u32);
        }
        let turn = self.write_on(state, true, move |transaction| transaction.core.examine_shard(number as u32));
        match turn {
            // Where it can't even be read, nobody writes to it.
            Err(error) if error.kind() == ErrorKind::Corrupt => self.examine_shard(number as u32),
            other => other,
        }
    }
}

/// What can be had, unless the disk fails: why it can't is told elsewhere.
pub(crate) fn unless_disk_fails<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::Io => Err(error),
        other => Ok(other.ok()),
    }
}

/// Damage is told, and what is newer than this version; any other error ends the examination.
fn told(error: Error) -> Result<String> {
    match error.kind() {
        ErrorKind::Corrupt | ErrorKind::Unsupported => Ok(error.message().to_owned()),
        _ => Err(error),
    }
}
