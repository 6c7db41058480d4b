//! Reading the blocks of a large user ahead of whoever opens them: what comes from the disk is there by then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::codec::Table;
use crate::codec::head::BLOCK_ROWS;
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::error::{Error, Result};
use crate::storage::ReadView;
use crate::world::JoinHandle;

/// From this many blocks on it is worth a thread.
const BLOCKS_MIN: u64 = 64;

/// A thread that reads; it has ended when this is dropped.
pub(crate) struct ReadAhead {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle>,
}

impl ReadAhead {
    /// Begins with the first block. Without a thread every block is read when it is needed.
    pub(crate) fn start(core: &Core, head: &Head) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_large = head.facts.closed_rows() / u64::from(BLOCK_ROWS) >= BLOCKS_MIN;
        let thread = if is_large { spawn(core, head, &stop).ok() } else { None };
        Self { stop, thread }
    }
}

fn spawn(core: &Core, head: &Head, stop: &Arc<AtomicBool>) -> Result<JoinHandle> {
    let (view, user, stop): (ReadView, _, _) = (core.read(head.user)?, head.user, Arc::clone(stop));
    core.world.spawn("mnemic-read-ahead", move || {
        // Whoever opens the blocks meets the same errors, and tells of them.
        let _ = view.scan_user(Table::Blocks, user, |_, _| {
            if stop.load(Ordering::Relaxed) { Err(Error::busy("nobody reads any more")) } else { Ok(()) }
        });
    })
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}
