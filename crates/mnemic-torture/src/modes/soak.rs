//! Long work on a real disk with a bounded number of live memories: memory, handles and files stay bounded.

use std::path::Path;

use mnemic::memory::{MemoryId, NewMemory};
use mnemic::{Durability, Query, Store};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;

const DIMS: usize = 32;
/// Memories of each user at any time.
const LIVE: u64 = 300;
const USERS: u64 = 3;
/// Rounds before the first measurement.
const WARM_UP: u64 = 40;
/// Growth of the process that is allowed after the warm-up.
const GROWTH_MAX: u64 = 64 << 20;
/// Room that freed pages may take, as a multiple of the size after the warm-up.
const FILE_FACTOR: u64 = 4;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let dir = tempfile::tempdir().say("temporary directory")?;
    let path = dir.path().join("store");
    let relaxed = Durability::Relaxed { every: 100 };
    let open = || Store::builder(&path).shards(2).reserve_bytes(0).durability(relaxed).open();
    let mut store = open().say("open")?;
    let mut next = [0u64; USERS as usize];
    for (user, next) in next.iter_mut().enumerate() {
        remember(&store, user as u64, next, LIVE)?;
    }
    let mut first = None;
    // At least a measurement is made, however short the time is.
    for round in 0.. {
        turn(case, &store, round, &mut next)?;
        if round % 50 == 49 {
            store.close().say("close")?;
            drop(store);
            store = open().say("reopen")?;
        }
        if round >= WARM_UP {
            let now = Measured::take(&path, &store)?;
            let first = *first.get_or_insert(now);
            now.check(first).map_err(|says| format!("round {round}: {says}"))?;
            case.pass();
        }
        if case.is_over() && round > WARM_UP {
            break;
        }
    }
    if case.seconds().is_none() && !case.is_over() {
        return Ok(());
    }
    store.close().say("close")
}

/// Some new memories in place of some old ones, queries, and at times a whole user.
fn turn(case: &mut Case<'_>, store: &Store, round: u64, next: &mut [u64]) -> Check {
    let who = case.below(USERS);
    let user = store.user(&format!("user {who}")).say("user")?;
    if round % 20 == 19 {
        store.forget_user(&format!("user {who}")).say("forget_user")?;
        return remember(store, who, &mut next[who as usize], LIVE);
    }
    let first = next[who as usize] - LIVE;
    for n in 0..3 {
        user.forget(id_of(first + n)).say("forget")?;
    }
    remember(store, who, &mut next[who as usize], 3)?;
    for _ in 0..10 {
        let query = Query::vector((0..DIMS).map(|_| case.below(200) as f32 - 99.5).collect::<Vec<f32>>());
        ensure!(user.recall(query).say("recall")?.len() == 10, "a recall is short");
    }
    Ok(())
}

fn remember(store: &Store, who: u64, next: &mut u64, count: u64) -> Check {
    let numbers = *next..*next + count;
    let all = numbers.map(|n| {
        let vector: Vec<f32> = (0..DIMS as u64).map(|i| ((n * 31 + i * 17) % 101) as f32 - 50.3).collect();
        NewMemory::note(format!("memory {n} of user {who}, of some length")).id(id_of(n)).vector(vector)
    });
    let user = store.user(&format!("user {who}")).say("user")?;
    user.remember_all(all).say("remember_all")?.into_iter().try_for_each(|one| one.map(drop)).say("one")?;
    *next += count;
    Ok(())
}

fn id_of(number: u64) -> MemoryId {
    MemoryId::from_u128(u128::from(number) + 1)
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    resident: u64,
    handles: usize,
    file_bytes: u64,
}

impl Measured {
    fn take(path: &Path, store: &Store) -> Check<Self> {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096;
        let handles = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let file_bytes = store.stats().say("stats")?.shard_bytes.iter().sum();
        ensure!(path.exists(), "the store is gone");
        Ok(Self { resident, handles, file_bytes })
    }

    fn check(self, first: Self) -> Check {
        ensure!(self.resident <= first.resident + GROWTH_MAX, "memory grew: {self:?}, at first {first:?}");
        ensure!(self.handles <= first.handles + 2, "handles leak: {self:?}, at first {first:?}");
        ensure!(self.file_bytes <= FILE_FACTOR * first.file_bytes, "files grew: {self:?}, at first {first:?}");
        Ok(())
    }
}
