//! Copies of all memories to go back to: what was a mistake can be undone, what was forgotten stays forgotten.

mod copy;
mod rekey;
mod restore;

use crate::engine::core::Core;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::limits::SNAPSHOTS_MAX;
use crate::memory::{MemoryId, SnapshotId, Timestamp};
use crate::storage::SnapshotReader;

pub(super) use copy::PackReader;
pub(super) use rekey::{Epoch, is_forgotten};
pub use restore::Restored;

/// A snapshot of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// When it was begun.
    pub created_at: Timestamp,
    /// Users in it.
    pub users: u64,
    /// Memories that were copied. Some may have been forgotten since.
    pub memories: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// What could not be copied because it was damaged, or what is damaged of the snapshot itself, by name.
    pub damaged: Vec<String>,
    /// Memories that were copied without their vector, because it is damaged. Restored, they wait for a new one.
    pub without_vector: Vec<MemoryId>,
}

impl Core {
    /// Copies every memory of every user.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        self.check_open()?;
        // A forgetting must find a snapshot whole, or not begun.
        let _alone = self.snapshotting.write();
        let snapshots = self.directory.snapshots();
        if snapshots.ids()?.len() >= SNAPSHOTS_MAX {
            return Err(Error::unsupported(format!("snapshot: {SNAPSHOTS_MAX} are kept; delete one first")));
        }
        let (id, created_at) = (SnapshotId::from_bytes(self.world.new_id()?), self.now());
        let mut copier = copy::Copier::new(self, id, snapshots.create(id)?);
        // Only what is durable has a number that no other commit will get.
        let as_of: Vec<u64> = (0..self.shard_count()).map(|number| self.shard_at(number).last_seq()).collect();
        self.flush()?;
        for (number, as_of) in as_of.into_iter().enumerate() {
            copier.copy_shard(number, as_of)?;
        }
        let (writer, damaged, without_vector) = copier.done();
        let (users, memories, bytes) = writer.finish(&self.keyring, created_at)?;
        Ok(Snapshot { id, created_at, users, memories, bytes, damaged, without_vector })
    }

    /// Every snapshot, oldest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.check_open()?;
        let snapshots = self.directory.snapshots();
        let mut found = Vec::new();
        for id in snapshots.ids()? {
            match snapshots.open(&self.keyring, id) {
                Ok(reader) => found.push(Snapshot::of(&reader)),
                Err(error) if error.is_of_a_value() => found.push(Snapshot::unreadable(id, &error)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    pub(crate) fn delete_snapshot(&self, id: SnapshotId) -> Result<()> {
        self.check_open()?;
        self.directory.snapshots().remove(id)
    }
}

impl Snapshot {
    fn of(reader: &SnapshotReader) -> Self {
        Self {
            id: reader.id,
            created_at: Timestamp::from_micros(reader.tail.created_at),
            users: reader.tail.users,
            memories: reader.tail.memories,
            bytes: reader.bytes(),
            damaged: Vec::new(),
            without_vector: Vec::new(),
        }
    }

    /// A snapshot that can only be deleted. Its id still tells the time.
    fn unreadable(id: SnapshotId, error: &Error) -> Self {
        let millis = id.as_bytes().iter().take(6).fold(0, |millis, byte| millis << 8 | i64::from(*byte));
        let created_at = Timestamp::from_micros(millis.saturating_mul(1000));
        let damaged = vec![error.message().to_owned()];
        Self { id, created_at, users: 0, memories: 0, bytes: 0, damaged, without_vector: Vec::new() }
    }
}
