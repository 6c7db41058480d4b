//! Threads on a real disk: acknowledged writes are there, readers see whole commits.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mnemic::memory::NewMemory;
use mnemic::{Durability, ListOptions, Query, Store};

fn open(path: &std::path::Path) -> Store {
    Store::builder(path).reserve_bytes(0).open().unwrap()
}

#[test]
fn ten_threads_of_fifty_writes_leave_five_hundred_memories() {
    for same_user in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let store = open(&path);
        let (stop, reads) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..10u64)
                .map(|thread| {
                    let store = &store;
                    scope.spawn(move || {
                        let name = if same_user { "one".to_owned() } else { format!("user {thread}") };
                        let user = store.user(&name).unwrap();
                        for n in 0..50 {
                            let number = thread * 100 + n;
                            user.remember(support::note(number, &format!("memory {number}"), vec![1.0; 16])).unwrap();
                            assert_eq!(user.get(support::id(number)).unwrap().text(), format!("memory {number}"));
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                let user = store.user("one").unwrap();
                let mut before = 0;
                while !stop.load(Ordering::Relaxed) {
                    let hits = user.recall(&Query::vector(vec![1.0; 16]).limit(usize::MAX)).unwrap();
                    let listed = user.list(&ListOptions::new().limit(1000)).unwrap().total;
                    assert!(hits.len() >= before && listed >= hits.len(), "a memory vanished");
                    before = hits.len();
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            stop.store(true, Ordering::Relaxed);
        });
        store.close().unwrap();
        let store = open(&path);
        let names: Vec<String> =
            if same_user { vec!["one".into()] } else { (0..10).map(|t| format!("user {t}")).collect() };
        let totals = names.iter().map(|name| store.user(name).unwrap().list(&ListOptions::new()).unwrap().total);
        assert_eq!(totals.sum::<usize>(), 500);
        println!("{} reads beside the writes", reads.load(Ordering::Relaxed));
    }
}

#[test]
fn forgetting_users_beside_readers_and_writers_of_others_disturbs_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("store"));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let store = &store;
            scope.spawn(move || {
                let name = format!("user {thread}");
                let user = store.user(&name).unwrap();
                for round in 0..8 {
                    let ids: Vec<_> = (0..5)
                        .map(|n| user.remember(NewMemory::note(format!("{round} {n}")).vector(vec![1.0; 16])).unwrap())
                        .collect();
                    user.forget(ids[2]).unwrap();
                    assert_eq!(user.recall(&Query::vector(vec![1.0; 16])).unwrap().len(), 4);
                    assert_eq!(store.forget_user(&name).unwrap().memories, 4);
                    assert!(user.recall(&Query::vector(vec![1.0; 16])).unwrap().is_empty());
                }
            });
        }
    });
    assert_eq!(store.user_count().unwrap(), 0);
}

#[test]
fn relaxed_writes_are_there_after_a_flush_and_after_a_close() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let relaxed =
        || Store::builder(&path).reserve_bytes(0).durability(Durability::Relaxed { every: 100 }).open().unwrap();
    let store = relaxed();
    let user = store.user("ada").unwrap();
    for n in 0..30 {
        user.remember(support::note(n, "relaxed", vec![1.0; 16])).unwrap();
    }
    store.flush().unwrap();
    for n in 30..60 {
        user.remember(support::note(n, "relaxed", vec![1.0; 16])).unwrap();
    }
    store.close().unwrap();
    let store = relaxed();
    assert_eq!(store.user("ada").unwrap().list(&ListOptions::new()).unwrap().total, 60);
}

#[test]
fn users_beyond_the_cache_budget_lose_no_write() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::builder(dir.path().join("store")).reserve_bytes(0).cache_bytes(64 << 10).open().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..40 {
                    let user = store.user(&format!("user {}", (n * 7 + thread) % 12)).unwrap();
                    user.remember(support::note(thread * 1000 + n, "text", vec![1.0; 16])).unwrap();
                    let hits = user.recall(&Query::vector(vec![1.0; 16]).limit(usize::MAX)).unwrap();
                    assert!(hits.iter().any(|hit| hit.id() == support::id(thread * 1000 + n)));
                }
            });
        }
    });
    let stats = store.stats().unwrap();
    assert!(stats.cache_bytes <= 2 * stats.cache_budget_bytes, "{stats:?}");
    let totals = (0..12).map(|u| store.user(&format!("user {u}")).unwrap().list(&ListOptions::new()).unwrap().total);
    assert_eq!(totals.sum::<usize>(), 120);
}
