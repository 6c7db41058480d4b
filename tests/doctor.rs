//! Whatever is damaged, the doctor names it; and a store that is whole is called so.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use mnemic::memory::{MemoryId, NewMemory, Sensitivity};
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{Correction, Diagnosis, ErrorKind, Query, Repaired, Store, Update};
use support::{PATH, State, builder, id, note, read, state_of, vector, world_over, write};

const SHARD: &str = "shards/00.redb";
const PAGE: usize = 4096;

/// Damages a store.
type Spoil<'a> = &'a dyn Fn(&RecordingFs);

fn flip(fs: &RecordingFs, file: &str, at: usize, bit: u8) {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    open.read_at(at as u64, &mut byte).unwrap();
    open.write_at(at as u64, &[byte[0] ^ 1 << bit]).unwrap();
}

fn open(fs: &RecordingFs, shards: u32) -> Store {
    builder(&world_over(fs, 9)).shards(shards).open().unwrap()
}

fn diagnose(fs: &RecordingFs, shards: u32) -> Diagnosis {
    open(fs, shards).doctor().unwrap()
}

/// A closed store of several users, with blocks, overlays, tombstones, logs and traces; `more` memories of the largest.
fn closed(shards: u32, more: u64) -> RecordingFs {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 1)).shards(shards).open().unwrap();
    let mut random = SplitMix64::new(3);
    for user in ["ada", "bob", "cyd", "dan", "eve"] {
        let handle = store.user(user).unwrap().with_level(Sensitivity::Secret);
        let count = if user == "ada" { 270 + more } else { 6 };
        let news: Vec<NewMemory> =
            (1..=count).map(|n| note(n, &format!("what {user} said, number {n}"), vector(&mut random))).collect();
        assert!(handle.remember_all(news).unwrap().iter().all(Result::is_ok));
        handle.update(id(2), Update::new().text("changed")).unwrap();
        handle.confirm(id(3)).unwrap();
        handle.correct(id(4), Correction::new("corrected").vector(vector(&mut random))).unwrap();
        handle.recall(Query::vector(vector(&mut random)).trace(true)).unwrap();
        handle.forget(id(5)).unwrap();
    }
    store.forget_user("eve").unwrap();
    store.close().unwrap();
    fs
}

/// The same, with every shard written anew: what is sealed in it is live.
fn compact(shards: u32, more: u64) -> RecordingFs {
    let fs = closed(shards, more);
    let store = builder(&world_over(&fs, 2)).shards(shards).rewrite_min_bytes(0).open().unwrap();
    let mut random = SplitMix64::new(4);
    for n in 0..12 * u64::from(shards) {
        let user = format!("gone {n}");
        let text = "x".repeat(3000 + more as usize);
        let news: Vec<NewMemory> = (1..200).map(|n| note(n, &text, vector(&mut random))).collect();
        store.user(&user).unwrap().remember_all(news).unwrap();
        store.forget_user(&user).unwrap();
    }
    let done = store.maintain(Duration::from_secs(60)).unwrap();
    assert_eq!(done.shards_rewritten, shards);
    store.close().unwrap();
    fs
}

/// Where frames stand, and how long they are.
fn frames(bytes: &[u8]) -> Vec<(usize, usize)> {
    let starts = bytes.windows(4).enumerate().filter(|(_, magic)| *magic == b"MNF\x01").map(|(at, _)| at);
    let frame = |at: usize| {
        let key = usize::from(*bytes.get(at + 5)?);
        let len = u32::from_le_bytes(*bytes.get(at + 6 + key + 32..)?.first_chunk()?) as usize;
        (at + 42 + key + len <= bytes.len() && key <= 40).then_some((at, 42 + key + len))
    };
    starts.filter_map(frame).collect()
}

#[test]
fn a_whole_store_is_called_clean_at_any_time() {
    for shards in [1, 3] {
        let fs = closed(shards, 300);
        let store = open(&fs, shards);
        let found = store.doctor().unwrap();
        assert!(found.is_clean(), "{:?}", found.damaged);
        assert_eq!((found.shards, found.users), (shards, 4));
        assert!(found.values > 100, "{found:?}");
        store.user("bob").unwrap().remember(note(90, "later", vec![1.0; support::DIMS])).unwrap();
        let snapshot = store.snapshot().unwrap();
        store.user("ada").unwrap().forget(id(9)).unwrap();
        assert_eq!(store.doctor().unwrap().damaged, []);
        store.restore(snapshot.id).unwrap();
        store.forget_user("dan").unwrap();
        assert_eq!(store.doctor().unwrap().damaged, []);
        store.user("dan").unwrap().remember(note(1, "back", vec![1.0; support::DIMS])).unwrap();
        assert_eq!(store.doctor().unwrap().damaged, []);
        store.close().unwrap();
        assert_eq!(diagnose(&fs, shards).damaged, []);
    }
}

#[test]
fn every_bit_that_flips_in_a_value_is_found() {
    let fs = compact(1, 2500);
    let clean = read(&fs, SHARD);
    let sealed = frames(&clean);
    println!("{} bytes, {} values", clean.len(), sealed.len());
    let mut random = SplitMix64::new(11);
    for n in 0..60 {
        let image = fs.snapshot();
        let (at, len) = sealed[random.below(sealed.len() as u64) as usize];
        let (at, bit) = (at + random.below(len as u64) as usize, random.below(8) as u8);
        flip(&image, SHARD, at, bit);
        let found = diagnose(&image, 1);
        assert!(!found.is_clean(), "flip {n}: bit {bit} of byte {at} was not found");
    }
}

/// How many memories are not what they were. Each user is asked by id: one whose own row is gone is listed by a hash.
fn changed(before: &State, store: &Store) -> usize {
    let differs = |(user, memories): (&String, &BTreeMap<MemoryId, support::Seen>)| {
        let handle = store.user(user).unwrap().with_level(Sensitivity::Secret);
        let is_same = |id: MemoryId, seen: &support::Seen| {
            handle.get(id).is_ok_and(|m| (m.text(), m.version()) == (seen.text.as_str(), seen.version))
        };
        memories.iter().filter(|(id, seen)| !is_same(**id, seen)).count()
    };
    before.iter().map(differs).sum()
}

/// Keys seal many values; any other value that is lost costs at most the one memory that it is the record of.
const KEYS: u8 = 1;

#[test]
#[ignore = "takes minutes; the short ones run always"]
fn every_one_of_a_thousand_bits_in_five_megabytes_is_found_and_repaired() {
    let fs = compact(1, 5600);
    let before = state_of(&open(&fs, 1)).unwrap();
    let clean = read(&fs, SHARD);
    assert!(clean.len() > 5_000_000, "{} bytes", clean.len());
    let sealed = frames(&clean);
    let mut random = SplitMix64::new(11);
    let (mut whole, mut lost) = (0, 0);
    for n in 0..1000 {
        let image = fs.snapshot();
        let (start, len) = sealed[random.below(sealed.len() as u64) as usize];
        let (at, bit) = (start + random.below(len as u64) as usize, random.below(8) as u8);
        flip(&image, SHARD, at, bit);
        let says = format!("flip {n}: bit {bit} of byte {at}");
        assert!(!diagnose(&image, 1).is_clean(), "{says} was not found");
        let (store, done) = repair(&image, 1);
        let differ = changed(&before, &store);
        assert!(differ <= 1 || clean[start + 4] == KEYS, "{says}: {differ} memories differ");
        let named = done
            .older
            .iter()
            .chain(&done.lost)
            .filter(|damage| damage.memory.is_some() || damage.part == "records")
            .count();
        assert!(named >= differ, "{says}: {differ} memories differ, {named} are named");
        whole += u64::from(differ == 0);
        lost += differ;
    }
    println!(
        "{} bytes, {} values: all flips found, nothing lost in {whole}, {lost} memories lost in all",
        clean.len(),
        sealed.len()
    );
}

#[test]
fn a_bit_that_flips_in_a_page_of_the_tree_is_found_unless_the_page_is_free() {
    let fs = compact(1, 300);
    let clean = read(&fs, SHARD);
    let mut random = SplitMix64::new(12);
    let (mut found, mut free) = (0, 0);
    for at in (PAGE..clean.len()).step_by(PAGE).filter(|at| matches!(clean[*at], 1 | 2)) {
        if random.below(30) > 0 {
            continue;
        }
        let image = fs.snapshot();
        // Kind of page and number of its entries.
        flip(&image, SHARD, at + [0, 2, 3][random.below(3) as usize], random.below(8) as u8);
        if !diagnose(&image, 1).is_clean() {
            found += 1;
            continue;
        }
        let mut bytes = clean.clone();
        bytes[at..at + PAGE].fill(0);
        write(&image, SHARD, &bytes);
        assert_eq!(diagnose(&image, 1).damaged, [], "page at {at}: not free, and its flip was not found");
        free += 1;
    }
    println!("{found} found, {free} pages were free");
    assert!(found > 1, "only {found} pages were in use");
}

#[test]
fn both_copies_of_manifest_and_keyring_are_looked_at() {
    let fs = closed(1, 0);
    let manifest = read(&fs, "MANIFEST");
    // Header, copies A and B; then slots of the first page, copies A and B.
    let keyring = [20, PAGE + 20, 4 * PAGE + 40, 4 * PAGE + 256 + 90, 5 * PAGE + 40];
    let places = [("MANIFEST", 12), ("MANIFEST", manifest.len() - 6)].into_iter();
    for (file, at) in places.chain(keyring.map(|at| ("KEYRING", at))) {
        let image = fs.snapshot();
        flip(&image, file, at, 3);
        let found = diagnose(&image, 1);
        assert!(found.damaged.iter().any(|damage| damage.part == file), "{file} {at}: {:?}", found.damaged);
    }
}

#[test]
fn a_shard_that_is_cut_missing_or_swapped_is_named() {
    let fs = closed(2, 0);
    let (a, b) = (read(&fs, SHARD), read(&fs, "shards/01.redb"));
    let spoil: [Spoil<'_>; 4] = [
        &|image| write(image, SHARD, &a[..a.len() / 2]),
        &|image| write(image, SHARD, &[]),
        &|image| image.remove_file(&Path::new(PATH).join(SHARD)).unwrap(),
        &|image| {
            write(image, SHARD, &b);
            write(image, "shards/01.redb", &a);
        },
    ];
    for spoil in spoil {
        let image = fs.snapshot();
        spoil(&image);
        let found = diagnose(&image, 2);
        assert!(found.damaged.iter().any(|damage| damage.shard == Some(0)), "{:?}", found.damaged);
    }
}

#[test]
fn a_user_whom_the_tree_hides_is_never_called_absent() {
    let fs = compact(1, 0);
    let clean = read(&fs, SHARD);
    let whole = state_of(&open(&fs, 1)).unwrap();
    let mut hidden = 0;
    for at in (PAGE..clean.len()).step_by(PAGE) {
        // The keys in this page change places: what is looked for is not where it should be.
        let mut bytes = clean.clone();
        bytes[at..at + PAGE].reverse();
        let image = fs.snapshot();
        write(&image, SHARD, &bytes);
        let store = open(&image, 1);
        for user in whole.keys() {
            match store.user(user).unwrap().list(mnemic::ListOptions::new()) {
                Ok(page) => assert!(!page.memories.is_empty() || !page.damaged.is_empty(), "page at {at}: {user}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
                    hidden += 1;
                }
            }
        }
        if let Ok(page) = store.users(None, 100) {
            assert_eq!(page.users.len(), whole.len());
        }
    }
    assert!(hidden > 0);
}

/// Repairs a store and opens it again: it is clean then, and a second repair changes nothing.
fn repair(fs: &RecordingFs, shards: u32) -> (Store, Repaired) {
    let store = open(fs, shards);
    let done = store.repair().unwrap();
    drop(store);
    let store = open(fs, shards);
    assert_eq!(store.doctor().unwrap().damaged, [], "after {done:?}");
    let again = store.repair().unwrap();
    assert!(again.is_unchanged(), "{again:?}");
    (store, done)
}

/// What is there after a repair is as it was, or named.
fn check_repaired(before: &State, store: &Store, done: &Repaired, says: &str) {
    let after = state_of(store).unwrap();
    for (user, memories) in before {
        let kept = after.get(user);
        for (id, seen) in memories {
            match kept.and_then(|kept| kept.get(id)) {
                None => assert!(!done.lost.is_empty(), "{says}: {user} {id:?} is gone without a word"),
                Some(found) if found != seen => {
                    assert!(found.version < seen.version && !done.older.is_empty(), "{says}: {found:?}, not {seen:?}");
                }
                Some(_) => {}
            }
        }
        assert!(kept.is_none_or(|kept| kept.keys().all(|id| memories.contains_key(id))), "{says}: something came back");
    }
    assert!(after.keys().all(|user| before.contains_key(user)), "{says}: {:?}", after.keys());
    for user in after.keys() {
        let handle = store.user(user).unwrap().with_level(Sensitivity::Secret);
        handle.recall(Query::vector(vec![0.5; support::DIMS]).limit(5)).unwrap();
        handle.recall(Query::text("number changed corrected")).unwrap();
        handle.remember(note(1 << 40, "after the repair", vec![1.0; support::DIMS])).unwrap();
        handle.forget(id(1 << 40)).unwrap();
    }
    assert_eq!(store.doctor().unwrap().damaged, [], "{says}: after writes");
}

fn flips_are_repaired(count: u64, seed: u64) {
    let fs = closed(1, 300);
    let before = state_of(&open(&fs, 1)).unwrap();
    let clean = read(&fs, SHARD);
    let sealed = frames(&clean);
    let mut random = SplitMix64::new(seed);
    let (mut whole, mut rebuilt) = (0, 0);
    for n in 0..count {
        let image = fs.snapshot();
        let (at, len) = sealed[random.below(sealed.len() as u64) as usize];
        let (at, bit) = (at + random.below(len as u64) as usize, random.below(8) as u8);
        flip(&image, SHARD, at, bit);
        let says = format!("flip {n}: bit {bit} of byte {at}");
        let (store, done) = repair(&image, 1);
        check_repaired(&before, &store, &done, &says);
        rebuilt += u64::from(done.shards > 0);
        whole += u64::from(done.lost.is_empty() && done.older.is_empty());
    }
    println!("{count} flips, {rebuilt} shards built anew, nothing was lost in {whole}");
}

#[test]
fn after_a_repair_everything_that_can_be_reached_is_served() {
    flips_are_repaired(25, 21);
}

#[test]
#[ignore = "takes minutes; the short ones run always"]
fn after_any_of_a_thousand_repairs_everything_that_can_be_reached_is_served() {
    flips_are_repaired(1000, 22);
}

#[test]
fn damaged_pages_of_the_tree_lose_nothing_that_is_sealed_elsewhere() {
    let fs = compact(1, 0);
    let before = state_of(&open(&fs, 1)).unwrap();
    let clean = read(&fs, SHARD);
    let mut random = SplitMix64::new(12);
    let pages: Vec<usize> = (PAGE..clean.len()).step_by(PAGE).filter(|at| matches!(clean[*at], 1 | 2)).collect();
    for n in 0..5 {
        let image = fs.snapshot();
        let at = pages[random.below(pages.len() as u64) as usize];
        // The number of entries: every value is still there, no page leads to it.
        flip(&image, SHARD, at + 2 + (n % 2), random.below(8) as u8);
        let (store, done) = repair(&image, 1);
        assert_eq!(done.lost, [], "page at {at}");
        // Where the page is of table users, nothing proves that the rows found are the latest, and it says so.
        assert!(done.older.iter().all(|damage| damage.part == "users" && damage.memory.is_none()), "{done:?}");
        assert_eq!(state_of(&store).unwrap(), before, "page at {at}: {done:?}");
    }
}

#[test]
fn files_that_are_cut_swapped_or_zeroed_are_repaired() {
    let fs = closed(2, 0);
    let before = state_of(&open(&fs, 2)).unwrap();
    let (a, b) = (read(&fs, SHARD), read(&fs, "shards/01.redb"));
    let zeroed = |bytes: &[u8], page: usize| {
        let mut bytes = bytes.to_vec();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        bytes
    };
    let spoil: [(&str, Spoil<'_>); 6] = [
        ("cut", &|image| write(image, SHARD, &a[..a.len() / 2])),
        ("head zeroed", &|image| write(image, SHARD, &zeroed(&a, 0))),
        ("page zeroed", &|image| write(image, SHARD, &zeroed(&a, 5))),
        ("empty", &|image| write(image, SHARD, &[])),
        ("missing", &|image| image.remove_file(&Path::new(PATH).join(SHARD)).unwrap()),
        ("swapped", &|image| {
            write(image, SHARD, &b);
            write(image, "shards/01.redb", &a);
        }),
    ];
    for (says, spoil) in spoil {
        let image = fs.snapshot();
        spoil(&image);
        let (store, done) = repair(&image, 2);
        check_repaired(&before, &store, &done, says);
        // That page may be free.
        assert!(done.shards > 0 || says == "page zeroed", "{says}");
        if ["head zeroed", "swapped"].contains(&says) {
            assert_eq!(done.lost, [], "{says}");
        }
    }
}

#[test]
fn copies_of_manifest_and_keyring_are_written_from_each_other() {
    let fs = closed(1, 0);
    let before = state_of(&open(&fs, 1)).unwrap();
    let manifest = read(&fs, "MANIFEST");
    let keyring = [20, PAGE + 20, 4 * PAGE + 40, 4 * PAGE + 256 + 90, 5 * PAGE + 40];
    let places = [("MANIFEST", 12), ("MANIFEST", manifest.len() - 6)].into_iter();
    for (file, at) in places.chain(keyring.map(|at| ("KEYRING", at))) {
        let image = fs.snapshot();
        flip(&image, file, at, 3);
        let (store, _) = repair(&image, 1);
        assert_eq!(state_of(&store).unwrap(), before, "{file} {at}");
    }
}

#[test]
fn a_user_whose_keys_are_gone_is_named_as_lost_and_may_come_back() {
    let fs = closed(1, 0);
    let mut before = state_of(&open(&fs, 1)).unwrap();
    flip(&fs, "KEYRING", 4 * PAGE + 40, 1);
    flip(&fs, "KEYRING", 5 * PAGE + 40, 1);
    let (store, done) = repair(&fs, 1);
    assert_eq!(done.lost.len(), 1, "{done:?}");
    before.remove("ada");
    assert_eq!(state_of(&store).unwrap(), before);
    store.user("ada").unwrap().remember(note(1, "back", vec![1.0; support::DIMS])).unwrap();
    assert_eq!(store.doctor().unwrap().damaged, []);
}

#[test]
fn a_repair_is_whole_or_has_not_happened() {
    let fs = closed(1, 0);
    let before = state_of(&open(&fs, 1)).unwrap();
    let clean = read(&fs, SHARD);
    let (at, len) = frames(&clean)[40];
    flip(&fs, SHARD, at + len - 1, 1);
    let first = fs.op_count();
    let store = open(&fs, 1);
    store.repair().unwrap();
    drop(store);
    let last = fs.op_count();
    for op in (first..=last).step_by(3) {
        for choice in mnemic::world::testing::CrashChoice::mix(op as u64, 2) {
            let image = fs.crash_image(op, choice);
            let (store, done) = repair(&image, 1);
            let after = state_of(&store).unwrap();
            assert!(!done.lost.is_empty() || !done.older.is_empty() || after == before || done.shards == 0, "op {op}");
        }
    }
}
