//! Files in memory that remember every change and what was synced.
//!
//! The log is the truth: a crash image replays a part of it, and keeps of the changes that were not
//! yet synced those that a [`CrashChoice`] names. A file's bytes are durable by a sync of the file, a
//! name by a sync of the directory (for a rename: of both directories), and neither implies the other.

mod crash;
mod disk;
mod fault;
mod file;
mod op;
mod pages;
mod state;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

pub use crash::CrashChoice;
pub use fault::{FaultKind, Repeat};
pub use op::{Data, Entry, NodeId, NodeKind, Op};

use crate::world::{File, FileSystem, Metadata, OpenMode};
use disk::Disk;
use fault::Call;
use file::RecordedFile;
use state::State;

/// A file system in memory for crash and fault tests. Clones share all state.
///
/// Paths are taken without their root: `/a` is `a`. `..` is refused.
#[derive(Debug, Clone)]
pub struct RecordingFs {
    state: Arc<Mutex<State>>,
}

impl Default for RecordingFs {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordingFs {
    /// An empty file system.
    pub fn new() -> Self {
        Self::of(Disk::new())
    }

    fn of(disk: Disk) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(disk))) }
    }

    /// How many changes were made; an index for [`crash_image`](Self::crash_image).
    pub fn op_count(&self) -> usize {
        self.state.lock().log.len()
    }

    /// The changes so far.
    pub fn ops(&self) -> Vec<Op> {
        self.state.lock().log.clone()
    }

    /// What a power cut after the first `op_index` changes would leave, as a file system of its own:
    /// everything in it is durable, its log is empty, nothing is locked, no fault is armed.
    ///
    /// Images taken in the order of the log are cheap.
    pub fn crash_image(&self, op_index: usize, choice: CrashChoice) -> Self {
        let disk = self.state.lock().crash_image(op_index, choice);
        Self::of(disk)
    }

    /// A copy of what the processes see now, as a file system of its own.
    pub fn snapshot(&self) -> Self {
        let disk = self.state.lock().live.clone();
        Self::of(disk)
    }

    /// Lets the `n`-th call from now, from 0, of those that `kind` can hit, fail.
    pub fn fail_at(&self, n: u64, kind: FaultKind, repeat: Repeat) {
        self.state.lock().faults.arm(n, kind, repeat);
    }

    /// How many of the armed faults were met.
    pub fn faults_met(&self) -> usize {
        self.state.lock().faults.met()
    }

    /// Lets no call fail any more, and forgets which were met.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Lets writes fail as on a full disk where the named files would take more than `bytes`.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// Bytes that the named files take, in whole pages of 4 KiB; holes take none.
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().live.used()
    }
}

impl FileSystem for RecordingFs {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state.lock().create(path, NodeKind::Dir).map(|_| ())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let mut missing = Vec::new();
        for dir in path.ancestors() {
            match state.live.find(dir) {
                Ok(node) => {
                    state.live.names(node)?;
                    break;
                }
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => missing.push(dir),
                Err(cause) => return Err(cause),
            }
        }
        missing.iter().rev().try_for_each(|dir| state.create(dir, NodeKind::Dir).map(|_| ()))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match self.metadata(path) {
            Ok(_) => Ok(true),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state.lock();
        state.enter(Call::Look)?;
        let node = state.live.find(dir)?;
        Ok(state.live.names(node)?.keys().cloned().collect())
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.state.lock().metadata(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn File>> {
        let node = self.state.lock().open(path, mode)?;
        Ok(Box::new(RecordedFile::new(&self.state, node, mode != OpenMode::Read)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.lock().rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.state.lock().remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.state.lock().remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.state.lock().sync_dir(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn File>>> {
        let mut state = self.state.lock();
        let node = state.open(path, OpenMode::Create)?;
        if !state.locked.insert(node) {
            return Ok(None);
        }
        Ok(Some(Box::new(RecordedFile::locked(&self.state, node))))
    }
}
