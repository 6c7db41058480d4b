//! A fresh file in place of a damaged one, which is kept as a copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Open, Sync, path_of};
use crate::codec::standing::Standing;
use crate::codec::{Table, UserHash};
use crate::error::Result;
use crate::storage::{ReadView, WriteSet};
use crate::world::{File, OpenMode, World, file_error, retry_interrupted};

/// Bytes that are copied at once.
const COPY_BYTES: u64 = 1 << 20;

/// A shard while it is built anew: nothing of it counts before [`finish`](Self::finish).
pub(crate) struct Rebuilt {
    world: World,
    shards: PathBuf,
    store_id: [u8; 16],
    number: u32,
    temporary: PathBuf,
    file: Arc<dyn File>,
    open: Arc<Open>,
    seq: u64,
}

impl Rebuilt {
    /// An empty shard under a temporary name, whose next commit has a number above `last_seq`.
    pub(crate) fn new(world: &World, shards: &Path, store_id: [u8; 16], number: u32, last_seq: u64) -> Result<Self> {
        let temporary = shards.join(format!("{number:02}.redb.tmp"));
        let failed = |error| file_error("create", &temporary, error);
        let _ = world.fs().remove_file(&temporary);
        let file: Arc<dyn File> =
            retry_interrupted(|| world.fs().open(&temporary, OpenMode::CreateNewPrivate)).map_err(failed)?.into();
        let open = Arc::new(Open::new(number, Arc::clone(&file))?);
        open.commit(&WriteSet::default(), &Standing::new(0, store_id, number), Sync::Now)?;
        let (world, shards) = (world.clone(), shards.to_owned());
        Ok(Self { world, shards, store_id, number, temporary, file, open, seq: last_seq })
    }

    /// The number of the next commit.
    pub(crate) fn next_seq(&self) -> u64 {
        self.seq + 1
    }

    pub(crate) fn view(&self) -> Result<ReadView> {
        Open::read(&self.open)
    }

    pub(crate) fn commit(&mut self, writes: &WriteSet) -> Result<()> {
        self.open.commit(writes, &Standing::new(self.next_seq(), self.store_id, self.number), Sync::Now)?;
        self.seq += 1;
        Ok(())
    }

    /// Copies the values of a user, as they are.
    pub(crate) fn take(&mut self, from: &ReadView, user: UserHash) -> Result<()> {
        let mut writes = WriteSet::default();
        for table in [Table::Users].into_iter().chain(Table::OF_USERS) {
            from.scan_user(table, user, |key, value| {
                writes.put(table, key, value.to_vec());
                Ok(())
            })?;
        }
        self.commit(&writes)
    }

    /// Keeps a copy of the damaged file in `quarantine`, under a name that has the commit's number, and puts the fresh
    /// one in its place; the copy's name.
    pub(crate) fn finish(mut self, quarantine: &Path) -> Result<Option<String>> {
        // Also where nothing is left, the number tells that this is no older copy.
        self.commit(&WriteSet::default())?;
        let failed = |error| file_error("write", &self.temporary, error);
        self.open.shut()?;
        retry_interrupted(|| self.file.sync_all()).map_err(failed)?;
        let path = path_of(&self.shards, self.number);
        let kept = self.keep(&path, quarantine)?;
        retry_interrupted(|| self.world.fs().rename(&self.temporary, &path)).map_err(failed)?;
        let synced = retry_interrupted(|| self.world.fs().sync_dir(&self.shards));
        synced.map_err(|error| file_error("sync", &self.shards, error))?;
        Ok(kept)
    }

    fn keep(&self, path: &Path, quarantine: &Path) -> Result<Option<String>> {
        let fs = self.world.fs();
        let from = match retry_interrupted(|| fs.open(path, OpenMode::Read)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| file_error("open", path, error))?,
        };
        let failed = |error| file_error("write", quarantine, error);
        match retry_interrupted(|| fs.create_dir(quarantine)) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let name = format!("{:02}-{}.redb", self.number, self.seq);
        let to = quarantine.join(&name);
        let _ = fs.remove_file(&to);
        let copy = retry_interrupted(|| fs.open(&to, OpenMode::CreateNewPrivate)).map_err(failed)?;
        let len = retry_interrupted(|| from.len()).map_err(failed)?;
        let mut buffer = vec![0; COPY_BYTES.min(len) as usize];
        for at in (0..len).step_by(COPY_BYTES as usize) {
            let part = (len - at).min(COPY_BYTES) as usize;
            if let Some(part) = buffer.get_mut(..part) {
                retry_interrupted(|| from.read_at(at, part)).map_err(failed)?;
                retry_interrupted(|| copy.write_at(at, part)).map_err(failed)?;
            }
        }
        retry_interrupted(|| copy.sync_all()).map_err(failed)?;
        retry_interrupted(|| fs.sync_dir(quarantine)).map_err(failed)?;
        let store = quarantine.parent().unwrap_or(Path::new("."));
        retry_interrupted(|| fs.sync_dir(store)).map_err(failed)?;
        Ok(Some(name))
    }
}

impl Drop for Rebuilt {
    /// Where it was not finished, nothing stays of it.
    fn drop(&mut self) {
        let _ = self.open.shut();
        let _ = self.world.fs().remove_file(&self.temporary);
    }
}
