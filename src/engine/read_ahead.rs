//! Reading the blocks of a large user ahead of whoever opens them: what comes from the disk is there by then.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::codec::Table;
use crate::codec::head::BLOCK_ROWS;
use crate::codec::table::numbered;
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::error::{Error, Result};
use crate::storage::{CACHE_BYTES, ReadView};
use crate::world::{self, JoinHandle};

/// From this many blocks on it is worth threads.
const BLOCKS_MIN: u32 = 64;
/// Reads that the disk has to do at a time.
const READERS: u32 = 3;

/// Threads that read; they have ended when this is dropped.
pub(crate) struct ReadAhead {
    opener: Arc<Opener>,
    threads: Vec<JoinHandle>,
}

/// How far the one who opens is, for those who read ahead.
struct Opener {
    state: Mutex<State>,
    moved: Condvar,
    /// As many blocks as half of the shard's cache holds: the others would be gone when they are opened.
    ahead: u64,
}

#[derive(Default)]
struct State {
    at: u64,
    failed: Option<Error>,
}

/// Where an opener is that opens no more.
const ENDED: u64 = u64::MAX;

impl ReadAhead {
    /// Begins with the first block. Without threads every block is read when it is needed.
    pub(crate) fn start(core: &Core, head: &Head) -> Self {
        let page_bytes = (BLOCK_ROWS as usize * core.row_bytes()).next_power_of_two();
        let ahead = (CACHE_BYTES / 2 / page_bytes).max(1) as u64;
        let opener = Arc::new(Opener { state: Mutex::default(), moved: Condvar::new(), ahead });
        let readers = if head.facts.closed_blocks >= BLOCKS_MIN { 0..READERS } else { 0..0 };
        let threads = readers.map_while(|reader| spawn(core, head, reader, &opener).ok()).collect();
        Self { opener, threads }
    }

    /// Tells which block is opened next, and lets the readers go on where all share one core.
    pub(crate) fn advance(&self, block: u64) {
        if !self.threads.is_empty() {
            self.opener.set(block);
            world::yield_now();
        }
    }

    /// Ends the readers.
    ///
    /// # Errors
    ///
    /// What one of them met: after it the shard's handle is of no more use, whoever uses it next.
    pub(crate) fn end(mut self) -> Result<()> {
        self.join();
        self.opener.state.lock().failed.take().map_or(Ok(()), Err)
    }

    fn join(&mut self) {
        self.opener.set(ENDED);
        // A reader that panicked has read less; whoever opens meets what it met.
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.join();
    }
}

impl Opener {
    fn set(&self, block: u64) {
        self.state.lock().at = block;
        self.moved.notify_all();
    }

    /// Waits until `block` may be read; false where nobody opens any more.
    fn wait_for(&self, block: u64) -> bool {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| block > state.at.saturating_add(self.ahead));
        state.at != ENDED
    }
}

/// A reader of every block whose number leaves the remainder `reader`.
fn spawn(core: &Core, head: &Head, reader: u32, opener: &Arc<Opener>) -> Result<JoinHandle> {
    let (view, user, opener): (ReadView, _, _) = (core.read(head.user)?, head.user, Arc::clone(opener));
    let blocks = (reader..head.facts.closed_blocks).step_by(READERS as usize).map(u64::from);
    core.world.spawn("mnemic-read-ahead", move || {
        for block in blocks.take_while(|block| opener.wait_for(*block)) {
            if let Err(error) = view.get_with(Table::Blocks, &numbered(user, block), |_| Ok(())) {
                opener.state.lock().failed.get_or_insert(error);
                break;
            }
        }
    })
}
