//! An export is read back without a loss, once, whole, and without what was forgotten.

mod support;

use std::io::Cursor;

use mnemic::memory::{NewMemory, Sensitivity};
use mnemic::world::testing::{CrashChoice, RecordingFs, SplitMix64};
use mnemic::{Correction, ErrorKind, Imported, Store, Update, User};
use support::{builder, id, note, state_of, vector, world_over};

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).open().unwrap()
}

fn user(store: &Store) -> User {
    store.user("ada").unwrap().with_level(Sensitivity::Secret)
}

fn exported(user: &User) -> Vec<u8> {
    let mut out = Vec::new();
    let done = user.export(&mut out).unwrap();
    assert_eq!(done.damaged, Vec::<String>::new());
    assert_eq!(std::str::from_utf8(&out).unwrap().lines().count() as u64, done.memories + 1);
    out
}

/// The lines of memories, without the manifest.
fn lines(export: &[u8]) -> &str {
    let text = std::str::from_utf8(export).unwrap();
    &text[..text.rfind("{\"mnemic\"").unwrap()]
}

fn import(user: &User, export: &[u8]) -> mnemic::Result<Imported> {
    user.import(&mut Cursor::new(export))
}

/// A closed block, a tail, and every verb that leaves a trace in a record.
fn filled(fs: &RecordingFs) -> Store {
    let (store, mut random) = (open(fs, 1), SplitMix64::new(5));
    let ada = user(&store);
    let news: Vec<NewMemory> = (0..300).map(|n| note(n, &format!("memory {n}"), vector(&mut random))).collect();
    assert!(ada.remember_all(news).unwrap().iter().all(Result::is_ok));
    ada.remember(NewMemory::note("no vector").id(id(400)).derived_from(id(3)).candidate()).unwrap();
    ada.remember(note(401, "secret", vector(&mut random)).sensitivity(Sensitivity::Secret)).unwrap();
    ada.update(id(1), Update::new().text("changed").vector(vector(&mut random))).unwrap();
    ada.update(id(2), Update::new().text("changed without")).unwrap();
    ada.update(id(3), Update::new().archive()).unwrap();
    ada.correct(id(4), Correction::new("right").vector(vector(&mut random))).unwrap();
    ada.confirm(id(5)).unwrap();
    ada.contradict(id(6)).unwrap();
    ada.used([id(7), id(299)]).unwrap();
    store
}

#[test]
fn what_is_read_back_is_written_out_the_same() {
    let (fs, other) = (RecordingFs::new(), RecordingFs::new());
    let (store, second) = (filled(&fs), open(&other, 2));
    let first = exported(&user(&store));
    let done = import(&user(&second), &first).unwrap();
    assert_eq!((done.own, done.stored, done.unchanged, done.conflicts, done.refused), (false, 303, 0, 0, 0));
    assert_eq!(lines(&exported(&user(&second))), lines(&first));
    assert_eq!(state_of(&second).unwrap(), state_of(&store).unwrap());
    let again = import(&user(&second), &first).unwrap();
    assert_eq!((again.stored, again.unchanged), (0, 303));
    let own = import(&user(&store), &first).unwrap();
    assert_eq!((own.own, own.stored, own.unchanged), (true, 0, 303));
    user(&second).confirm(id(5)).unwrap();
    assert_eq!(import(&user(&second), &first).unwrap().conflicts, 1);
    second.close().unwrap();
    drop(second);
    let reopened = exported(&user(&open(&other, 3)));
    assert_eq!(lines(&reopened).lines().count(), 303);
}

#[test]
fn nothing_above_the_level_is_in_it() {
    let store = filled(&RecordingFs::new());
    let mut out = Vec::new();
    let done = store.user("ada").unwrap().export(&mut out).unwrap();
    assert_eq!(done.memories, 302);
    assert!(!lines(&out).contains("\"secret\""));
}

#[test]
fn a_change_anywhere_is_found_before_anything_is_stored() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(3));
    let store = filled(&fs);
    let export = exported(&user(&store));
    for _ in 0..300 {
        let (mut changed, at) = (export.clone(), random.below(export.len() as u64) as usize);
        changed[at] ^= 1 << random.below(8);
        let cut = export[..random.below(export.len() as u64) as usize].to_vec();
        for bad in [changed, cut] {
            let target = open(&RecordingFs::new(), 7);
            // Another store can't check the tag, but for what it says of where it comes from.
            let own = import(&user(&store), &bad).unwrap_err();
            assert!(matches!(own.kind(), ErrorKind::Invalid | ErrorKind::Unsupported), "{own}");
            if at < export.len() - 600
                && let Err(error) = import(&user(&target), &bad)
            {
                assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported), "{error}");
                assert_eq!(target.user_count().unwrap(), 0);
            }
        }
    }
}

#[test]
fn what_was_forgotten_since_stays_forgotten() {
    let fs = RecordingFs::new();
    let store = filled(&fs);
    let ada = user(&store);
    let before = exported(&ada);
    ada.forget(id(7)).unwrap();
    ada.forget(id(3)).unwrap();
    let done = import(&ada, &before).unwrap();
    assert_eq!((done.stored, done.refused), (0, 3), "the memory that was made of it alone went too");
    ada.remember(NewMemory::note("said again").id(id(7))).unwrap();
    let after = exported(&ada);
    assert_eq!(import(&ada, &after).unwrap().refused, 0);
    // A copy for another user is no way round it.
    let bob = store.user("bob").unwrap().with_level(Sensitivity::Secret);
    let done = import(&bob, &before).unwrap();
    assert_eq!((done.stored, done.refused), (300, 3));
    store.forget_user("ada").unwrap();
    for name in ["ada", "bob", "cleo"] {
        let done = import(&store.user(name).unwrap(), &before).unwrap();
        assert_eq!((done.stored, done.refused), (0, 303), "{name}");
    }
}

#[test]
fn an_import_that_was_cut_off_goes_on() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(4));
    let store = open(&RecordingFs::new(), 1);
    for part in 0..3 {
        let numbers = part * 800..(part + 1) * 800;
        let news: Vec<NewMemory> = numbers.map(|n| note(n, &format!("memory {n}"), vector(&mut random))).collect();
        assert!(user(&store).remember_all(news).unwrap().iter().all(Result::is_ok));
    }
    let export = exported(&user(&store));
    let target = open(&fs, 2);
    let before = fs.op_count();
    assert_eq!(import(&user(&target), &export).unwrap().stored, 2400);
    let whole = state_of(&target).unwrap();
    let ops = fs.op_count();
    for op in (before..=ops).step_by(((ops - before) / 7).max(1)) {
        let image = fs.crash_image(op, CrashChoice::Torn { grain: 512, seed: op as u64 });
        let target = open(&image, 3);
        let there = state_of(&target).unwrap().get("ada").map_or(0, std::collections::BTreeMap::len) as u64;
        assert!(there.is_multiple_of(1000) || there == 2400, "a batch is whole or absent: {there}");
        let done = import(&user(&target), &export).unwrap();
        assert_eq!((done.unchanged, done.stored), (there, 2400 - there));
        assert_eq!(state_of(&target).unwrap(), whole);
        assert_eq!(lines(&exported(&user(&target))), lines(&export));
    }
}
