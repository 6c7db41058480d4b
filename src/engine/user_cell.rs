//! What is held in memory of a user, and which users are held.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::codec::UserHash;
use crate::engine::head::Head;
use crate::engine::user_index::UserIndex;

/// Most users of whom only the head is held.
const HEADS_MAX: usize = 4096;

/// What is held of one user. Readers share it; a commit of the user takes it alone for a moment.
#[derive(Default)]
pub(crate) struct UserCell {
    pub(crate) state: RwLock<CellState>,
    last_used: AtomicU64,
    bytes: AtomicUsize,
}

/// Empty until first used, and again after eviction.
#[derive(Default)]
pub(crate) struct CellState {
    pub(crate) head: Option<Arc<Head>>,
    pub(crate) index: Option<UserIndex>,
}

impl CellState {
    /// Whether it holds an index of this space.
    pub(crate) fn is_loaded(&self, space: Option<u32>) -> bool {
        self.index.as_ref().is_some_and(|index| index.space == space)
    }
}

/// The users that are held, least recently used out first once they exceed the budget.
pub(crate) struct UserCache {
    cells: Mutex<HashMap<UserHash, Arc<UserCell>>>,
    budget_bytes: usize,
    clock: AtomicU64,
    held_bytes: AtomicUsize,
}

impl UserCache {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self { cells: Mutex::default(), budget_bytes, clock: AtomicU64::new(0), held_bytes: AtomicUsize::new(0) }
    }

    /// The cell of a user, made if need be and marked as used.
    pub(crate) fn cell(&self, user: UserHash) -> Arc<UserCell> {
        let mut cells = self.cells.lock();
        if cells.len() > HEADS_MAX && !cells.contains_key(&user) {
            self.drop_idle(&mut cells);
        }
        let cell = Arc::clone(cells.entry(user).or_default());
        cell.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        cell
    }

    /// The cell of a user who is held, without a mark.
    pub(crate) fn held(&self, user: UserHash) -> Option<Arc<UserCell>> {
        self.cells.lock().get(&user).map(Arc::clone)
    }

    /// Accounts for a cell whose index changed, and evicts others while over the budget.
    pub(crate) fn settle(&self, cell: &UserCell, bytes: usize) {
        let before = cell.bytes.swap(bytes, Ordering::Relaxed);
        let held = self.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.held_bytes.fetch_sub(before, Ordering::Relaxed);
        if held - before > self.budget_bytes {
            self.evict(cell);
        }
    }

    /// Bytes of all indexes that are held.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn budget_bytes(&self) -> usize {
        self.budget_bytes
    }

    /// Drops what is held of every user.
    pub(crate) fn clear(&self) {
        // Whoever holds a cell may want the list to evict others, so the list is not held meanwhile. Cells stay in it:
        // one that a load fills now has to be found again, and let go of.
        let cells: Vec<Arc<UserCell>> = self.cells.lock().values().map(Arc::clone).collect();
        for cell in cells {
            let mut state = cell.state.write();
            *state = CellState::default();
            self.settle(&cell, 0);
        }
    }

    /// Drops indexes, oldest use first, until the rest fits. One that is in use, or the one to keep, stays.
    fn evict(&self, keep: &UserCell) {
        let mut held: Vec<Arc<UserCell>> = {
            let cells = self.cells.lock();
            cells.values().filter(|cell| cell.bytes.load(Ordering::Relaxed) > 0).map(Arc::clone).collect()
        };
        held.sort_by_key(|cell| cell.last_used.load(Ordering::Relaxed));
        let others = || held.iter().filter(|cell| !std::ptr::eq(Arc::as_ptr(cell), keep));
        others().for_each(|cell| self.reduce(cell, |state| _ = state.index.as_mut().map(|index| index.full.shed())));
        others().for_each(|cell| self.reduce(cell, |state| state.index = None));
    }

    /// Lets go of something of a cell that is not in use, while over the budget.
    fn reduce(&self, cell: &UserCell, let_go: impl Fn(&mut CellState)) {
        if self.held_bytes() <= self.budget_bytes {
            return;
        }
        if let Some(mut state) = cell.state.try_write() {
            let_go(&mut state);
            let bytes = state.index.as_ref().map_or(0, UserIndex::bytes);
            let before = cell.bytes.swap(bytes, Ordering::Relaxed);
            self.held_bytes.fetch_add(bytes, Ordering::Relaxed);
            self.held_bytes.fetch_sub(before, Ordering::Relaxed);
        }
    }

    /// Forgets cells that nobody uses and that hold no index.
    fn drop_idle(&self, cells: &mut HashMap<UserHash, Arc<UserCell>>) {
        let recent = self.clock.load(Ordering::Relaxed).saturating_sub(HEADS_MAX as u64 / 2);
        cells.retain(|_, cell| {
            Arc::strong_count(cell) > 1
                || cell.bytes.load(Ordering::Relaxed) > 0
                || cell.last_used.load(Ordering::Relaxed) >= recent
        });
    }
}
