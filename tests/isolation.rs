//! No user ever sees, counts, forgets or disturbs another's memories, however the ids look.

mod support;

use std::collections::BTreeSet;

use mnemic::memory::{NewMemory, limits};
use mnemic::world::FileSystem;
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{EmptyReason, ErrorKind, ListOptions, Query};
use support::{builder, state_of, vector, world_over};

fn adversarial_ids() -> Vec<String> {
    let plain = [
        "a_b",
        "a-b",
        "a%b",
        "a*b",
        "a?b",
        "a[b]",
        "foo",
        "foobar",
        "foo/",
        "foo\0bar",
        "foo ",
        " foo",
        "Foo",
        "FOO",
        "alice/bob",
        "alice?bob",
        "alice_bob",
        "..",
        ".",
        "../..",
        "/",
        "\\",
        "CON",
        "NUL",
        "%",
        "_",
        "*",
        "'",
        "\"",
        "; DROP TABLE",
        "\u{1F600}",
        "\u{1F468}\u{200D}\u{1F469}",
        "caf\u{e9}",
        "cafe\u{301}",
        "\u{ff41}da",
        "ada",
        "爱达",
        "0",
        "00",
        "null",
        "undefined",
        "\u{feff}ada",
        "ada\n",
        "ada\r\n",
        "İ",
        "i\u{307}",
    ];
    let mut ids: Vec<String> = plain.iter().map(ToString::to_string).collect();
    ids.push("x".repeat(limits::USER_ID_BYTES_MAX));
    ids.push("x".repeat(limits::USER_ID_BYTES_MAX - 1));
    ids
}

#[test]
fn as_many_users_as_ids_and_each_sees_its_own_alone() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(1);
    let store = builder(&world_over(&fs, 1)).shards(3).open().unwrap();
    let ids = adversarial_ids();
    let mut stored = Vec::new();
    for id in &ids {
        let new = NewMemory::note(format!("secret of {id:?}")).vector(vector(&mut random)).tag("t");
        stored.push(store.user(id).unwrap().remember(new).unwrap());
    }
    assert_eq!(store.user_count().unwrap() as usize, ids.len());
    let listed: BTreeSet<String> = state_of(&store).unwrap().into_keys().collect();
    assert_eq!(listed, ids.iter().cloned().collect());
    let query = Query::vector(vector(&mut random)).limit(usize::MAX);
    for (i, id) in ids.iter().enumerate() {
        let user = store.user(id).unwrap();
        let hits = user.recall(&query).unwrap();
        assert_eq!(hits.iter().map(mnemic::Hit::id).collect::<Vec<_>>(), [stored[i]], "{id:?}");
        assert_eq!(user.list(&ListOptions::new()).unwrap().total, 1);
        for (j, other) in stored.iter().enumerate().filter(|(j, _)| *j != i) {
            let errors = [
                user.get(*other).map(drop),
                user.forget(*other).map(drop),
                user.confirm(*other).map(drop),
                user.contradict(*other).map(drop),
                user.used([*other]),
                user.history(*other).map(drop),
                user.correct(*other, mnemic::Correction::new("x")).map(drop),
                user.update(*other, mnemic::Update::new().pinned(true)).map(drop),
            ];
            assert!(errors.iter().all(|e| e.as_ref().unwrap_err().kind() == ErrorKind::NotFound), "{i} {j}");
        }
    }
}

#[test]
fn forgetting_one_of_two_alike_leaves_the_other_whole() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(2);
    let store = builder(&world_over(&fs, 2)).open().unwrap();
    let ids = adversarial_ids();
    for id in &ids {
        let all = (0..3).map(|n| NewMemory::note(format!("{n}")).vector(vector(&mut random)));
        assert!(store.user(id).unwrap().remember_all(all).unwrap().iter().all(Result::is_ok));
    }
    let mut expected = state_of(&store).unwrap();
    for id in &ids {
        assert_eq!(store.forget_user(id).unwrap().memories, 3);
        expected.remove(id);
        assert_eq!(state_of(&store).unwrap(), expected, "after forgetting {id:?}");
    }
}

#[test]
fn nothing_is_created_outside_the_store() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(3);
    let store = builder(&world_over(&fs, 3)).open().unwrap();
    for id in adversarial_ids() {
        store.user(&id).unwrap().remember(NewMemory::note("x").vector(vector(&mut random))).unwrap();
    }
    drop(store);
    assert_eq!(fs.list(".".as_ref()).unwrap(), ["store"]);
    assert_eq!(fs.list("store/shards".as_ref()).unwrap(), ["00.redb"]);
}

#[test]
fn an_id_that_is_no_id_is_refused_by_name() {
    let store = builder(&world_over(&RecordingFs::new(), 4)).open().unwrap();
    let long = "x".repeat(limits::USER_ID_BYTES_MAX + 1);
    for bad in ["", " ", "\t\n", "\u{3000}", long.as_str()] {
        let error = store.user(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().starts_with("user id:"), "{error}");
        assert_eq!(store.forget_user(bad).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn making_a_handle_or_reading_creates_nothing() {
    let store = builder(&world_over(&RecordingFs::new(), 5)).open().unwrap();
    let ghost = store.user("ghost").unwrap();
    assert_eq!(ghost.recall(&Query::vector(vec![1.0; 16])).unwrap().reason(), Some(EmptyReason::NothingStored));
    assert_eq!(ghost.list(&ListOptions::new()).unwrap().total, 0);
    assert_eq!(store.forget_user("ghost").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.user_count().unwrap(), 0);
}

#[test]
fn identical_memories_of_two_users_never_meet() {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 6)).open().unwrap();
    let (ada, bob) = (store.user("ada").unwrap(), store.user("bob").unwrap());
    let new = || support::note(1, "byte-identical", vec![1.0; 16]);
    ada.remember(new()).unwrap();
    bob.remember(new()).unwrap();
    ada.update(support::id(1), mnemic::Update::new().text("of ada").vector(vec![0.5; 16])).unwrap();
    assert_eq!(bob.get(support::id(1)).unwrap().text(), "byte-identical");
    ada.forget(support::id(1)).unwrap();
    assert_eq!(bob.recall(&Query::vector(vec![1.0; 16])).unwrap().len(), 1);
    assert_eq!(bob.history(support::id(1)).unwrap().len(), 1);
}
