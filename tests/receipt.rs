//! A receipt of a forgetting holds for good, and breaks when what was forgotten comes back.

mod support;

use std::path::Path;
use std::time::Duration;

use mnemic::memory::Sensitivity;
use mnemic::world::testing::RecordingFs;
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{ErrorKind, Receipt, Store, User, Verdict};
use support::{DIMS, PATH, builder, id, note, world_over};

const SHARD: &str = "shards/00.redb";

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).rewrite_min_bytes(0).open().unwrap()
}

fn user(store: &Store) -> User {
    store.user("ada").unwrap().with_level(Sensitivity::Secret)
}

fn fill(user: &User, numbers: std::ops::Range<u64>) {
    let news = numbers.map(|n| note(n, &format!("memory {n}"), vec![1.0 + n as f32; DIMS]));
    assert!(user.remember_all(news).unwrap().iter().all(Result::is_ok));
}

/// Puts a file of another moment in place.
fn put_back(from: &RecordingFs, to: &RecordingFs, name: &str) {
    let path = Path::new(PATH).join(name);
    let file = from.open(&path, OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    let file = to.open(&path, OpenMode::ReadWrite).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    file.write_at(0, &bytes).unwrap();
    file.sync_all().unwrap();
}

fn is_broken(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Broken(places) if !places.is_empty())
}

#[test]
fn it_holds_after_whatever_follows() {
    let fs = RecordingFs::new();
    let store = open(&fs, 1);
    let ada = user(&store);
    fill(&ada, 0..300);
    let snapshot = store.snapshot().unwrap();
    let first = ada.forget(id(7)).unwrap().receipt().clone();
    let second = ada.forget(id(299)).unwrap().receipt().clone();
    assert!(!first.is_of_user() && first.at() <= second.at());
    let check = |store: &Store, receipts: &[&Receipt]| {
        for receipt in receipts {
            assert_eq!(store.verify_receipt(receipt).unwrap(), Verdict::Holds);
        }
    };
    check(&store, &[&first, &second]);
    store.restore_user(snapshot.id, "ada").unwrap();
    store.maintain(Duration::MAX).unwrap();
    ada.remember(note(7, "memory 7", vec![1.0; DIMS])).unwrap();
    let later = store.snapshot().unwrap();
    store.restore_user(later.id, "ada").unwrap();
    check(&store, &[&first, &second]);
    let third = store.forget_user("ada").unwrap().receipt().clone();
    assert!(third.is_of_user());
    check(&store, &[&first, &second, &third]);
    fill(&ada, 0..3);
    let fourth = ada.forget(id(0)).unwrap().receipt().clone();
    check(&store, &[&first, &second, &third, &fourth]);
    store.close().unwrap();
    let store = open(&fs, 2);
    check(&store, &[&first, &second, &third, &fourth]);
    let again: Receipt = fourth.to_string().parse().unwrap();
    check(&store, &[&again]);
}

#[test]
fn a_forged_one_and_one_of_another_store_are_told() {
    let (fs, other) = (RecordingFs::new(), RecordingFs::new());
    let store = open(&fs, 1);
    fill(&user(&store), 0..3);
    let receipt = user(&store).forget(id(1)).unwrap().receipt().to_string();
    let digits = receipt.rfind('-').unwrap() + 1;
    for at in digits + 2..receipt.len() {
        let mut changed = receipt.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        match String::from_utf8(changed).unwrap().parse::<Receipt>() {
            Ok(changed) => assert_eq!(store.verify_receipt(&changed).unwrap(), Verdict::Forged, "digit {at}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Invalid),
        }
    }
    let stranger = open(&other, 2);
    fill(&user(&stranger), 0..3);
    assert_eq!(stranger.verify_receipt(&receipt.parse().unwrap()).unwrap(), Verdict::Forged);
}

#[test]
fn older_files_put_back_break_it() {
    for whole in [false, true] {
        let fs = RecordingFs::new();
        let store = open(&fs, 1);
        fill(&user(&store), 0..300);
        store.snapshot().unwrap();
        let before = fs.snapshot();
        let forgotten = if whole { store.forget_user("ada") } else { user(&store).forget(id(7)) };
        let receipt = forgotten.unwrap().receipt().clone();
        let after = fs.snapshot();
        assert_eq!(open(&after, 2).verify_receipt(&receipt).unwrap(), Verdict::Holds);
        for files in [&["KEYRING"][..], &[SHARD], &["KEYRING", SHARD]] {
            let image = after.snapshot();
            files.iter().for_each(|name| put_back(&before, &image, name));
            let verdict = open(&image, 3).verify_receipt(&receipt).unwrap();
            assert!(is_broken(verdict), "{files:?}, whole user: {whole}");
        }
    }
}

#[test]
fn nothing_of_an_unknown_user_is_a_shard_from_before() {
    let fs = RecordingFs::new();
    let store = open(&fs, 1);
    let empty = fs.snapshot();
    fill(&user(&store), 0..3);
    let receipt = store.forget_user("ada").unwrap().receipt().clone();
    put_back(&empty, &fs, SHARD);
    let image = fs.snapshot();
    assert!(is_broken(open(&image, 2).verify_receipt(&receipt).unwrap()));
}
