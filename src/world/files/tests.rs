//! Whole-file helpers under crashes and faults.

use std::path::Path;

use super::*;
use crate::ErrorKind;
use crate::world::testing::{CrashChoice, FaultKind, RecordingFs, Repeat};

const NAME: &str = "MANIFEST";

fn read(fs: &RecordingFs) -> Option<Vec<u8>> {
    read_to_vec(fs, Path::new(NAME), 64).unwrap()
}

#[test]
fn a_missing_file_is_none_and_a_long_one_is_corrupt() {
    let fs = RecordingFs::new();
    assert_eq!(read(&fs), None);
    write_new_durable(&fs, Path::new(NAME), &[7; 65]).unwrap();
    assert_eq!(read_to_vec(&fs, Path::new(NAME), 64).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn replacing_survives_a_power_cut_at_every_operation() {
    let fs = RecordingFs::new();
    write_new_durable(&fs, Path::new(NAME), b"old").unwrap();
    let before = fs.op_count();
    write_new_durable(&fs, Path::new(NAME), b"new").unwrap();
    for op in before..=fs.op_count() {
        for choice in CrashChoice::mix(op as u64, 8) {
            let found = read(&fs.crash_image(op, choice));
            let allowed: &[&[u8]] = if op == fs.op_count() { &[b"new"] } else { &[b"old", b"new"] };
            assert!(found.as_deref().is_some_and(|bytes| allowed.contains(&bytes)), "{op} {choice:?} {found:?}");
        }
    }
}

#[test]
fn every_fault_leaves_the_old_or_the_new_file() {
    for kind in FaultKind::ALL {
        for n in 0.. {
            let fs = RecordingFs::new();
            write_new_durable(&fs, Path::new(NAME), b"old").unwrap();
            fs.fail_at(n, kind, Repeat::Forever);
            let outcome = write_new_durable(&fs, Path::new(NAME), b"new");
            let met = fs.faults_met() > 0;
            fs.clear_faults();
            assert_eq!(outcome.is_err(), met && kind != FaultKind::Eintr, "{kind:?} {n}");
            let found = read(&fs).unwrap();
            assert!(found == b"new" || (outcome.is_err() && found == b"old"));
            if !met {
                break;
            }
        }
    }
}

#[test]
fn errors_name_the_file_without_its_directory() {
    let error = file_error("read", Path::new("/secret/place/KEYRING"), io::ErrorKind::PermissionDenied.into());
    assert_eq!(error.to_string(), "cannot read KEYRING");
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[test]
fn a_replace_without_syncs_is_caught() {
    let fs = RecordingFs::new();
    write_new_durable(&fs, Path::new(NAME), b"old").unwrap();
    let before = fs.op_count();
    let file = fs.open(Path::new("careless"), OpenMode::CreateNew).unwrap();
    file.write_at(0, b"new").unwrap();
    fs.rename(Path::new("careless"), Path::new(NAME)).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    let torn = (before..=fs.op_count())
        .flat_map(|op| CrashChoice::mix(op as u64, 8).map(move |choice| (op, choice)))
        .filter(|(op, choice)| read(&fs.crash_image(*op, *choice)).is_none_or(|bytes| bytes.is_empty()));
    assert!(torn.count() > 0);
}

#[test]
fn a_failed_write_leaves_no_temporary() {
    let fs = RecordingFs::new();
    fs.set_capacity(Some(4096));
    assert_eq!(write_new_durable(&fs, Path::new(NAME), &[1; 5000]).unwrap_err().kind(), ErrorKind::Io);
    assert!(fs.list(Path::new("")).unwrap().is_empty());
}
