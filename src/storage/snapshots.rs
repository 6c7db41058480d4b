//! The files of snapshots: made once, under temporary names, but for the keys, which are overwritten in place.

mod reader;
mod writer;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::memory::SnapshotId;
use crate::seal::Keyring;
use crate::world::{World, file_error, retry_interrupted};

pub(crate) use reader::{KeyFile, SnapshotReader};
pub(crate) use writer::SnapshotWriter;

const ROWS: &str = "rows";
const KEYS: &str = "keys";
const TEMPORARY: &str = "tmp";

/// The directory `snapshots` of a store.
pub(crate) struct Snapshots<'a> {
    world: &'a World,
    path: PathBuf,
    store_id: [u8; 16],
}

impl<'a> Snapshots<'a> {
    pub(crate) fn new(world: &'a World, path: PathBuf, store_id: [u8; 16]) -> Self {
        Self { world, path, store_id }
    }

    /// Every snapshot, oldest first: a file of rows makes one.
    pub(crate) fn ids(&self) -> Result<Vec<SnapshotId>> {
        let names = self.names()?;
        let rows = names.iter().filter_map(|name| name.strip_suffix(".rows"));
        let mut ids: Vec<SnapshotId> = rows.filter_map(|stem| stem.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn names(&self) -> Result<Vec<String>> {
        match retry_interrupted(|| self.world.fs().list(&self.path)) {
            Ok(names) => Ok(names),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(file_error("read", &self.path, error)),
        }
    }

    /// Begins a snapshot under temporary names.
    pub(crate) fn create(&self, id: SnapshotId) -> Result<SnapshotWriter<'_>> {
        SnapshotWriter::new(self, id)
    }

    /// Opens a snapshot, checked against the store's secret.
    ///
    /// # Errors
    ///
    /// `NotFound`: there is none of this id. `Corrupt`: it is not as it was written.
    pub(crate) fn open(&self, keyring: &Keyring, id: SnapshotId) -> Result<SnapshotReader> {
        SnapshotReader::open(self, keyring, id)
    }

    /// Removes a snapshot: the rows first, without which there is none.
    pub(crate) fn remove(&self, id: SnapshotId) -> Result<()> {
        let rows = self.file(id, ROWS);
        match retry_interrupted(|| self.world.fs().remove_file(&rows)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::not_found(format!("snapshot {id}: there is none")));
            }
            other => other.map_err(|error| file_error("remove", &rows, error))?,
        }
        self.sync()?;
        self.remove_if_there(&self.file(id, KEYS))?;
        self.sync()
    }

    /// Removes temporaries, and keys without rows; how many there were. No snapshot may be under way.
    pub(crate) fn remove_strays(&self) -> Result<u32> {
        let names = self.names()?;
        let is_stray = |name: &&String| match name.rsplit_once('.') {
            Some((_, TEMPORARY)) => true,
            Some((stem, KEYS)) => !names.contains(&format!("{stem}.{ROWS}")),
            _ => false,
        };
        let strays: Vec<&String> = names.iter().filter(is_stray).collect();
        strays.iter().try_for_each(|name| self.remove_if_there(&self.path.join(name)))?;
        if !strays.is_empty() {
            self.sync()?;
        }
        Ok(strays.len() as u32)
    }

    fn remove_if_there(&self, path: &Path) -> Result<()> {
        match retry_interrupted(|| self.world.fs().remove_file(path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(file_error("remove", path, error)),
            _ => Ok(()),
        }
    }

    fn file(&self, id: SnapshotId, extension: &str) -> PathBuf {
        self.path.join(format!("{id}.{extension}"))
    }

    fn temporary(&self, id: SnapshotId, extension: &str) -> PathBuf {
        self.path.join(format!("{id}.{extension}.{TEMPORARY}"))
    }

    /// Makes the directory where a copy of the store came without it, as an empty one may.
    fn ensure_place(&self) -> Result<()> {
        let failed = |error| file_error("create", &self.path, error);
        if retry_interrupted(|| self.world.fs().exists(&self.path)).map_err(failed)? {
            return Ok(());
        }
        retry_interrupted(|| self.world.fs().create_dir(&self.path)).map_err(failed)?;
        let parent = self.path.parent().unwrap_or(&self.path);
        retry_interrupted(|| self.world.fs().sync_dir(parent)).map_err(|error| file_error("sync", parent, error))
    }

    fn sync(&self) -> Result<()> {
        retry_interrupted(|| self.world.fs().sync_dir(&self.path)).map_err(|e| file_error("sync", &self.path, e))
    }
}
