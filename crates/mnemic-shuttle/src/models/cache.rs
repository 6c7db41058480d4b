//! The user cache: loads, commits that grow an index, evictions, forgettings and a close, in any order: what is held is
//! what is counted, and nobody waits for ever.

use std::sync::Arc;

use shuttle::thread;

use crate::codec::UserHash;
use crate::engine::head::Head;
use crate::engine::user_cell::{CellState, UserCache};
use crate::engine::user_index::{Full, UserIndex};

/// Room for one index, not for two.
const BUDGET: usize = 10;
const USERS: u8 = 3;

pub(crate) fn model() {
    let cache = Arc::new(UserCache::new(BUDGET));
    let mut threads: Vec<_> = (0..USERS).map(|user| spawn(&cache, move |cache| load_and_grow(cache, user))).collect();
    threads.push(spawn(&cache, |cache| forget(cache, UserHash(0))));
    threads.push(spawn(&cache, UserCache::clear));
    threads.into_iter().for_each(|thread| thread.join().expect("a thread"));
    let held = |user| cache.cell(UserHash(user)).state.read().index.as_ref().map_or(0, UserIndex::bytes);
    let (held, counted) = ((0..USERS).map(held).sum::<usize>(), cache.held_bytes());
    assert_eq!(counted, held, "bytes that are counted, and that are held");
}

fn spawn(cache: &Arc<UserCache>, work: impl FnOnce(&UserCache) + Send + 'static) -> thread::JoinHandle<()> {
    let cache = Arc::clone(cache);
    thread::spawn(move || work(&cache))
}

/// As a load, then a commit, do: the cell is held alone while the cache is told.
fn load_and_grow(cache: &UserCache, user: u8) {
    for version in 1..=2 {
        let cell = cache.cell(UserHash(user));
        let mut state = cell.state.write();
        state.head = Some(Arc::new(Head(version)));
        state.index = Some(UserIndex { space: None, version, full: Full(6 + version as usize) });
        let bytes = state.index.as_ref().map_or(0, UserIndex::bytes);
        cache.settle(&cell, bytes);
        assert!(state.index.as_ref().is_some_and(|index| index.version == version), "it was let go of while in use");
        assert!(state.head.as_ref().is_some_and(|head| head.0 == version));
    }
}

fn forget(cache: &UserCache, user: UserHash) {
    let cell = cache.cell(user);
    let mut state = cell.state.write();
    *state = CellState::default();
    cache.settle(&cell, 0);
}
