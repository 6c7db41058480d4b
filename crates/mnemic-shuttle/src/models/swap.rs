//! An index follows its shard: a reader that meets a commit half-way waits for it, and never answers from both.
//!
//! Commits go through the library's queue and install as `engine::commit` does: `installing` before the cell for a write,
//! the cell before `installing` for a forgetting, both only by who leads.

use std::sync::Arc;

use shuttle::thread;

use crate::codec::UserHash;
use crate::engine::commit_queue::CommitQueue;
use crate::engine::user_cell::UserCache;
use crate::engine::user_index::{Full, UserIndex};
use crate::{Mutex, RwLock};

const WRITERS: u64 = 2;
/// A reader has to begin again once for each commit, at most.
const ATTEMPTS: u64 = WRITERS + 2;

struct Shard {
    queue: CommitQueue<bool>,
    committed: Mutex<u64>,
    installing: RwLock<()>,
    cache: UserCache,
}

pub(crate) fn model() {
    let cache = UserCache::new(100);
    let index = UserIndex { space: None, version: 0, full: Full(1) };
    cache.cell(UserHash(1)).state.write().index = Some(index);
    let shard = Shard { queue: CommitQueue::default(), committed: Mutex::new(0), installing: RwLock::default(), cache };
    let shard = Arc::new(shard);
    let mut threads = Vec::new();
    for writer in 0..WRITERS {
        let shard = Arc::clone(&shard);
        threads.push(thread::spawn(move || write(&shard, writer == 0)));
    }
    for _ in 0..2 {
        let shard = Arc::clone(&shard);
        threads.push(thread::spawn(move || _ = read(&shard, 0)));
    }
    threads.into_iter().for_each(|thread| thread.join().expect("a thread"));
    assert_eq!(read(&shard, WRITERS), WRITERS, "the last commit is seen");
}

fn write(shard: &Shard, forgets: bool) {
    shard.queue.submit(
        forgets,
        |_| true,
        |jobs| {
            let cell = shard.cache.cell(UserHash(1));
            let install = |state: &mut crate::engine::user_cell::CellState, version| {
                if let Some(index) = &mut state.index {
                    index.version = version;
                }
            };
            if jobs == [true] {
                let mut held = cell.state.write();
                let _alone = shard.installing.write();
                let version = commit(shard);
                install(&mut held, version);
            } else {
                let _alone = shard.installing.write();
                let version = commit(shard);
                install(&mut cell.state.write(), version);
            }
        },
    );
}

fn commit(shard: &Shard) -> u64 {
    let mut committed = shard.committed.lock();
    *committed += 1;
    *committed
}

/// The commit that an answer is of, which is not older than `least`.
fn read(shard: &Shard, least: u64) -> u64 {
    for _ in 0..ATTEMPTS {
        let cell = shard.cache.cell(UserHash(1));
        let ranked = cell.state.read().index.as_ref().map(|index| index.version);
        let records = *shard.committed.lock();
        if ranked == Some(records) {
            assert!(records >= least);
            return records;
        }
        drop(shard.installing.read());
    }
    panic!("a reader began again more often than there were commits");
}
