//! What is forgotten can't be recovered by anyone; what is not, can (the control).

use std::collections::BTreeSet;
use std::path::Path;

use super::attacker::{Loot, recover};
use super::{PATH, master, open, open_in};
use crate::engine::Core;
use crate::memory::{MemoryId, NewMemory, Sensitivity, UserId};
use crate::world::testing::{CrashChoice, RecordingFs, TestWorld};

fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn id(number: u32) -> MemoryId {
    MemoryId::from_u128(u128::from(number))
}

fn text(name: &str, number: u32) -> String {
    format!("marker of {name} {number}")
}

fn remember(core: &Core, name: &str, numbers: std::ops::Range<u32>) {
    let news = numbers.map(|n| NewMemory::note(text(name, n)).id(id(n)).vector(vec![1.0; 8])).collect();
    assert!(core.remember_all(&user(name), news).unwrap().iter().all(Result::is_ok));
}

fn attack(fs: &RecordingFs, core: &Core) -> BTreeSet<String> {
    loot(fs, core).texts
}

fn loot(fs: &RecordingFs, core: &Core) -> Loot {
    recover(fs, Path::new(PATH), core.directory.store_id(), &master())
}

fn level() -> Sensitivity {
    Sensitivity::Secret
}

#[test]
fn a_forgotten_memory_is_beyond_recovery_and_the_others_are_not() {
    let fs = RecordingFs::new();
    let core = open(&fs, 1);
    remember(&core, "ada", 0..300);
    remember(&core, "bob", 0..3);
    let edit: crate::engine::Edit = Box::new(|memory| {
        memory.text = "marker changed".into();
        Ok(())
    });
    core.update(&user("ada"), id(7), level(), None, (edit, crate::engine::VectorEdit::Keep)).unwrap();
    let before = attack(&fs, &core);
    assert_eq!(before.len(), 300 + 3 + 1, "control: everything is recovered while it lives, the old image too");
    core.forget(&user("ada"), id(7), level()).unwrap();
    core.forget(&user("ada"), id(299), level()).unwrap();
    let after = attack(&fs, &core);
    let gone: BTreeSet<String> = before.difference(&after).cloned().collect();
    let expected = ["marker changed".to_owned(), text("ada", 7), text("ada", 299)];
    assert_eq!(gone, expected.into_iter().collect());
}

#[test]
fn a_forgotten_user_is_beyond_recovery() {
    let fs = RecordingFs::new();
    let core = open(&fs, 2);
    remember(&core, "ada", 0..20);
    remember(&core, "bob", 0..3);
    assert_eq!(attack(&fs, &core).len(), 23);
    core.forget_user(&user("ada")).unwrap();
    assert_eq!(attack(&fs, &core), (0..3).map(|n| text("bob", n)).collect());
    remember(&core, "ada", 50..52);
    let found = attack(&fs, &core);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(!found.contains(&text("ada", 0)));
}

#[test]
fn a_power_cut_while_forgetting_leaves_it_whole_or_gone_for_good() {
    let fs = RecordingFs::new();
    let core = open(&fs, 3);
    remember(&core, "ada", 0..4);
    let steps: [(&str, &dyn Fn()); 2] = [
        ("forget", &|| _ = core.forget(&user("ada"), id(2), level()).unwrap()),
        ("forget_user", &|| _ = core.forget_user(&user("ada")).unwrap()),
    ];
    let mut images = 0;
    for (name, act) in steps {
        let before = fs.op_count();
        act();
        for op in before..=fs.op_count() {
            for choice in CrashChoice::mix(op as u64, 6) {
                images += 1;
                let image = fs.crash_image(op, choice);
                let core = open(&image, 4);
                let lives = core.get(&user("ada"), id(2), level()).is_ok();
                let found = attack(&image, &core).contains(&text("ada", 2));
                assert_eq!(lives, found, "{name}: op {op} {choice:?}");
                assert!(!lives || (name == "forget" && op < fs.op_count()), "{name}: op {op} {choice:?}");
            }
        }
    }
    println!("{images} images");
}

#[test]
fn what_was_made_of_a_forgotten_memory_alone_goes_with_it() {
    let fs = RecordingFs::new();
    let core = open(&fs, 5);
    remember(&core, "ada", 0..3);
    let derived = |number: u32, of: &[u32]| {
        let new = NewMemory::fact(text("derived", number)).id(id(number)).vector(vec![1.0; 8]);
        of.iter().fold(new, |new, n| new.derived_from(id(*n)))
    };
    let news = vec![derived(10, &[0]), derived(11, &[10]), derived(12, &[0, 1]), derived(13, &[2])];
    assert!(core.remember_all(&user("ada"), news).unwrap().iter().all(Result::is_ok));
    let forgotten = core.forget(&user("ada"), id(0), level()).unwrap();
    assert_eq!((forgotten.memories, forgotten.references), (3, 1));
    let left = attack(&fs, &core);
    let expected = [text("ada", 1), text("ada", 2), text("derived", 12), text("derived", 13)];
    assert_eq!(left, expected.into_iter().collect());
    assert_eq!(core.get(&user("ada"), id(12), level()).unwrap().derived_from(), [id(1)]);
}

fn change(core: &Core, number: u32, text: &'static str) {
    let edit: crate::engine::Edit = Box::new(move |memory| {
        memory.text = text.into();
        Ok(())
    });
    core.update(&user("ada"), id(number), level(), None, (edit, crate::engine::VectorEdit::Keep)).unwrap();
}

#[test]
fn a_forgotten_memory_is_gone_from_every_snapshot_and_a_restore_does_not_bring_it_back() {
    let fs = RecordingFs::new();
    let core = open(&fs, 6);
    remember(&core, "ada", 0..6);
    remember(&core, "bob", 0..2);
    let first = core.snapshot().unwrap();
    change(&core, 2, "marker changed");
    let second = core.snapshot().unwrap();
    change(&core, 2, "marker changed again");
    let before = loot(&fs, &core);
    let copied: BTreeSet<String> = (0..6).map(|n| text("ada", n)).chain((0..2).map(|n| text("bob", n))).collect();
    let with_change: BTreeSet<String> = copied.iter().cloned().chain(["marker changed".to_owned()]).collect();
    assert_eq!(before.from_snapshots, with_change, "control: snapshots are read while what is in them lives");
    core.forget(&user("ada"), id(2), level()).unwrap();
    let rest: BTreeSet<String> = copied.into_iter().filter(|t| *t != text("ada", 2)).collect();
    let after = loot(&fs, &core);
    assert_eq!((&after.from_snapshots, &after.texts), (&rest, &rest));
    for snapshot in [first.id, second.id] {
        let done = core.restore(snapshot).unwrap();
        assert_eq!((done.users, done.unchanged, done.refused), (2, 7, 1));
        assert_eq!(loot(&fs, &core).texts, rest);
    }
    core.forget_user(&user("ada")).unwrap();
    let left: BTreeSet<String> = (0..2).map(|n| text("bob", n)).collect();
    assert_eq!(loot(&fs, &core).texts, left);
    let done = core.restore(first.id).unwrap();
    assert_eq!((done.users, done.users_refused), (1, 1));
    assert_eq!(loot(&fs, &core).texts, left);
}

#[test]
fn a_power_cut_while_forgetting_leaves_nothing_of_it_in_a_snapshot() {
    let fs = RecordingFs::new();
    let core = open(&fs, 7);
    remember(&core, "ada", 0..4);
    let snapshots = [core.snapshot().unwrap(), core.snapshot().unwrap()];
    let steps: [(&str, &dyn Fn()); 2] = [
        ("forget", &|| _ = core.forget(&user("ada"), id(2), level()).unwrap()),
        ("forget_user", &|| _ = core.forget_user(&user("ada")).unwrap()),
    ];
    let mut images = 0;
    for (name, act) in steps {
        let before = fs.op_count();
        act();
        for op in before..=fs.op_count() {
            for choice in CrashChoice::mix(op as u64, 6) {
                images += 1;
                let image = fs.crash_image(op, choice);
                let core = open(&image, 8);
                let lives = core.get(&user("ada"), id(2), level()).is_ok();
                let found = loot(&image, &core);
                assert_eq!(lives, found.from_snapshots.contains(&text("ada", 2)), "{name}: op {op} {choice:?}");
                for snapshot in &snapshots {
                    core.restore(snapshot.id).unwrap();
                }
                let found = loot(&image, &core).texts;
                assert_eq!(lives, found.contains(&text("ada", 2)), "{name}: op {op} {choice:?}, restored");
                let others = core.get(&user("ada"), id(1), level()).is_ok();
                assert_eq!(others, found.contains(&text("ada", 1)), "{name}: op {op} {choice:?}");
            }
        }
    }
    println!("{images} images");
}

#[test]
fn a_snapshot_whose_keys_cannot_be_written_loses_the_user_and_the_forgetting_says_so() {
    let fs = RecordingFs::new();
    let core = open(&fs, 8);
    remember(&core, "ada", 0..4);
    let snapshot = core.snapshot().unwrap();
    let keys = Path::new(PATH).join("snapshots").join(format!("{}.keys", snapshot.id));
    crate::world::FileSystem::remove_file(&fs, &keys).unwrap();
    assert_eq!(core.forget(&user("ada"), id(2), level()).unwrap().snapshots_lost, 1);
    let left: BTreeSet<String> = [0, 1, 3].into_iter().map(|n| text("ada", n)).collect();
    let found = loot(&fs, &core);
    assert_eq!((found.texts, found.from_snapshots), (left, BTreeSet::new()));
    assert_eq!(core.restore(snapshot.id).unwrap_err().kind(), crate::ErrorKind::Corrupt);
}

#[test]
fn upkeep_leaves_nothing_that_a_later_forgetting_would_miss() {
    let fs = RecordingFs::new();
    let world = TestWorld::with_fs(9, fs.clone());
    let core = open_in(&world, 1 << 20);
    remember(&core, "ada", 0..300);
    change(&core, 2, "marker changed");
    world.set_micros(world.world().now_micros() + 20 * crate::memory::Timestamp::DAY_MICROS);
    change(&core, 3, "marker of another change");
    world.set_micros(world.world().now_micros() + 20 * crate::memory::Timestamp::DAY_MICROS);
    // One of the two changes is trimmed; its old image is left in free pages, under a key that is gone or to go.
    assert_eq!(core.maintain(std::time::Duration::MAX).unwrap().log_entries_trimmed, 2);
    let gone = [text("ada", 2), "marker changed".to_owned()];
    core.forget(&user("ada"), id(2), level()).unwrap();
    let found = attack(&fs, &core);
    assert!(gone.iter().all(|text| !found.contains(text)), "{} texts", found.len());
    // 299 memories, and what the third of them was before its change, which is young enough to be kept.
    assert_eq!(found.len(), 300);
    let done = core.maintain(std::time::Duration::MAX).unwrap();
    assert_eq!((done.finished, attack(&fs, &core).len()), (true, 300));
    assert!(attack(&fs, &core).contains(&text("ada", 3)));
}

#[test]
fn a_repair_brings_nothing_back_and_what_it_kept_is_forgotten_with_the_rest() {
    use crate::world::{FileSystem, OpenMode};
    let fs = RecordingFs::new();
    let core = open(&fs, 9);
    remember(&core, "ada", 0..300);
    core.forget(&user("ada"), id(7), level()).unwrap();
    core.close().unwrap();
    drop(core);
    let shard = fs.open(&Path::new(PATH).join("shards/00.redb"), OpenMode::ReadWrite).unwrap();
    let mut bytes = vec![0; shard.len().unwrap() as usize];
    shard.read_at(0, &mut bytes).unwrap();
    let blocks = bytes.windows(5).enumerate().filter(|(_, magic)| *magic == b"MNF\x01\x04");
    for (at, _) in blocks {
        shard.write_at(at as u64 + 200, &[!bytes[at + 200]]).unwrap();
    }
    drop(shard);
    let core = open(&fs, 10);
    let done = core.repair().unwrap();
    assert_eq!((done.shards, done.users, done.memories, &done.lost), (1, 1, 299, &vec![]));
    drop(core);
    let core = open(&fs, 11);
    assert_eq!(core.doctor().unwrap().damaged, []);
    let before = attack(&fs, &core);
    assert!(!before.contains(&text("ada", 7)) && before.contains(&text("ada", 8)), "control");
    core.forget(&user("ada"), id(8), level()).unwrap();
    let after = attack(&fs, &core);
    assert_eq!(before.difference(&after).cloned().collect::<Vec<_>>(), [text("ada", 8)]);
    core.forget_user(&user("ada")).unwrap();
    assert_eq!(attack(&fs, &core), BTreeSet::new(), "the copy in quarantine is noise too");
}
