use std::path::PathBuf;

use super::{KEYS, ROWS, Snapshots};
use crate::codec::keyring::Copy;
use crate::codec::snapshot::{self, ENTRY_BYTES, Entry, HEAD_BYTES, RowKey, TAIL_BYTES, Tail};
use crate::codec::{FORMAT, UserHash, unknown_format};
use crate::error::{Error, Result};
use crate::memory::SnapshotId;
use crate::seal::Keyring;
use crate::world::{File, OpenMode, World, file_error, retry_interrupted};

/// A snapshot whose tail is authentic.
pub(crate) struct SnapshotReader {
    pub(crate) id: SnapshotId,
    pub(crate) tail: Tail,
    rows: Part,
    keys: PathBuf,
    world: World,
}

/// The keys of a snapshot, open to be read and overwritten.
pub(crate) struct KeyFile {
    part: Part,
    copy_b_at: u64,
}

impl SnapshotReader {
    pub(super) fn open(snapshots: &Snapshots<'_>, keyring: &Keyring, id: SnapshotId) -> Result<Self> {
        let rows = Part::open(snapshots.world, snapshots.file(id, ROWS), OpenMode::Read);
        let rows = rows?.ok_or_else(|| Error::not_found(format!("snapshot {id}: there is none")))?;
        let at = rows.len.checked_sub(TAIL_BYTES as u64).ok_or_else(|| damaged(id))?;
        let (tail, tag) = Tail::decode(&rows.read(at, TAIL_BYTES)?).map_err(|_| unreadable(&rows, id))?;
        let authentic = crate::seal::same_tag(&tag, &keyring.snapshot_tag(&tail.encode()));
        let spans = tail.users.checked_mul(ENTRY_BYTES as u64).and_then(|bytes| tail.directory_at.checked_add(bytes));
        let whole = spans == Some(at) && tail.directory_at >= HEAD_BYTES as u64;
        if !authentic || !whole || (tail.store, tail.snapshot) != (snapshots.store_id, *id.as_bytes()) {
            return Err(damaged(id));
        }
        Ok(Self { id, tail, rows, keys: snapshots.file(id, KEYS), world: snapshots.world.clone() })
    }

    /// Bytes of both files.
    pub(crate) fn bytes(&self) -> u64 {
        let keys = retry_interrupted(|| self.world.fs().metadata(&self.keys)).map_or(0, |found| found.len);
        self.rows.len + keys
    }

    /// Every user of the snapshot, in the order of hashes.
    pub(crate) fn directory(&self) -> Result<Vec<Entry>> {
        let bytes = self.rows.read(self.tail.directory_at, self.tail.users as usize * ENTRY_BYTES)?;
        if blake3::hash(&bytes) != blake3::Hash::from_bytes(self.tail.directory_hash) {
            return Err(damaged(self.id));
        }
        bytes.as_chunks::<ENTRY_BYTES>().0.iter().map(|entry| Entry::decode(entry)).collect()
    }

    /// The user's entry of this life.
    pub(crate) fn entry(&self, user: UserHash, generation: u32) -> Result<Option<Entry>> {
        let directory = self.directory()?;
        let found = directory.binary_search_by_key(&user, |entry| entry.user).ok().and_then(|at| directory.get(at));
        Ok(found.copied().filter(|entry| entry.generation == generation))
    }

    /// The sealed row that a key opens.
    pub(crate) fn row(&self, row: &RowKey) -> Result<Vec<u8>> {
        let end = row.at.checked_add(u64::from(row.len)).filter(|end| *end <= self.tail.directory_at);
        end.ok_or_else(|| damaged(self.id))?;
        self.rows.read(row.at, row.len as usize)
    }

    /// Where the key of a frame of this snapshot stands in its place.
    pub(crate) fn frame_key(&self, user: UserHash, number: u64) -> [u8; 40] {
        snapshot::frame_key(user, *self.id.as_bytes(), number)
    }

    pub(crate) fn keys(&self) -> Result<KeyFile> {
        let part = Part::open(&self.world, self.keys.clone(), OpenMode::ReadWrite)?;
        let part = part.ok_or_else(|| Error::corrupt(format!("snapshot {}: its keys are missing", self.id)))?;
        Ok(KeyFile { part, copy_b_at: self.tail.copy_b_at })
    }
}

impl KeyFile {
    fn offset(&self, entry: &Entry, copy: Copy) -> u64 {
        entry.at.saturating_add(if copy == Copy::B { self.copy_b_at } else { 0 })
    }

    /// The sealed section in one copy; `None` where its length can't be.
    pub(crate) fn section(&self, entry: &Entry, copy: Copy) -> Result<Option<Vec<u8>>> {
        let at = self.offset(entry, copy);
        if at.saturating_add(u64::from(entry.room)) > self.part.len {
            return Ok(None);
        }
        let len = self.part.read(at, 4)?;
        let len = len.try_into().map_or(u32::MAX, u32::from_le_bytes);
        if len > entry.room.saturating_sub(4) {
            return Ok(None);
        }
        self.part.read(at + 4, len as usize).map(Some)
    }

    /// Overwrites one copy of a section, which never grows, in all of its room: in a file that was cut short, there is
    /// less. Not durable before [`sync`](Self::sync).
    pub(crate) fn overwrite(&self, entry: &Entry, copy: Copy, frame: &[u8]) -> Result<()> {
        if frame.len() as u64 + 4 > u64::from(entry.room) {
            return Err(Error::corrupt("snapshot keys: no room for a section"));
        }
        let mut bytes = (frame.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(frame);
        bytes.resize(entry.room as usize, 0);
        let at = self.offset(entry, copy);
        let written = retry_interrupted(|| self.part.file.write_at(at, &bytes));
        written.map_err(|error| file_error("write", &self.part.path, error))
    }

    pub(crate) fn sync(&self) -> Result<()> {
        retry_interrupted(|| self.part.file.sync()).map_err(|error| file_error("sync", &self.part.path, error))
    }
}

/// An open file and its length.
struct Part {
    file: Box<dyn File>,
    path: PathBuf,
    len: u64,
}

impl Part {
    fn open(world: &World, path: PathBuf, mode: OpenMode) -> Result<Option<Self>> {
        let file = match retry_interrupted(|| world.fs().open(&path, mode)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| file_error("open", &path, error))?,
        };
        let len = retry_interrupted(|| file.len()).map_err(|error| file_error("read", &path, error))?;
        Ok(Some(Self { file, path, len }))
    }

    /// Reads bytes that the file must have: no more room is taken than it is long.
    fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let cut = || Error::corrupt("snapshot: a file is cut short");
        at.checked_add(len as u64).filter(|end| *end <= self.len).ok_or_else(cut)?;
        let mut bytes = vec![0; len];
        match retry_interrupted(|| self.file.read_at(at, &mut bytes)) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(cut().with_source(error)),
            other => other.map(|()| bytes).map_err(|error| file_error("read", &self.path, error)),
        }
    }
}

/// The tail of another format lies elsewhere; what such a file begins with does not.
fn unreadable(rows: &Part, id: SnapshotId) -> Error {
    let format = rows.read(0, HEAD_BYTES).ok().and_then(|head| snapshot::format_of(&head));
    format.filter(|format| *format != FORMAT).map_or_else(|| damaged(id), |format| unknown_format("snapshot", format))
}

fn damaged(id: SnapshotId) -> Error {
    Error::corrupt(format!("snapshot {id}: not as it was written"))
}
