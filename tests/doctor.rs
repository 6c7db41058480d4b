//! Whatever is damaged, the doctor names it; and a store that is whole is called so.

mod support;

use std::path::Path;
use std::time::Duration;

use mnemic::memory::{NewMemory, Sensitivity};
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{Correction, Diagnosis, ErrorKind, Query, Store, Update};
use support::{PATH, builder, id, note, state_of, vector, world_over};

const SHARD: &str = "shards/00.redb";
const PAGE: usize = 4096;

fn read(fs: &RecordingFs, file: &str) -> Vec<u8> {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::Read).unwrap();
    let mut bytes = vec![0; open.len().unwrap() as usize];
    open.read_at(0, &mut bytes).unwrap();
    bytes
}

fn write(fs: &RecordingFs, file: &str, bytes: &[u8]) {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::ReadWrite).unwrap();
    open.set_len(bytes.len() as u64).unwrap();
    open.write_at(0, bytes).unwrap();
}

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
    let starts = bytes.windows(4).enumerate().filter(|(_, magic)| *magic == b"MNF\0").map(|(at, _)| at);
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

fn every_flip_is_found(count: u64) {
    let fs = compact(1, 2500);
    let clean = read(&fs, SHARD);
    let sealed = frames(&clean);
    println!("{} bytes, {} values", clean.len(), sealed.len());
    let mut random = SplitMix64::new(11);
    for n in 0..count {
        let image = fs.snapshot();
        let (at, len) = sealed[random.below(sealed.len() as u64) as usize];
        let (at, bit) = (at + random.below(len as u64) as usize, random.below(8) as u8);
        flip(&image, SHARD, at, bit);
        let found = diagnose(&image, 1);
        assert!(!found.is_clean(), "flip {n}: bit {bit} of byte {at} was not found");
    }
}

#[test]
fn every_bit_that_flips_in_a_value_is_found() {
    every_flip_is_found(60);
}

#[test]
#[ignore = "takes minutes; the short one runs always"]
fn every_one_of_a_thousand_bits_is_found() {
    every_flip_is_found(1000);
}

#[test]
fn a_bit_that_flips_in_a_page_of_the_tree_is_found_unless_the_page_is_free() {
    let fs = compact(1, 300);
    let clean = read(&fs, SHARD);
    let mut random = SplitMix64::new(12);
    let (mut found, mut free) = (0, 0);
    for at in (PAGE..clean.len()).step_by(PAGE).filter(|at| matches!(clean[*at], 1 | 2)) {
        if random.below(6) > 0 {
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
    assert!(found > 5, "only {found} pages were in use");
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
    let spoil: [&dyn Fn(&RecordingFs); 4] = [
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
