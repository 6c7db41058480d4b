use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use crate::world::{File, retry_interrupted};

/// A shard's file as redb sees it: one that may be recorded, cut or made to fail by a test.
#[derive(Debug)]
pub(crate) struct Backend(pub(crate) Arc<dyn File>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        retry_interrupted(|| self.0.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        retry_interrupted(|| self.0.read_at(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        retry_interrupted(|| self.0.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        sabotage!(1, return Ok(()));
        retry_interrupted(|| self.0.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        retry_interrupted(|| self.0.write_at(offset, data))
    }
}
