//! A new master key: the header is written anew, and nothing else.

use std::path::Path;

use super::Keyring;
use super::header::new_header;
use crate::codec::keyring::Header;
use crate::error::{Error, Result};
use crate::seal::MasterKey;
use crate::seal::master::{drop_new_local, settle_local};
use crate::world::World;

impl Keyring {
    /// Wraps the root key and the store secret under another master key, durably.
    ///
    /// A crash leaves the old key or the new one, and the next open takes the other off the disk.
    pub(crate) fn rotate_master(&self, world: &World, store: &Path, new: &MasterKey) -> Result<()> {
        let mut header = self.header.lock();
        let (kind, key) = new.prepare(world, store)?;
        let next = new_header(world, self.suite, header.store_id, kind, &key, (&self.root, &self.secret))?;
        let next = Header { clean: header.clean.clone(), ..next };
        if let Err(error) = self.write_pages(&next) {
            return Err(match self.write_pages(&header).and_then(|()| drop_new_local(world, store)) {
                Ok(()) => Error::new(error.kind(), "master key: not changed, the write failed").with_source(error),
                Err(_) => Error::io("master key: the old or the new one opens the store; reopen it and look")
                    .with_source(error),
            });
        }
        *header = next;
        settle_local(world, store, &header.master).map_err(|error| {
            Error::new(error.kind(), "master key: changed; the next open takes the old key file away")
                .with_source(error)
        })
    }
}
