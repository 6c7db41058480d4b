mod examine;
mod health;
mod open;
mod overlay;
mod rebuild;
mod rewrite;
mod standing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::codec::standing::Standing;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::fault::damaged;
use crate::storage::{ReadView, WriteSet};
use crate::world::{File, OpenMode, World, file_error, is_same_file, retry_interrupted};
pub(crate) use examine::Look;
pub(crate) use open::CACHE_BYTES;
pub(super) use open::Open;
pub(crate) use rebuild::Rebuilt;
use standing::{LAST_SEQ, check_users, standing_of};

/// A file up to this size is verified before the first commit of a process; of a larger one the doctor tells.
const CHECKED_BYTES: u64 = 16 << 20;

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
    pages_checked: AtomicBool,
    /// Its pages were found damaged: nothing is asked of it any more.
    condemned: AtomicBool,
    /// The last commit that is known.
    committed: AtomicU64,
}

impl Shard {
    /// Makes an empty shard under a temporary name and renames it when it is whole and durable.
    pub(crate) fn create(world: &World, shards: &Path, store_id: [u8; 16], number: u32) -> Result<()> {
        let (path, temporary) = (path_of(shards, number), shards.join(format!("{number:02}.redb.tmp")));
        let failed = |error| file_error("create", &path, error);
        let file: Arc<dyn File> =
            retry_interrupted(|| world.fs().open(&temporary, OpenMode::CreateNewPrivate)).map_err(failed)?.into();
        let open = Open::new(number, Arc::clone(&file))?;
        open.commit(&WriteSet::default(), &Standing::new(0, store_id, number), Sync::Now)?;
        open.shut()?;
        retry_interrupted(|| file.sync_all()).map_err(failed)?;
        retry_interrupted(|| world.fs().rename(&temporary, &path)).map_err(failed)?;
        retry_interrupted(|| world.fs().sync_dir(shards)).map_err(|error| file_error("sync", shards, error))
    }

    pub(crate) fn open(world: &World, shards: &Path, store_id: [u8; 16], number: u32) -> Result<Self> {
        let shard = Self {
            number,
            store_id,
            path: path_of(shards, number),
            world: world.clone(),
            open: RwLock::new(None),
            pages_checked: AtomicBool::new(false),
            condemned: AtomicBool::new(false),
            committed: AtomicU64::new(0),
        };
        shard.reopen()?;
        Ok(shard)
    }

    /// Drops the handle and opens the file again, as is needed after any I/O error.
    pub(crate) fn reopen(&self) -> Result<()> {
        let mut open = self.open.write();
        if let Some(old) = open.take() {
            // Also where readers hold it: two handles must never write to one file.
            let _ = self.put_away(&old);
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
    ///
    /// # Errors
    ///
    /// `Corrupt` once a call met damaged pages and the file was found damaged; `Io`, `Closed`.
    pub(crate) fn read(&self) -> Result<ReadView> {
        self.check_sound()?;
        let open = self.open.read();
        Open::read(open.as_ref().ok_or_else(|| self.closed())?)
    }

    /// A handle that damaged pages have lamed gives way to another, if the file turns out to be whole after all.
    fn check_sound(&self) -> Result<()> {
        if self.condemned.load(Ordering::Acquire) {
            return Err(damaged(self.number));
        }
        let Some(lamed) = self.open.read().clone().filter(|open| open.is_lamed()) else { return Ok(()) };
        match examine::check(&lamed.file, self.number) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.condemned.store(true, Ordering::Release);
                return Err(damaged(self.number).with_source(error));
            }
            other => other?,
        }
        self.reopen()?;
        let (found, known) = (self.open_seq()?, self.committed.load(Ordering::Acquire));
        if found >= known {
            return Ok(());
        }
        *self.open.write() = None;
        Err(Error::io(format!("shard {:02}: commits after {found} were lost; reopen the store", self.number)))
    }

    fn open_seq(&self) -> Result<u64> {
        let open = self.open.read();
        self.seq_in(&Open::read(open.as_ref().ok_or_else(|| self.closed())?)?)
    }

    /// Commits `writes` as commit number `seq`, in two phases.
    ///
    /// After an error the commit may have happened or not: [`reopen`](Self::reopen) and compare
    /// [`last_seq`](Self::last_seq).
    pub(crate) fn commit(&self, writes: &WriteSet, seq: u64, sync: Sync) -> Result<()> {
        self.check_sound()?;
        let open = self.open.read();
        let open = open.as_ref().ok_or_else(|| self.closed())?;
        if !is_same_file(self.world.fs(), &self.path, open.file.as_ref())? {
            return Err(Error::io(format!("shard {:02}: its file was removed or replaced", self.number)));
        }
        self.check_pages(open)?;
        open.commit(writes, &Standing::new(seq, self.store_id, self.number), sync)?;
        self.committed.store(seq, Ordering::Release);
        Ok(())
    }

    /// Before the first commit of a process: a commit trusts redb's own pages, frees what they say, and may end the
    /// process where they are damaged.
    fn check_pages(&self, open: &Open) -> Result<()> {
        if self.pages_checked.load(Ordering::Acquire) {
            return Ok(());
        }
        let bytes = retry_interrupted(|| open.file.len()).map_err(|error| file_error("read", &self.path, error))?;
        if bytes <= CHECKED_BYTES {
            examine::check(&open.file, self.number)?;
        }
        self.pages_checked.store(true, Ordering::Release);
        Ok(())
    }

    /// The number of the last commit.
    pub(crate) fn last_seq(&self) -> Result<u64> {
        self.seq_in(&self.read()?)
    }

    fn seq_in(&self, view: &ReadView) -> Result<u64> {
        Ok(standing_of(view, self.store_id, self.number)?.seq)
    }

    /// Checks that table `users` has every row that was ever put into it; how many there are.
    pub(crate) fn check_users(&self, view: &ReadView) -> Result<u64> {
        check_users(&standing_of(view, self.store_id, self.number)?, view)
    }

    /// Closes the file; later calls answer `Closed`.
    pub(crate) fn close(&self) -> Result<()> {
        self.open.write().take().map_or(Ok(()), |open| self.put_away(&open))
    }

    /// What was only read stays as it is: redb's last commit into damaged pages may end the process.
    fn put_away(&self, open: &Open) -> Result<()> {
        if self.pages_checked.load(Ordering::Acquire) { open.shut() } else { open.leave() }
    }

    /// After another file has taken its name: nothing is written to this one any more.
    pub(crate) fn abandon(&self) {
        self.pages_checked.store(false, Ordering::Release);
        if let Some(open) = &*self.open.read() {
            open.leave_at_end();
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

fn path_of(shards: &Path, number: u32) -> PathBuf {
    shards.join(format!("{number:02}.redb"))
}
