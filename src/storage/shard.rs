mod open;
mod rewrite;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, Table};
use crate::error::{Error, Result};
use crate::storage::{ReadView, WriteSet};
use crate::world::{File, OpenMode, World, file_error, is_same_file, retry_interrupted};
pub(super) use open::Open;

const LAST_SEQ: &[u8] = b"last_seq";

/// Whether a commit reaches the disk before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// It does.
    Now,
    /// A later one carries it.
    Later,
}

/// One redb file: the rows of the users whose hash falls on it.
pub(crate) struct Shard {
    number: u32,
    store_id: [u8; 16],
    path: PathBuf,
    world: World,
    open: RwLock<Option<Arc<Open>>>,
}

impl Shard {
    /// Makes an empty shard under a temporary name and renames it when it is whole and durable.
    pub(crate) fn create(world: &World, shards: &Path, store_id: [u8; 16], number: u32) -> Result<()> {
        let (path, temporary) = (path_of(shards, number), shards.join(format!("{number:02}.redb.tmp")));
        let failed = |error| file_error("create", &path, error);
        let file: Arc<dyn File> =
            retry_interrupted(|| world.fs().open(&temporary, OpenMode::CreateNewPrivate)).map_err(failed)?.into();
        let open = Open::new(number, Arc::clone(&file))?;
        open.commit(&WriteSet::default(), &Standing { seq: 0, store_id, number }, Sync::Now)?;
        open.shut()?;
        retry_interrupted(|| file.sync_all()).map_err(failed)?;
        retry_interrupted(|| world.fs().rename(&temporary, &path)).map_err(failed)?;
        retry_interrupted(|| world.fs().sync_dir(shards)).map_err(|error| file_error("sync", shards, error))
    }

    pub(crate) fn open(world: &World, shards: &Path, store_id: [u8; 16], number: u32) -> Result<Self> {
        let shard =
            Self { number, store_id, path: path_of(shards, number), world: world.clone(), open: RwLock::new(None) };
        shard.reopen()?;
        Ok(shard)
    }

    /// Drops the handle and opens the file again, as is needed after any I/O error.
    pub(crate) fn reopen(&self) -> Result<()> {
        let mut open = self.open.write();
        if let Some(old) = open.take() {
            // Also where readers hold it: two handles must never write to one file.
            let _ = old.shut();
        }
        let file = retry_interrupted(|| self.world.fs().open(&self.path, OpenMode::ReadWrite));
        let file: Arc<dyn File> = file.map_err(|error| self.missing(error))?.into();
        if retry_interrupted(|| file.len()).map_err(|error| file_error("read", &self.path, error))? == 0 {
            return Err(Error::corrupt(format!("shard {:02}: the file is empty", self.number)));
        }
        *open = Some(Arc::new(Open::new(self.number, file)?));
        Ok(())
    }

    fn missing(&self, error: std::io::Error) -> Error {
        if error.kind() == std::io::ErrorKind::NotFound {
            return Error::corrupt(format!("shard {:02}: the file is missing", self.number));
        }
        file_error("open", &self.path, error)
    }

    /// The shard as of its last commit.
    pub(crate) fn read(&self) -> Result<ReadView> {
        let open = self.open.read();
        Open::read(open.as_ref().ok_or_else(|| self.closed())?)
    }

    /// Commits `writes` as commit number `seq`, in two phases.
    ///
    /// After an error the commit may have happened or not: [`reopen`](Self::reopen) and compare
    /// [`last_seq`](Self::last_seq).
    pub(crate) fn commit(&self, writes: &WriteSet, seq: u64, sync: Sync) -> Result<()> {
        let open = self.open.read();
        let open = open.as_ref().ok_or_else(|| self.closed())?;
        if !is_same_file(self.world.fs(), &self.path, open.file.as_ref())? {
            return Err(Error::io(format!("shard {:02}: its file was removed or replaced", self.number)));
        }
        let standing = Standing { seq, store_id: self.store_id, number: self.number };
        open.commit(writes, &standing, sync)
    }

    /// The number of the last commit.
    pub(crate) fn last_seq(&self) -> Result<u64> {
        self.seq_in(&self.read()?)
    }

    fn seq_in(&self, view: &ReadView) -> Result<u64> {
        let found = view.get_with(Table::Meta, LAST_SEQ, Standing::decode)?;
        let found = found.ok_or_else(|| Error::corrupt(format!("shard {:02}: last_seq is missing", self.number)))?;
        if (found.store_id, found.number) != (self.store_id, self.number) {
            return Err(Error::corrupt(format!("shard {:02}: the file is that of another shard", self.number)));
        }
        Ok(found.seq)
    }

    /// Closes the file; later calls answer `Closed`.
    pub(crate) fn close(&self) -> Result<()> {
        match self.open.write().take() {
            Some(open) => open.shut(),
            None => Ok(()),
        }
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        let open = self.open.read();
        let open = open.as_ref().ok_or_else(|| self.closed())?;
        retry_interrupted(|| open.file.len()).map_err(|error| file_error("read", &self.path, error))
    }

    fn closed(&self) -> Error {
        Error::closed(format!("shard {:02}: closed, or failed to reopen", self.number))
    }
}

impl Drop for Shard {
    /// Dropping redb's handle commits, which damaged pages can make panic.
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::warn!("closing: {error}");
        }
    }
}

/// What a shard says of itself, in table `meta`: where it stands, and which one it is.
struct Standing {
    seq: u64,
    store_id: [u8; 16],
    number: u32,
}

impl Standing {
    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(FORMAT).u64(self.seq).raw(&self.store_id).u32(self.number);
        let mut bytes = out.finish();
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "last_seq");
        let (format, seq, store_id, number) = (input.u8()?, input.u64()?, input.array()?, input.u32()?);
        let sum = input.u32()?;
        let whole = crc32fast::hash(&bytes[..bytes.len() - 4]) == sum && format == FORMAT;
        if whole { Ok(Self { seq, store_id, number }) } else { Err(input.corrupt()) }
    }
}

fn path_of(shards: &Path, number: u32) -> PathBuf {
    shards.join(format!("{number:02}.redb"))
}
