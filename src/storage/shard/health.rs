//! What a file answered to redb, which says after a first error no more than that there was one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::StorageBackend;

use crate::error::Error;
use crate::storage::fault::{damaged, shard_error};

/// Whether reads went past the end of the file, where only damaged pages lead, and whether the disk itself failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Health(Arc<State>);

#[derive(Debug, Default)]
struct State {
    past_end: AtomicBool,
    disk_failed: AtomicBool,
}

impl Health {
    /// Whether damaged pages, and nothing else, made redb refuse the file.
    pub(super) fn is_lamed(&self) -> bool {
        self.0.past_end.load(Ordering::Acquire) && !self.0.disk_failed.load(Ordering::Acquire)
    }

    /// The error of a call on a shard: redb's word for damage and for a failed disk is the same.
    pub(super) fn error(&self, shard: u32, cause: impl Into<redb::Error>) -> Error {
        match cause.into() {
            cause @ redb::Error::PreviousIo if self.is_lamed() => damaged(shard).with_source(cause),
            cause => shard_error(shard, cause),
        }
    }

    fn disk<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|_| self.0.disk_failed.store(true, Ordering::Release))
    }
}

/// A backend whose errors are told apart.
#[derive(Debug)]
pub(super) struct Watched<B> {
    backend: B,
    health: Health,
}

impl<B> Watched<B> {
    pub(super) fn new(backend: B, health: Health) -> Self {
        Self { backend, health }
    }
}

impl<B: StorageBackend> StorageBackend for Watched<B> {
    fn len(&self) -> io::Result<u64> {
        self.health.disk(self.backend.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let Err(error) = self.backend.read(offset, out) else { return Ok(()) };
        let end = offset.checked_add(out.len() as u64);
        let is_inside = |len: u64| end.is_some_and(|end| end <= len);
        if error.kind() != io::ErrorKind::UnexpectedEof && self.backend.len().map_or(true, is_inside) {
            return self.health.disk(Err(error));
        }
        self.health.0.past_end.store(true, Ordering::Release);
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, error))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.health.disk(self.backend.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.health.disk(self.backend.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.health.disk(self.backend.write(offset, data))
    }
}
