//! An open file of a [`RecordingFs`](super::RecordingFs).

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::fault::Call;
use super::op::NodeId;
use super::state::{State, file_id};
use crate::world::{File, FileId};

pub(super) struct RecordedFile {
    state: Arc<Mutex<State>>,
    node: NodeId,
    writable: bool,
    holds_lock: bool,
}

impl RecordedFile {
    pub(super) fn new(state: &Arc<Mutex<State>>, node: NodeId, writable: bool) -> Self {
        Self { state: Arc::clone(state), node, writable, holds_lock: false }
    }

    pub(super) fn locked(state: &Arc<Mutex<State>>, node: NodeId) -> Self {
        Self { state: Arc::clone(state), node, writable: true, holds_lock: true }
    }

    fn need_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

impl File for RecordedFile {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.state.lock();
        state.enter(Call::Look)?;
        Ok(state.live.bytes(self.node)?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.need_writable()?;
        self.state.lock().set_len(self.node, len)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        state.enter(Call::Read)?;
        let whole = state.live.bytes(self.node)?.read(offset, buffer);
        if whole { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.need_writable()?;
        self.state.lock().write(self.node, offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.state.lock().sync(self.node)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    fn id(&self) -> io::Result<FileId> {
        self.state.lock().enter(Call::Look)?;
        Ok(file_id(self.node))
    }
}

impl fmt::Debug for RecordedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedFile")
            .field("node", &self.node)
            .field("writable", &self.writable)
            .finish_non_exhaustive()
    }
}

impl Drop for RecordedFile {
    fn drop(&mut self) {
        if self.holds_lock {
            self.state.lock().locked.remove(&self.node);
        }
    }
}
