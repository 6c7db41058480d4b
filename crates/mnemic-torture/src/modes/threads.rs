//! Real threads on a real disk: every view is a window of what was acknowledged, and never an older one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mnemic::memory::{MemoryId, NewMemory};
use mnemic::{Durability, ErrorKind, Hit, ListOptions, Query, Store};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;

const DIMS: usize = 16;
const USERS: usize = 3;
/// Writes of each user.
const WRITES: u64 = 700;
/// Memories that a user keeps at most.
const WINDOW: u64 = 40;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let dir = tempfile::tempdir().say("temporary directory")?;
    let path = dir.path().join("store");
    let every = if case.below(3) == 0 { Durability::Durable } else { Durability::Relaxed { every: 50 } };
    let shards = 1 + case.below(3) as u32;
    let cache = if case.below(2) == 0 { 0 } else { 64 << 20 };
    let builder = || {
        let builder = Store::builder(&path).shards(shards).reserve_bytes(0).rewrite_min_bytes(0);
        builder.durability(every).cache_bytes(cache)
    };
    let store = builder().open().say("open")?;
    let users: Vec<Window> =
        (0..USERS).map(|user| Window { name: format!("user {user}"), ..Window::default() }).collect();
    let (stop, failed) = (AtomicBool::new(false), Mutex::new(None));
    let note = |outcome: Check| {
        if let (Err(says), Ok(mut failed)) = (outcome, failed.lock()) {
            failed.get_or_insert(says);
            stop.store(true, Ordering::Relaxed);
        }
    };
    let (case, store_ref, note, stop) = (&*case, &store, &note, &stop);
    std::thread::scope(|scope| {
        for user in &users {
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && !case.is_over() {
                    note(user.read(store_ref).map(|()| case.pass_many(2)));
                }
            });
        }
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) && !case.is_over() {
                note(come_and_go(store_ref).map(|()| case.pass()));
            }
        });
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) && !case.is_over() {
                note(tidy(store_ref).map(|()| case.pass()));
            }
        });
        let writers: Vec<_> =
            users.iter().map(|user| scope.spawn(move || note(user.write(case, store_ref, stop)))).collect();
        writers.into_iter().for_each(|writer| _ = writer.join());
        stop.store(true, Ordering::Relaxed);
    });
    if let Some(says) = failed.lock().ok().and_then(|mut failed| failed.take()) {
        return Err(says);
    }
    store.close().say("close")?;
    drop(store);
    let store = builder().open().say("reopen")?;
    users.iter().try_for_each(|user| user.read_exactly(&store).map_err(|says| format!("after reopening: {says}")))
}

/// What one user should have: the numbers `[from, to)`.
#[derive(Default)]
struct Window {
    name: String,
    from: AtomicU64,
    to: AtomicU64,
}

impl Window {
    fn write(&self, case: &Case<'_>, store: &Store, stop: &AtomicBool) -> Check {
        let user = store.user(&self.name).say("user")?;
        let mut number = 0;
        while number < WRITES && !stop.load(Ordering::Relaxed) && !case.is_over() {
            let batch = 1 + number % 3;
            let new = (number..number + batch)
                .map(|n| NewMemory::note(n.to_string()).id(id_of(n)).vector(vec![1.0 + n as f32 / 1000.0; DIMS]));
            user.remember_all(new).say("remember_all")?.into_iter().try_for_each(|one| one.map(drop)).say("one")?;
            number += batch;
            self.to.store(number, Ordering::SeqCst);
            if number - self.from.load(Ordering::SeqCst) > WINDOW || number % 11 == 0 {
                user.forget(id_of(self.from.load(Ordering::SeqCst))).say("forget")?;
                self.from.fetch_add(1, Ordering::SeqCst);
            }
        }
        Ok(())
    }

    /// A view is not older than what was acknowledged before it was asked for.
    fn read(&self, store: &Store) -> Check {
        let (from, to) = (self.from.load(Ordering::SeqCst), self.to.load(Ordering::SeqCst));
        let user = store.user(&self.name).say("user")?;
        let hits = user.recall(Query::vector(vec![1.0; DIMS]).limit(usize::MAX)).say("recall")?;
        ensure!(hits.iter().all(Hit::verify) && hits.damaged().is_empty(), "{}: a hit does not verify", self.name);
        check_window(&self.name, "recall", hits.iter().map(Hit::id).collect(), from, to)?;
        match user.list(ListOptions::new().limit(usize::MAX)) {
            Ok(page) => check_window(
                &self.name,
                "list",
                page.memories.iter().map(mnemic::memory::Memory::id).collect(),
                from,
                to,
            ),
            // Allowed: it changed faster than it could be read.
            Err(error) if error.kind() == ErrorKind::Busy => Ok(()),
            Err(error) => Err(format!("list: {error:?}")),
        }
    }

    fn read_exactly(&self, store: &Store) -> Check {
        let (from, to) = (self.from.load(Ordering::SeqCst), self.to.load(Ordering::SeqCst));
        let user = store.user(&self.name).say("user")?;
        let total = user.list(ListOptions::new().limit(usize::MAX)).say("list")?.total as u64;
        ensure!(total == to - from, "{}: {total} memories, should be {}", self.name, to - from);
        self.read(store)
    }
}

fn id_of(number: u64) -> MemoryId {
    MemoryId::from_u128(u128::from(number) + 1)
}

fn check_window(name: &str, verb: &str, mut ids: Vec<MemoryId>, from: u64, to: u64) -> Check {
    ids.sort_unstable();
    let Some(first) = ids.first() else {
        ensure!(from == to, "{name}: {verb} finds nothing of {from}..{to}");
        return Ok(());
    };
    let number = |id: &MemoryId| u128::from_be_bytes(*id.as_bytes()) as u64 - 1;
    let (a, b) = (number(first), number(first) + ids.len() as u64);
    ensure!(ids.iter().map(number).eq(a..b), "{name}: {verb} sees a gap: {ids:?}");
    ensure!(a >= from && b >= to, "{name}: {verb} sees {a}..{b}, older than {from}..{to}");
    Ok(())
}

/// Snapshots and upkeep beside everything else.
fn tidy(store: &Store) -> Check {
    let done = store.maintain(Duration::MAX).say("maintain")?;
    ensure!(done.finished && done.damaged.is_empty(), "maintain: {done:?}");
    let taken = store.snapshot().say("snapshot")?;
    ensure!(taken.damaged.is_empty(), "snapshot: {:?}", taken.damaged);
    let listed = store.snapshots().say("snapshots")?;
    ensure!(listed == [taken.clone()], "snapshots: {listed:?}, should be {taken:?}");
    store.delete_snapshot(taken.id).say("delete_snapshot")
}

/// A user who comes and goes beside the others.
fn come_and_go(store: &Store) -> Check {
    let user = store.user("guest").say("user")?;
    let all = (0..5).map(|n| NewMemory::note(format!("guest {n}")).vector(vec![1.0; DIMS]));
    let ids = user.remember_all(all).say("guest")?.into_iter().collect::<mnemic::Result<Vec<_>>>().say("guest")?;
    user.forget(ids[2]).say("guest forgets")?;
    ensure!(user.recall(Query::vector(vec![1.0; DIMS])).say("guest recalls")?.len() == 4, "guest: not 4");
    ensure!(store.forget_user("guest").say("guest leaves")?.memories == 4, "guest: not 4 gone");
    ensure!(user.recall(Query::vector(vec![1.0; DIMS])).say("guest is gone")?.is_empty(), "guest: still there");
    Ok(())
}
