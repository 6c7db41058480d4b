//! Upkeep: shards give back what is free, logs end, strays go, and nothing else changes.

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mnemic::memory::{NewMemory, Sensitivity, Timestamp};
use mnemic::world::testing::{CrashChoice, FaultKind, RecordingFs, Repeat, SplitMix64, TestWorld};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{Durability, ErrorKind, Maintenance, Query, Store, Update, User};
use support::{DIMS, PATH, builder, id, note, state_of, vector, world_over};

const LONG: Duration = Duration::from_secs(3600);

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).rewrite_min_bytes(0).open().unwrap()
}

fn user(store: &Store, name: &str) -> User {
    store.user(name).unwrap().with_level(Sensitivity::Secret)
}

fn fill(user: &User, numbers: std::ops::Range<u64>, random: &mut SplitMix64) {
    let text = |n| format!("memory {n} {}", "of some length ".repeat(40));
    let news: Vec<NewMemory> = numbers.map(|n| note(n, &text(n), vector(random))).collect();
    assert!(user.remember_all(news).unwrap().iter().all(Result::is_ok));
}

/// A store with far more free than used.
fn hollow(fs: &RecordingFs, seed: u64, rows: u64) -> Store {
    let (store, mut random) = (open(fs, seed), SplitMix64::new(seed));
    for name in ["ada", "bob", "cleo", "dan"] {
        fill(&user(&store, name), 0..rows, &mut random);
    }
    for name in ["bob", "cleo", "dan"] {
        store.forget_user(name).unwrap();
    }
    fill(&user(&store, "bob"), 0..3, &mut random);
    store
}

#[test]
fn a_hollow_shard_is_rewritten_once_and_says_the_same() {
    let fs = RecordingFs::new();
    let store = hollow(&fs, 1, 600);
    let (before, bytes) = (state_of(&store).unwrap(), store.stats().unwrap().shard_bytes[0]);
    let done = store.maintain(LONG).unwrap();
    assert_eq!((done.shards_rewritten, done.finished, done.damaged.len()), (1, true, 0));
    let after = store.stats().unwrap().shard_bytes[0];
    assert_eq!(done.bytes_freed, bytes - after);
    assert!(after < bytes / 2, "{bytes} -> {after}");
    assert_eq!(state_of(&store).unwrap(), before);
    assert_eq!(store.maintain(LONG).unwrap(), Maintenance { finished: true, ..Maintenance::default() });
    user(&store, "ada").remember(note(5000, "after it", vec![1.0; DIMS])).unwrap();
    let before = state_of(&store).unwrap();
    assert_eq!(store.maintain(LONG).unwrap().shards_rewritten, 0, "a fresh file is full");
    store.close().unwrap();
    assert_eq!(state_of(&open(&fs, 2)).unwrap(), before);
}

#[test]
fn small_shards_and_spent_budgets_change_nothing() {
    let fs = RecordingFs::new();
    let store = hollow(&fs, 2, 600);
    store.close().unwrap();
    let store = builder(&world_over(&fs, 3)).rewrite_min_bytes(1 << 40).open().unwrap();
    assert_eq!(store.maintain(LONG).unwrap(), Maintenance { finished: true, ..Maintenance::default() });
    store.close().unwrap();
    let store = open(&fs, 4);
    assert_eq!(store.maintain(Duration::ZERO).unwrap(), Maintenance::default());
    assert_eq!(store.maintain(LONG).unwrap().shards_rewritten, 1);
}

#[test]
fn a_power_cut_at_any_step_of_a_rewrite_loses_nothing() {
    let fs = RecordingFs::new();
    let store = hollow(&fs, 3, 60);
    let (before, begun) = (state_of(&store).unwrap(), fs.op_count());
    assert_eq!(store.maintain(LONG).unwrap().shards_rewritten, 1);
    let done = fs.op_count();
    user(&store, "ada").remember(note(5000, "after it", vec![1.0; DIMS])).unwrap();
    let (after, ended) = (state_of(&store).unwrap(), fs.op_count());
    let mut images = 0;
    for op in begun..=ended {
        for choice in CrashChoice::mix(op as u64, 4) {
            let image = fs.crash_image(op, choice);
            let found = state_of(&open(&image, 5)).unwrap();
            let expected = if op <= done { vec![&before] } else { vec![&before, &after] };
            let expected = if op == ended { vec![&after] } else { expected };
            assert!(expected.contains(&&found), "op {op} of {begun}, {done}, {ended}, {choice:?}");
            let names = image.list(&Path::new(PATH).join("shards")).unwrap();
            assert_eq!(names, ["00.redb"], "op {op} {choice:?}");
            images += 1;
        }
    }
    println!("{images} images");
}

#[test]
fn a_disk_that_fails_at_any_call_of_a_rewrite_loses_nothing() {
    let base = RecordingFs::new();
    hollow(&base, 4, 60).close().unwrap();
    let mut runs = 0;
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                let fs = base.snapshot();
                let store = open(&fs, 6);
                let before = state_of(&store).unwrap();
                fs.fail_at(n, kind, repeat);
                let done = store.maintain(LONG);
                let met = fs.faults_met() > 0;
                fs.clear_faults();
                if let Err(error) = &done {
                    assert!([ErrorKind::Io, ErrorKind::Corrupt].contains(&error.kind()), "{kind:?} {n}: {error}");
                }
                let added = user(&store, "ada").remember(note(5000, "after it", vec![1.0; DIMS]));
                drop(store);
                let after = state_of(&open(&fs, 7)).unwrap();
                let gained = after["ada"].len() - before["ada"].len();
                assert_eq!(gained, usize::from(added.is_ok()), "{kind:?} {n} {repeat:?}: {added:?}");
                runs += 1;
                if !met {
                    break;
                }
            }
        }
    }
    println!("{runs} runs");
}

#[test]
fn readers_and_writers_go_on_while_shards_are_rewritten() {
    let world = TestWorld::new(9);
    let store = builder(&world).rewrite_min_bytes(0).open().unwrap();
    let mut random = SplitMix64::new(9);
    fill(&user(&store, "ada"), 0..100, &mut random);
    let stop = AtomicBool::new(false);
    let mut rewritten = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (bob, mut random, mut acknowledged) = (user(&store, "bob"), SplitMix64::new(10), 0);
            while !stop.load(Ordering::Relaxed) {
                bob.remember(note(1000 + acknowledged, "in between", vector(&mut random))).unwrap();
                acknowledged += 1;
            }
            acknowledged
        });
        let reader = scope.spawn(|| {
            let ada = user(&store, "ada");
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(ada.recall(Query::vector(vec![1.0; DIMS]).limit(3)).unwrap().len(), 3);
                assert!(ada.get(id(7)).unwrap().text().starts_with("memory 7"));
            }
        });
        for _ in 0..12 {
            fill(&user(&store, "cleo"), 0..300, &mut random);
            store.forget_user("cleo").unwrap();
            rewritten += store.maintain(LONG).unwrap().shards_rewritten;
        }
        stop.store(true, Ordering::Relaxed);
        let acknowledged = writer.join().unwrap() as usize;
        reader.join().unwrap();
        assert_eq!(state_of(&store).unwrap()["bob"].len(), acknowledged);
        store.close().unwrap();
        let store = builder(&world_over(world.fs(), 11)).open().unwrap();
        assert_eq!(state_of(&store).unwrap()["bob"].len(), acknowledged);
    });
    assert!(rewritten > 3, "{rewritten}");
}

#[test]
fn a_relaxed_store_is_durable_after_a_rewrite() {
    let fs = RecordingFs::new();
    hollow(&fs, 12, 600).close().unwrap();
    let relaxed = builder(&world_over(&fs, 13)).rewrite_min_bytes(0).durability(Durability::Relaxed { every: 1000 });
    let store = relaxed.open().unwrap();
    user(&store, "ada").remember(note(5000, "relaxed", vec![1.0; DIMS])).unwrap();
    assert_eq!(store.maintain(LONG).unwrap().shards_rewritten, 1);
    let image = fs.crash_image(fs.op_count(), CrashChoice::None);
    assert!(user(&open(&image, 14), "ada").get(id(5000)).is_ok());
}

#[test]
fn the_log_ends_after_thirty_days() {
    let fs = RecordingFs::new();
    let world = world_over(&fs, 20);
    let store = builder(&world).open().unwrap();
    let (ada, mut random) = (user(&store, "ada"), SplitMix64::new(20));
    let start = world.world().now_micros();
    fill(&ada, 0..3, &mut random);
    // More than one chunk of the log.
    for n in 0..600 {
        world.set_micros(start + n * Timestamp::DAY_MICROS / 10);
        ada.update(id(1), Update::new().text(format!("change {n}"))).unwrap();
    }
    let before = ada.history(id(1)).unwrap();
    assert_eq!(before.len(), 601);
    let done = store.maintain(LONG).unwrap();
    let kept: Vec<_> =
        before[1..].iter().filter(|c| c.at.as_micros() >= start + 299 * Timestamp::DAY_MICROS / 10).collect();
    let after = ada.history(id(1)).unwrap();
    assert_eq!(after.len(), kept.len());
    assert_eq!(done.log_entries_trimmed, 601 - after.len() as u64);
    assert!(after.iter().zip(kept).all(|(a, b)| (a.at, a.verb, &a.before) == (b.at, b.verb, &b.before)));
    assert_eq!(store.maintain(LONG).unwrap().log_entries_trimmed, 0);
    ada.update(id(1), Update::new().text("one more")).unwrap();
    ada.forget(id(2)).unwrap();
    assert_eq!(ada.history(id(1)).unwrap().len(), after.len() + 1);
    let state = state_of(&store).unwrap();
    store.close().unwrap();
    let store = open(&fs, 21);
    assert_eq!(user(&store, "ada").history(id(1)).unwrap().len(), after.len() + 1);
    assert_eq!(state_of(&store).unwrap(), state);
}

#[test]
fn strays_go_and_the_reserve_comes_back() {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 30)).reserve_bytes(1 << 16).open().unwrap();
    let snapshot = store.snapshot().unwrap();
    for name in ["shards/00.redb.tmp", "snapshots/0.rows.tmp", "snapshots/0.keys"] {
        fs.open(&Path::new(PATH).join(name), OpenMode::CreateNew).unwrap();
    }
    fs.remove_file(&Path::new(PATH).join("RESERVE")).unwrap();
    assert_eq!(store.maintain(LONG).unwrap().strays_removed, 3);
    assert!(fs.exists(&Path::new(PATH).join("RESERVE")).unwrap());
    assert_eq!(store.snapshots().unwrap(), [snapshot]);
}
