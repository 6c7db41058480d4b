//! New keys for what stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::core::Core;
use crate::engine::user_writer::UserWriter;
use crate::error::Result;
use crate::memory::UserId;
use crate::seal::MasterKey;

impl Core {
    /// Another master key from now on.
    pub(crate) fn rotate_master(&self, new: &MasterKey) -> Result<()> {
        self.check_open()?;
        self.keyring.rotate_master(&self.world, self.directory.path(), new)
    }

    /// A new user key; how many snapshots lost the user over it.
    pub(crate) fn rotate_user(&self, user: &UserId) -> Result<u32> {
        let hash = self.user_hash(user);
        let _no_snapshot = self.snapshotting.read();
        self.finish_other(hash)?;
        let lost = Arc::<AtomicU32>::default();
        let counted = Arc::clone(&lost);
        self.write(hash, true, move |transaction| transaction.with_user(hash, |writer| writer.rotate(counted)))?;
        Ok(lost.load(Ordering::Acquire))
    }
}

impl UserWriter<'_, '_> {
    /// As a forgetting does, with nothing to forget.
    fn rotate(&mut self, lost: Arc<AtomicU32>) -> Result<()> {
        let keys = self.all_chunk_keys()?;
        self.move_epoch(lost)?;
        keys.iter().try_for_each(|(chunk, key)| self.put_chunk_key(*chunk, key))
    }
}
