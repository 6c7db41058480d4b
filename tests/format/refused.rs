//! Stores of other formats and with unknown features: refused by name and left as they are, or left alone.

use std::fs;
use std::path::Path;

use mnemic::memory::NewMemory;
use mnemic::{ErrorKind, Store};

use crate::files::{still_world, tree};
use crate::script::user;

fn make(path: &Path) {
    let store = Store::builder(path).world(still_world()).shards(1).reserve_bytes(0).open().unwrap();
    user(&store, "ada").remember(NewMemory::note("x")).unwrap();
    store.close().unwrap();
    fs::remove_file(path.join("LOCK")).unwrap();
}

/// What opening says; nothing but the lock was touched.
#[track_caller]
fn refusal(path: &Path) -> String {
    fs::write(path.join("shards/01.redb.tmp"), b"of whoever wrote the store").unwrap();
    let before = tree(path);
    let error = Store::builder(path).world(still_world()).open().unwrap_err();
    fs::remove_file(path.join("LOCK")).unwrap();
    assert_eq!((error.kind(), tree(path) == before), (ErrorKind::Unsupported, true), "{error}");
    error.message().to_owned()
}

/// Sets the bytes at these places.
fn patch(file: &Path, places: &[usize], to: u8) {
    let mut bytes = fs::read(file).unwrap();
    places.iter().for_each(|at| bytes[*at] = to);
    fs::write(file, bytes).unwrap();
}

#[test]
fn other_formats_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let manifest = dir.path().join("MANIFEST");
    let copy = fs::read(&manifest).unwrap().len() / 2;
    patch(&manifest, &[8, copy + 8], 0);
    let says = refusal(dir.path());
    assert!(says.contains("format 0, a development format") && says.contains("export"), "{says}");
    patch(&manifest, &[8, copy + 8], 2);
    let says = refusal(dir.path());
    assert!(says.contains("format 2") && says.contains("newer mnemic"), "{says}");
    // The first copy decides: those of another format may be of another length.
    patch(&manifest, &[copy + 8], 1);
    patch(&manifest, &[copy + 40], 0xff);
    assert!(refusal(dir.path()).contains("format 2"));
}

#[test]
fn a_keyring_of_another_format_is_refused_and_one_flipped_byte_is_not() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let keyring = dir.path().join("KEYRING");
    patch(&keyring, &[8, 4096 + 8], 9);
    let error = Store::builder(dir.path()).world(still_world()).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("KEYRING: of format 9"), "{error}");
    patch(&keyring, &[8], 1);
    Store::builder(dir.path()).world(still_world()).reserve_bytes(0).open().unwrap().close().unwrap();
    let manifest = dir.path().join("MANIFEST");
    patch(&manifest, &[8], 0);
    let store = Store::builder(dir.path()).world(still_world()).reserve_bytes(0).open().unwrap();
    assert_eq!(store.doctor().unwrap().damaged[0].part, "MANIFEST");
    store.repair().unwrap();
    assert_eq!(store.doctor().unwrap().damaged, []);
}

/// The same MANIFEST with other features and more behind, as a newer version would write it.
fn with_features(file: &Path, incompatible: &[&str], compatible: &[&str], behind: &[u8]) {
    const EMPTY: [u8; 8] = [0; 8];
    let old = fs::read(file).unwrap();
    let len = u32::from_le_bytes(old[9..13].try_into().unwrap()) as usize;
    let rest = old[13..13 + len].strip_prefix(&EMPTY).expect("no features");
    let mut body = Vec::new();
    for set in [incompatible, compatible] {
        body.extend((set.len() as u32).to_le_bytes());
        set.iter().for_each(|name| body.extend([&(name.len() as u32).to_le_bytes()[..], name.as_bytes()].concat()));
    }
    body.extend([rest, behind].concat());
    let sum = crc32fast::hash(&body).to_le_bytes();
    let copy = [&old[..9], &(body.len() as u32).to_le_bytes(), &body, &sum].concat();
    fs::write(file, copy.repeat(2)).unwrap();
}

#[test]
fn an_unknown_feature_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    with_features(&dir.path().join("MANIFEST"), &["sessions"], &[], b"");
    let says = refusal(dir.path());
    assert!(says.contains("`sessions`") && says.contains("newer version"), "{says}");
}

#[test]
fn an_unknown_feature_that_is_compatible_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let manifest = dir.path().join("MANIFEST");
    with_features(&manifest, &[], &["hints"], b"whatever hints are");
    let before = fs::read(&manifest).unwrap();
    let store = Store::builder(dir.path()).world(still_world()).reserve_bytes(0).open().unwrap();
    assert_eq!(store.doctor().unwrap().damaged, []);
    // The first vector declares a space, which goes into MANIFEST.
    user(&store, "ada").remember(NewMemory::note("y").vector(vec![1.0; 8])).unwrap();
    store.close().unwrap();
    let after = fs::read(&manifest).unwrap();
    assert_ne!(before, after);
    let copy = &after[..after.len() / 2 - 4];
    assert!(copy.ends_with(b"whatever hints are") && copy.windows(5).any(|name| name == b"hints"));
}
