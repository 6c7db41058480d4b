//! The semantics that crash tests build on.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

fn open(fs: &RecordingFs, name: &str, mode: OpenMode) -> Box<dyn File> {
    fs.open(Path::new(name), mode).unwrap()
}

fn read(fs: &RecordingFs, name: &str) -> Vec<u8> {
    let file = open(fs, name, OpenMode::Read);
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

/// A durable empty file.
fn durable_file(fs: &RecordingFs, name: &str) -> Box<dyn File> {
    let file = open(fs, name, OpenMode::CreateNew);
    fs.sync_dir(Path::new("")).unwrap();
    file
}

fn names(fs: &RecordingFs) -> Vec<String> {
    fs.list(Path::new("/")).unwrap()
}

#[test]
fn synced_bytes_outlive_every_crash_and_others_may_not() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    file.write_at(0, b"one").unwrap();
    file.sync().unwrap();
    file.write_at(3, b"two").unwrap();
    let end = fs.op_count();
    assert_eq!(read(&fs.crash_image(end, CrashChoice::None), "a"), b"one");
    assert_eq!(read(&fs.crash_image(end, CrashChoice::All), "a"), b"onetwo");
    let images: BTreeSet<_> =
        (0..40).map(|seed| read(&fs.crash_image(end, CrashChoice::Subset { seed }), "a")).collect();
    assert_eq!(images.into_iter().collect::<Vec<_>>(), [b"one".to_vec(), b"onetwo".to_vec()]);
}

#[test]
fn a_torn_write_breaks_at_the_grain_only() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    file.write_at(0, &[1; 4096]).unwrap();
    file.sync().unwrap();
    file.write_at(100, &[2; 3000]).unwrap();
    let mut mixed = 0;
    for seed in 0..100 {
        let bytes = read(&fs.crash_image(fs.op_count(), CrashChoice::Torn { grain: 512, seed }), "a");
        for (index, sector) in bytes.chunks(512).enumerate() {
            let written = &sector[if index == 0 { 100 } else { 0 }..if index == 6 { 28 } else { 512 }];
            assert!(index == 7 || written.iter().all(|byte| *byte == written[0]));
        }
        mixed += usize::from(bytes[100..3100].contains(&1) && bytes[100..3100].contains(&2));
    }
    assert!(mixed > 50);
}

#[test]
fn names_need_a_sync_of_their_directory() {
    let fs = RecordingFs::new();
    let file = open(&fs, "a", OpenMode::CreateNew);
    file.write_at(0, b"x").unwrap();
    file.sync_all().unwrap();
    assert!(names(&fs.crash_image(fs.op_count(), CrashChoice::None)).is_empty());
    fs.sync_dir(Path::new(".")).unwrap();
    fs.rename(Path::new("a"), Path::new("b")).unwrap();
    let end = fs.op_count();
    assert_eq!(names(&fs.crash_image(end, CrashChoice::None)), ["a"]);
    assert_eq!(names(&fs.crash_image(end, CrashChoice::All)), ["b"]);
    fs.sync_dir(Path::new("")).unwrap();
    fs.remove_file(Path::new("b")).unwrap();
    let end = fs.op_count();
    assert_eq!(names(&fs.crash_image(end, CrashChoice::None)), ["b"]);
    assert!(names(&fs.crash_image(end, CrashChoice::All)).is_empty());
}

#[test]
fn a_rename_may_outlive_a_lost_create() {
    let fs = RecordingFs::new();
    let file = open(&fs, "t", OpenMode::CreateNew);
    file.write_at(0, b"new").unwrap();
    file.sync().unwrap();
    fs.rename(Path::new("t"), Path::new("final")).unwrap();
    let images: BTreeSet<_> =
        (0..60).map(|seed| names(&fs.crash_image(fs.op_count(), CrashChoice::Subset { seed }))).collect();
    assert_eq!(images.len(), 3, "{images:?}");
    assert!(images.contains(&vec!["final".to_owned()]));
}

#[test]
fn a_rename_between_directories_waits_for_both() {
    let fs = RecordingFs::new();
    fs.create_dir_all(Path::new("x/y")).unwrap();
    open(&fs, "x/f", OpenMode::CreateNew);
    for dir in ["", "x", "x/y"] {
        fs.sync_dir(Path::new(dir)).unwrap();
    }
    fs.rename(Path::new("x/f"), Path::new("x/y/f")).unwrap();
    fs.sync_dir(Path::new("x/y")).unwrap();
    let half = fs.crash_image(fs.op_count(), CrashChoice::None);
    assert!(half.exists(Path::new("x/f")).unwrap() && !half.exists(Path::new("x/y/f")).unwrap());
    fs.sync_dir(Path::new("x")).unwrap();
    let whole = fs.crash_image(fs.op_count(), CrashChoice::None);
    assert!(!whole.exists(Path::new("x/f")).unwrap() && whole.exists(Path::new("x/y/f")).unwrap());
}

#[test]
fn an_image_is_a_file_system_of_its_own() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    file.write_at(0, b"one").unwrap();
    let image = fs.crash_image(fs.op_count(), CrashChoice::All);
    let copy = open(&image, "a", OpenMode::ReadWrite);
    copy.write_at(0, b"TWO").unwrap();
    assert_eq!((read(&fs, "a"), read(&image, "a")), (b"one".to_vec(), b"TWO".to_vec()));
    assert_eq!(image.op_count(), 1);
    assert_eq!(read(&image.crash_image(1, CrashChoice::None), "a"), b"one");
    assert_eq!(names(&fs.crash_image(0, CrashChoice::All)), [""; 0]);
}

#[test]
fn lengths_cut_and_extend_with_zeros() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    file.write_at(4090, &[7; 20]).unwrap();
    file.set_len(4100).unwrap();
    file.set_len(9000).unwrap();
    let bytes = read(&fs, "a");
    assert_eq!((bytes.len(), &bytes[4089..4101]), (9000, &[0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0][..]));
    assert_eq!(fs.used_bytes(), 8192);
    assert_eq!(file.set_len(u64::MAX).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert!(file.write_at(u64::MAX, b"x").is_err());
}

#[test]
fn a_failed_sync_loses_writes_that_a_later_sync_does_not_bring_back() {
    let mut lost = 0;
    for extra in 0..30 {
        let fs = RecordingFs::new();
        let file = durable_file(&fs, "a");
        (0..extra).for_each(|_| file.set_len(3).unwrap());
        file.write_at(0, b"one").unwrap();
        fs.fail_at(0, FaultKind::FailedSync, Repeat::Once);
        assert!(file.sync().is_err());
        file.sync().unwrap();
        assert_eq!((read(&fs, "a"), fs.faults_met()), (b"one".to_vec(), 1));
        lost += usize::from(read(&fs.crash_image(fs.op_count(), CrashChoice::All), "a") != b"one");
    }
    assert!((1..30).contains(&lost), "{lost}");
}

#[test]
fn faults_hit_the_call_they_name() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    fs.fail_at(1, FaultKind::ShortWrite, Repeat::Once);
    file.write_at(0, b"abcd").unwrap();
    assert_eq!(file.write_at(0, b"WXYZ").unwrap_err().kind(), io::ErrorKind::WriteZero);
    assert_eq!(read(&fs, "a"), b"WXcd");
    fs.fail_at(0, FaultKind::Enospc, Repeat::Forever);
    file.write_at(0, b"overwriting takes no room").unwrap();
    for _ in 0..2 {
        assert_eq!(file.write_at(8192, b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
    fs.clear_faults();
    fs.fail_at(0, FaultKind::Eintr, Repeat::Forever);
    assert_eq!(file.sync().unwrap_err().kind(), io::ErrorKind::Interrupted);
    file.sync().unwrap();
}

#[test]
fn a_full_disk_has_room_again_after_a_removal() {
    let fs = RecordingFs::new();
    let reserve = durable_file(&fs, "RESERVE");
    reserve.write_at(0, &[1; 8192]).unwrap();
    let file = durable_file(&fs, "a");
    fs.set_capacity(Some(8192));
    assert_eq!(file.write_at(0, b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
    fs.remove_file(Path::new("RESERVE")).unwrap();
    file.write_at(0, b"x").unwrap();
}

#[test]
fn a_lock_belongs_to_one_handle() {
    let fs = RecordingFs::new();
    let guard = fs.try_lock(Path::new("LOCK")).unwrap();
    assert!(guard.is_some() && fs.try_lock(Path::new("LOCK")).unwrap().is_none());
    assert!(fs.crash_image(fs.op_count(), CrashChoice::All).try_lock(Path::new("LOCK")).unwrap().is_some());
    drop(guard);
    assert!(fs.try_lock(Path::new("LOCK")).unwrap().is_some());
}

#[test]
fn unlinked_files_live_on_in_their_handles() {
    let fs = RecordingFs::new();
    fs.create_dir_all(Path::new("/d/e")).unwrap();
    let file = open(&fs, "d/e/f", OpenMode::CreateNewPrivate);
    assert!(fs.metadata(Path::new("d/e/f")).unwrap().is_private);
    fs.remove_dir_all(Path::new("d")).unwrap();
    file.write_at(0, b"x").unwrap();
    assert!(names(&fs).is_empty());
    assert_eq!(fs.open(Path::new("d/e/f"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(fs.open(Path::new("../f"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn images_in_log_order_are_cheap() {
    let fs = RecordingFs::new();
    let file = durable_file(&fs, "a");
    file.set_len(4 << 20).unwrap();
    for step in 0..2000_u64 {
        file.write_at(step * 4096 % (4 << 20), &[step as u8; 4096]).unwrap();
        if step % 16 == 0 {
            file.sync().unwrap();
        }
    }
    let mut seen = 0;
    for op in 0..fs.op_count() {
        for choice in CrashChoice::mix(op as u64, 10) {
            seen += names(&fs.crash_image(op, choice)).len();
        }
    }
    assert!(seen > 20_000);
}
