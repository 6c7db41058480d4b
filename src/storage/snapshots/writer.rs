use std::path::PathBuf;

use super::{KEYS, ROWS, Snapshots};
use crate::codec::UserHash;
use crate::codec::bytes::Writer;
use crate::codec::snapshot::{self, ENTRY_BYTES, Entry, Tail};
use crate::error::{Error, Result};
use crate::memory::{SnapshotId, Timestamp};
use crate::seal::Keyring;
use crate::world::{File, OpenMode, file_error, retry_interrupted};

/// Bytes that are gathered before they are written.
const GATHER_BYTES: usize = 1 << 20;
const PAGE_BYTES: u64 = 4096;

/// A snapshot on its way: nothing of it counts before [`finish`](Self::finish). Dropped earlier, its files go.
pub(crate) struct SnapshotWriter<'a> {
    snapshots: &'a Snapshots<'a>,
    id: SnapshotId,
    rows: Gathered,
    keys: Gathered,
    directory: Vec<Entry>,
    memories: u64,
    finished: bool,
}

impl<'a> SnapshotWriter<'a> {
    pub(super) fn new(snapshots: &'a Snapshots<'a>, id: SnapshotId) -> Result<Self> {
        snapshots.ensure_place()?;
        let mut rows = Gathered::new(snapshots, snapshots.temporary(id, ROWS))?;
        let keys = Gathered::new(snapshots, snapshots.temporary(id, KEYS)).inspect_err(|_| {
            let _ = snapshots.remove_if_there(&snapshots.temporary(id, ROWS));
        })?;
        rows.append(&snapshot::head(snapshots.store_id, *id.as_bytes()))?;
        Ok(Self { snapshots, id, rows, keys, directory: Vec::new(), memories: 0, finished: false })
    }

    /// Appends a sealed row; where it lies.
    pub(crate) fn push_row(&mut self, frame: &[u8]) -> Result<u64> {
        self.memories += 1;
        self.rows.append(frame)
    }

    /// Appends the sealed keys of a user whose rows were appended.
    pub(crate) fn push_section(&mut self, user: UserHash, generation: u32, as_of: u64, frame: &[u8]) -> Result<()> {
        let too_large = || Error::unsupported("snapshot: a user with too many memories");
        let room = u32::try_from(frame.len() + 4).map_err(|_| too_large())?;
        let at = self.keys.append(&(frame.len() as u32).to_le_bytes())?;
        self.keys.append(frame)?;
        self.directory.push(Entry { user, generation, as_of, at, room });
        Ok(())
    }

    /// Puts the snapshot in place, durably, and says how many users, memories and bytes it has.
    pub(crate) fn finish(mut self, keyring: &Keyring, created_at: Timestamp) -> Result<(u64, u64, u64)> {
        let copy_b_at = self.copy_keys()?;
        self.directory.sort_by_key(|entry| entry.user);
        let mut directory = Writer::with_capacity(self.directory.len() * ENTRY_BYTES);
        self.directory.iter().for_each(|entry| entry.encode(&mut directory));
        let directory = directory.finish();
        let users = self.directory.len() as u64;
        let tail = Tail {
            store: self.snapshots.store_id,
            snapshot: *self.id.as_bytes(),
            created_at: created_at.as_micros(),
            users,
            memories: self.memories,
            directory_at: self.rows.append(&directory)?,
            copy_b_at,
            directory_hash: blake3::hash(&directory).into(),
        };
        let mut bytes = tail.encode();
        let tag = keyring.snapshot_tag(&bytes);
        bytes.extend_from_slice(&tag);
        self.rows.append(&bytes)?;
        self.rows.sync()?;
        self.keys.sync()?;
        // The keys first: where the rows have their name, the keys have theirs.
        for extension in [KEYS, ROWS] {
            let (from, to) = (self.snapshots.temporary(self.id, extension), self.snapshots.file(self.id, extension));
            let renamed = retry_interrupted(|| self.snapshots.world.fs().rename(&from, &to));
            renamed.map_err(|error| file_error("rename", &from, error))?;
            self.snapshots.sync()?;
        }
        self.finished = true;
        Ok((users, self.memories, self.rows.len() + self.keys.len()))
    }

    /// Writes copy B of all keys behind copy A, from the next page on.
    fn copy_keys(&mut self) -> Result<u64> {
        let len = self.keys.len();
        let gap = len.next_multiple_of(PAGE_BYTES) - len;
        self.keys.append(&vec![0; gap as usize])?;
        self.keys.flush()?;
        let copy_b_at = self.keys.len();
        let mut chunk = vec![0; GATHER_BYTES];
        for at in (0..len).step_by(GATHER_BYTES) {
            let part = &mut chunk[..(len - at).min(GATHER_BYTES as u64) as usize];
            self.keys.read(at, part)?;
            self.keys.append(part)?;
        }
        Ok(copy_b_at)
    }
}

impl Drop for SnapshotWriter<'_> {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        for extension in [KEYS, ROWS] {
            let _ = self.snapshots.remove_if_there(&self.snapshots.temporary(self.id, extension));
        }
        // Had the rows been renamed, the snapshot would be whole, though not known to be durable; keys alone are a stray.
        if !self.snapshots.world.fs().exists(&self.snapshots.file(self.id, ROWS)).unwrap_or(true) {
            let _ = self.snapshots.remove_if_there(&self.snapshots.file(self.id, KEYS));
        }
    }
}

/// A file that is appended to, some bytes at a time.
struct Gathered {
    file: Box<dyn File>,
    path: PathBuf,
    pending: Vec<u8>,
    written: u64,
}

impl Gathered {
    fn new(snapshots: &Snapshots<'_>, path: PathBuf) -> Result<Self> {
        let file = retry_interrupted(|| snapshots.world.fs().open(&path, OpenMode::CreateNewPrivate));
        let file = file.map_err(|error| file_error("create", &path, error))?;
        Ok(Self { file, path, pending: Vec::new(), written: 0 })
    }

    fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Appends; where the bytes begin.
    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.len();
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= GATHER_BYTES {
            self.flush()?;
        }
        Ok(at)
    }

    fn flush(&mut self) -> Result<()> {
        let write = || self.file.write_at(self.written, &self.pending);
        retry_interrupted(write).map_err(|error| file_error("write", &self.path, error))?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let read = retry_interrupted(|| self.file.read_at(at, buffer));
        read.map_err(|error| file_error("read", &self.path, error))
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        retry_interrupted(|| self.file.sync_all()).map_err(|error| file_error("sync", &self.path, error))
    }
}
