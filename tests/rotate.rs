//! New keys: nothing is lost, and a failing disk leaves the old key or the new one.

mod support;

use mnemic::memory::Sensitivity;
use mnemic::world::testing::{FaultKind, RecordingFs, Repeat};
use mnemic::{ErrorKind, MasterKey, Store, Verdict};
use support::{DIMS, builder, id, note, state_of, world_over};

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).open().unwrap()
}

fn filled(fs: &RecordingFs) -> Store {
    let store = open(fs, 1);
    let ada = store.user("ada").unwrap().with_level(Sensitivity::Secret);
    let news = (0..300).map(|n| note(n, &format!("memory {n}"), vec![1.0 + n as f32; DIMS]));
    assert!(ada.remember_all(news).unwrap().iter().all(Result::is_ok));
    store
}

#[test]
fn a_new_user_key_changes_nothing_that_is_seen() {
    let fs = RecordingFs::new();
    let store = filled(&fs);
    let ada = store.user("ada").unwrap();
    let snapshot = store.snapshot().unwrap();
    let receipt = ada.forget(id(3)).unwrap().receipt().clone();
    let before = state_of(&store).unwrap();
    assert_eq!(ada.rotate_keys().unwrap(), 0);
    assert_eq!(state_of(&store).unwrap(), before);
    assert_eq!(store.verify_receipt(&receipt).unwrap(), Verdict::Holds);
    let done = store.restore_user(snapshot.id, "ada").unwrap();
    assert_eq!((done.unchanged, done.refused, done.damaged), (299, 1, 0));
    assert_eq!(store.user("bob").unwrap().rotate_keys().unwrap_err().kind(), ErrorKind::NotFound);
    store.close().unwrap();
    let store = open(&fs, 2);
    assert_eq!(state_of(&store).unwrap(), before);
    assert_eq!(store.verify_receipt(&receipt).unwrap(), Verdict::Holds);
    store.close().unwrap();
    assert_eq!(store.rotate_keys(&MasterKey::local_file()).unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn a_failing_disk_leaves_the_old_key_or_the_new_one() {
    let keys = || [MasterKey::local_file(), MasterKey::callback(|| Ok([5; 32]))];
    for new in 0..2 {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for nth in 1.. {
                let fs = RecordingFs::new();
                let store = filled(&fs);
                fs.fail_at(nth, FaultKind::Eio, repeat);
                let outcome = store.rotate_keys(&keys()[new]);
                let met = fs.faults_met() > 0;
                fs.clear_faults();
                drop(store);
                let image = fs.snapshot();
                let opens = |key: usize| {
                    let world = world_over(&image.snapshot(), 3);
                    builder(&world).master_key(keys()[key].clone()).open().is_ok_and(|s| s.user_count().unwrap() == 1)
                };
                assert!(opens(0) || opens(1), "fault {nth}");
                assert!(outcome.is_err() || opens(new), "fault {nth}");
                if !met {
                    assert!(outcome.is_ok() && nth > 4);
                    break;
                }
            }
        }
    }
}

#[test]
fn a_refused_key_changes_nothing() {
    let fs = RecordingFs::new();
    let store = filled(&fs);
    assert_eq!(store.rotate_keys(&MasterKey::passphrase("")).unwrap_err().kind(), ErrorKind::Invalid);
    let failing = MasterKey::callback(|| Err("away".to_owned()));
    assert_eq!(store.rotate_keys(&failing).unwrap_err().kind(), ErrorKind::Denied);
    store.close().unwrap();
    assert_eq!(open(&fs, 2).user_count().unwrap(), 1);
}
