//! A repair that is cut short, by a power cut or by the disk: it can be begun again, and ends where it would have ended.

mod support;

use std::path::Path;

use mnemic::memory::{NewMemory, Sensitivity};
use mnemic::world::testing::{CrashChoice, FaultKind, RecordingFs, Repeat, SplitMix64};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{ErrorKind, Store, Update};
use support::{PATH, State, builder, id, note, read, state_of, vector, world_over, write};

const SHARDS: u32 = 2;
const PAGE: usize = 4096;
/// What a repair needs at most: copies of keys in snapshots of a rebuilt shard are seen to by the next one.
const ROUNDS: u32 = 3;

/// Damages a store.
type Spoil = fn(&RecordingFs);

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).shards(SHARDS).open().unwrap()
}

/// A closed store of some users, with a snapshot, a log, and one who was forgotten.
fn closed() -> RecordingFs {
    let fs = RecordingFs::new();
    let store = open(&fs, 1);
    let mut random = SplitMix64::new(3);
    for user in ["ada", "bob", "cyd", "dan"] {
        let handle = store.user(user).unwrap().with_level(Sensitivity::Secret);
        let news: Vec<NewMemory> =
            (1..6).map(|n| note(n, &format!("what {user} said, number {n}"), vector(&mut random))).collect();
        assert!(handle.remember_all(news).unwrap().iter().all(Result::is_ok));
        handle.update(id(2), Update::new().text("changed")).unwrap();
        handle.forget(id(5)).unwrap();
    }
    store.snapshot().unwrap();
    store.forget_user("dan").unwrap();
    store.close().unwrap();
    fs
}

fn shards() -> impl Iterator<Item = String> {
    (0..SHARDS).map(|number| format!("shards/{number:02}.redb"))
}

fn change(fs: &RecordingFs, file: &str, at: usize) {
    let mut bytes = read(fs, file);
    bytes[at] ^= 1;
    write(fs, file, &bytes);
}

/// The last byte of the first frame of a table, in each shard.
fn hit_a_value(fs: &RecordingFs, table: u8) {
    for file in shards() {
        let bytes = read(fs, &file);
        let magic = [b'M', b'N', b'F', 1, table];
        if let Some(at) = bytes.windows(5).rposition(|window| window == magic) {
            change(fs, &file, at + 90);
        }
    }
}

fn hit_a_record(fs: &RecordingFs) {
    hit_a_value(fs, 2);
}

fn hit_a_term_list(fs: &RecordingFs) {
    hit_a_value(fs, 6);
}

fn exchange_pages(fs: &RecordingFs) {
    for file in shards() {
        let mut bytes = read(fs, &file);
        let kinds = (PAGE..bytes.len()).step_by(PAGE).filter(|at| matches!(bytes[*at], 1 | 2));
        let pages: Vec<usize> = kinds.collect();
        let (a, b) = (pages[0], pages[pages.len() - 1]);
        let page = bytes[a..a + PAGE].to_vec();
        bytes.copy_within(b..b + PAGE, a);
        bytes[b..b + PAGE].copy_from_slice(&page);
        write(fs, &file, &bytes);
    }
}

fn lose_a_file(fs: &RecordingFs) {
    fs.remove_file(&Path::new(PATH).join("shards/01.redb")).unwrap();
}

fn hit_copies(fs: &RecordingFs) {
    change(fs, "MANIFEST", 12);
    change(fs, "KEYRING", PAGE + 20);
    change(fs, "KEYRING", 4 * PAGE + 40);
}

const SPOILS: [(&str, Spoil); 5] = [
    ("a record", hit_a_record),
    ("a term list", hit_a_term_list),
    ("exchanged pages", exchange_pages),
    ("a missing file", lose_a_file),
    ("copies of keys and manifest", hit_copies),
];

/// Repairs until the store is clean; what it holds then.
fn repaired(fs: &RecordingFs, says: &str) -> State {
    let mut rounds = 0;
    loop {
        let store = open(fs, 20 + u64::from(rounds));
        if store.doctor().unwrap_or_else(|error| panic!("{says}: {error:?}")).is_clean() {
            assert!(store.repair().unwrap().is_unchanged(), "{says}");
            return state_of(&store).unwrap();
        }
        assert!(rounds < ROUNDS, "{says}: {:?}", store.doctor().unwrap().damaged);
        store.repair().unwrap_or_else(|error| panic!("{says}: {error:?}"));
        rounds += 1;
    }
}

#[test]
fn a_power_cut_at_any_operation_of_a_repair_loses_nothing_more() {
    let whole = closed();
    let mut images = 0;
    for (says, spoil) in SPOILS {
        let fs = whole.snapshot();
        spoil(&fs);
        let expected = repaired(&fs.snapshot(), says);
        let store = open(&fs, 9);
        let first = fs.op_count();
        store.repair().unwrap();
        // What a clean close writes is no part of it.
        std::mem::forget(store);
        for op in first..=fs.op_count() {
            for choice in CrashChoice::mix(op as u64, 4) {
                let says = format!("{says}, cut at op {op} of {first}..{} ({choice:?})", fs.op_count());
                assert_eq!(repaired(&fs.crash_image(op, choice), &says), expected, "{says}");
                images += 1;
            }
        }
    }
    println!("{images} images");
    assert!(images > 500);
}

/// Whether the fault was met.
fn fails_at(spoilt: &RecordingFs, n: u64, fault: (FaultKind, Repeat), expected: &State, says: &str) -> bool {
    let fs = spoilt.snapshot();
    let store = open(&fs, 9);
    fs.fail_at(n, fault.0, fault.1);
    let outcome = store.repair();
    let met = fs.faults_met() > 0;
    fs.clear_faults();
    if let Err(error) = &outcome {
        assert!(met, "{says}: an error without a fault: {error:?}");
        assert_eq!(error.kind(), ErrorKind::Io, "{says}: {error:?}");
    }
    drop(store);
    assert_eq!(repaired(&fs, says), *expected, "{says}, after {outcome:?}");
    met
}

#[test]
fn a_disk_that_fails_at_any_call_of_a_repair_costs_nothing_more() {
    let whole = closed();
    let mut runs = 0;
    for (what, spoil) in SPOILS {
        let spoilt = whole.snapshot();
        spoil(&spoilt);
        let expected = repaired(&spoilt.snapshot(), what);
        for fault in FaultKind::ALL.into_iter().flat_map(|kind| [(kind, Repeat::Once), (kind, Repeat::Forever)]) {
            for n in 0.. {
                runs += 1;
                let says = format!("{what}, {fault:?} at call {n}");
                if !fails_at(&spoilt, n, fault, &expected, &says) {
                    break;
                }
            }
        }
    }
    println!("{runs} runs");
    assert!(runs > 500);
}

#[test]
fn a_disk_that_fails_is_not_taken_for_damage() {
    let whole = closed();
    let before = shards().map(|file| read(&whole, &file)).collect::<Vec<_>>();
    for kind in FaultKind::ALL {
        for n in 0.. {
            let fs = whole.snapshot();
            let store = open(&fs, 9);
            fs.fail_at(n, kind, Repeat::Forever);
            let (found, done) = (store.doctor(), store.repair());
            let met = fs.faults_met() > 0;
            fs.clear_faults();
            std::mem::forget(store);
            let says = format!("{kind:?} at call {n}");
            if let Ok(found) = &found {
                assert_eq!(found.damaged, [], "{says}");
            }
            if let Ok(done) = &done {
                assert!(done.is_unchanged(), "{says}: {done:?}");
            }
            for error in [found.err(), done.err()].into_iter().flatten() {
                assert_eq!(error.kind(), ErrorKind::Io, "{says}: {error:?}");
            }
            let after = shards().map(|file| read(&fs, &file)).collect::<Vec<_>>();
            // redb marks a file that is open in its head.
            let same = before.iter().zip(&after).all(|(before, after)| before.get(PAGE..) == after.get(PAGE..));
            assert!(same, "{says}: a shard was written");
            let names = fs.list(&Path::new(PATH).join("quarantine")).unwrap_or_default();
            assert!(names.is_empty(), "{says}: {names:?}");
            if !met {
                break;
            }
        }
    }
}

/// The file that a page leads out of: redb's handle refuses everything then, and the shard is damaged, not the disk.
#[test]
fn a_shard_whose_pages_lead_out_of_the_file_is_damaged_and_repaired() {
    let whole = closed();
    let before = state_of(&open(&whole, 5)).unwrap();
    let clean = read(&whole, "shards/00.redb");
    let mut lamed = 0;
    for at in (PAGE..clean.len()).step_by(PAGE).filter(|at| matches!(clean[*at], 1 | 2)) {
        let fs = whole.snapshot();
        let mut bytes = clean.clone();
        // Page numbers of children and roots, far beyond the end.
        bytes[at + 8..at + PAGE].iter_mut().for_each(|byte| *byte |= 0x0f);
        let file = fs.open(&Path::new(PATH).join("shards/00.redb"), OpenMode::ReadWrite).unwrap();
        file.write_at(0, &bytes).unwrap();
        let store = open(&fs, 9);
        for user in before.keys() {
            let listed = store.user(user).unwrap().list(mnemic::ListOptions::new());
            match listed {
                Ok(page) => assert!(!page.damaged.is_empty() || page.memories.len() == before[user].len(), "{user}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
                    lamed += 1;
                }
            }
        }
        drop(store);
        repaired(&fs, &format!("page at {at}"));
    }
    assert!(lamed > 0);
}
