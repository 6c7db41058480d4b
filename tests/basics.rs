//! The main job at the distance a user stands.

use mnemic::memory::{NewMemory, Sensitivity, StatusKind, Timestamp};
use mnemic::{Correction, EmptyReason, ErrorKind, HashedNgrams, ListOptions, Query, Store, Update, WhyNot};

fn open(path: &std::path::Path) -> Store {
    Store::builder(path).embedder(HashedNgrams::new()).reserve_bytes(0).open().unwrap()
}

#[test]
fn what_is_remembered_is_recalled_before_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let (seat, jazz) = {
        let store = open(&path);
        let ada = store.user("ada").unwrap();
        let seat = ada.remember(NewMemory::preference("Prefers window seats on trains")).unwrap();
        let jazz = ada.remember(NewMemory::preference("Listens to jazz in the evening")).unwrap();
        let hits = ada.recall(Query::text("window seat")).unwrap();
        assert_eq!(hits[0].id(), seat);
        assert!(hits.iter().all(mnemic::Hit::verify));
        store.close().unwrap();
        (seat, jazz)
    };
    let store = open(&path);
    let ada = store.user("ada").unwrap();
    let hits = ada.recall(Query::text("jazz in the evening").limit(1)).unwrap();
    assert_eq!(hits[0].id(), jazz);
    assert_eq!(ada.get(seat).unwrap().text(), "Prefers window seats on trains");
    assert_eq!(
        store.user("bob").unwrap().recall(Query::text("jazz")).unwrap().reason(),
        Some(EmptyReason::NothingStored)
    );
    assert_eq!(store.user_count().unwrap(), 1);
}

#[test]
fn a_correction_supersedes_and_keeps_history() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("store"));
    let ada = store.user("ada").unwrap();
    let old = ada.remember(NewMemory::fact("Works at Acme").slot("user", "employer").value("Acme")).unwrap();
    let new = ada.correct(old, Correction::new("Works at Beta").value("Beta")).unwrap();
    let hits = ada.recall(Query::text("where does she work, at Acme or Beta?")).unwrap();
    assert_eq!(hits.iter().map(mnemic::Hit::id).collect::<Vec<_>>(), [new]);
    assert_eq!(ada.why_not(old, Query::text("Acme")).unwrap(), WhyNot::Status(StatusKind::Superseded));
    let history = ada.history(old).unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].before.as_ref().unwrap().text(), "Works at Acme");
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 2);
    assert_eq!(ada.update(new, Update::new().text("Works at Gamma")).unwrap(), 2);
    assert_eq!(ada.get(new).unwrap().text(), "Works at Gamma");
}

#[test]
fn what_is_forgotten_is_gone_by_every_path_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = open(&path);
    let ada = store.user("ada").unwrap();
    let ids: Vec<_> = (0..600).map(|i| NewMemory::note(format!("note number {i} on topic {}", i % 7))).collect();
    let ids: Vec<_> = ada.remember_all(ids).unwrap().into_iter().map(Result::unwrap).collect();
    ada.update(ids[300], Update::new().text("a changed note")).unwrap();
    for id in [ids[0], ids[300], ids[599]] {
        let forgotten = ada.forget(id).unwrap();
        assert_eq!(forgotten.memories, 1);
    }
    for round in 0..2 {
        let store = if round == 0 {
            store.clone()
        } else {
            store.close().unwrap();
            open(&path)
        };
        let ada = store.user("ada").unwrap();
        for id in [ids[0], ids[300], ids[599]] {
            assert_eq!(ada.get(id).unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(ada.why_not(id, Query::text("note")).unwrap(), WhyNot::NotStored);
        }
        assert_eq!(ada.recall(Query::text("note").limit(usize::MAX)).unwrap().len(), 597);
        assert_eq!(ada.list(ListOptions::new().limit(1000)).unwrap().memories.len(), 597);
        assert_eq!(ada.history(ids[301]).unwrap().len(), 1);
    }
}

#[test]
fn a_forgotten_user_starts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = open(&path);
    let (ada, bob) = (store.user("ada").unwrap(), store.user("bob").unwrap());
    let id = ada.remember(NewMemory::note("ada's note")).unwrap();
    bob.remember(NewMemory::note("bob's note")).unwrap();
    assert_eq!(store.forget_user("ada").unwrap().memories, 1);
    assert_eq!(store.forget_user("ada").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ada.get(id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.user_count().unwrap(), 1);
    let again = ada.remember(NewMemory::note("ada is back")).unwrap();
    drop((ada, bob));
    store.close().unwrap();
    let store = open(&path);
    let ada = store.user("ada").unwrap();
    assert_eq!(ada.get(again).unwrap().text(), "ada is back");
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 1);
    assert_eq!(store.user("bob").unwrap().list(ListOptions::new()).unwrap().total, 1);
    assert_eq!(store.users(None, 10).unwrap().users.len(), 2);
}

#[test]
fn nothing_above_the_handles_level_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("store"));
    let ada = store.user("ada").unwrap();
    let id = ada.remember(NewMemory::note("a secret note").sensitivity(Sensitivity::Secret)).unwrap();
    assert_eq!(ada.get(id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ada.recall(Query::text("secret")).unwrap().reason(), Some(EmptyReason::NothingStored));
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 0);
    assert_eq!(ada.recall(Query::text("x").level(Sensitivity::Secret)).unwrap_err().kind(), ErrorKind::Denied);
    let trusted = ada.with_level(Sensitivity::Secret);
    assert_eq!(trusted.recall(Query::text("secret")).unwrap()[0].id(), id);
    let personal = Query::text("secret").level(Sensitivity::Personal);
    assert_eq!(trusted.why_not(id, &personal).unwrap(), WhyNot::Sensitivity(Sensitivity::Secret));
    let _ = Timestamp::from_seconds(0);
}
