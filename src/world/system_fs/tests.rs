//! The system's files keep the trait's promises.

use std::path::Path;

use super::*;
use crate::world::{is_same_file, read_to_vec, write_new_durable};

#[test]
fn bytes_and_lengths_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let file = SystemFs.open(&path, OpenMode::CreateNew).unwrap();
    file.write_at(3, b"xyz").unwrap();
    file.sync().unwrap();
    assert_eq!(file.len().unwrap(), 6);
    let mut bytes = [9; 6];
    file.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"\0\0\0xyz");
    assert_eq!(file.read_at(1, &mut bytes).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(SystemFs.open(&path, OpenMode::CreateNew).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    SystemFs.sync_dir(dir.path()).unwrap();
    assert_eq!(SystemFs.list(dir.path()).unwrap(), ["a"]);
}

#[test]
fn private_files_are_private_from_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    SystemFs.open(&path, OpenMode::CreateNewPrivate).unwrap();
    assert!(SystemFs.metadata(&path).unwrap().is_private);
}

#[test]
fn a_lock_excludes_other_handles_until_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("LOCK");
    let guard = SystemFs.try_lock(&path).unwrap().unwrap();
    assert!(SystemFs.try_lock(&path).unwrap().is_none());
    guard.write_at(0, b"42").unwrap();
    drop(guard);
    assert!(SystemFs.try_lock(&path).unwrap().is_some());
    assert_eq!(read_to_vec(&SystemFs, &path, 8).unwrap().as_deref(), Some(&b"42"[..]));
}

#[test]
fn a_replaced_or_unlinked_file_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    write_new_durable(&SystemFs, &path, b"1").unwrap();
    let file = SystemFs.open(&path, OpenMode::Read).unwrap();
    assert!(is_same_file(&SystemFs, &path, file.as_ref()).unwrap());
    write_new_durable(&SystemFs, &path, b"2").unwrap();
    assert!(!is_same_file(&SystemFs, &path, file.as_ref()).unwrap());
    SystemFs.remove_file(&path).unwrap();
    assert!(!is_same_file(&SystemFs, Path::new(&path), file.as_ref()).unwrap());
}
