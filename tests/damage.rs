//! Files that were swapped, replaced or changed: an answer is right, or says what is wrong.

mod support;

use mnemic::memory::MemoryId;
use mnemic::world::testing::RecordingFs;
use mnemic::{ErrorKind, ListOptions, Query, Store};
use support::{DIMS, builder, id, note, read, state_of, world_over, write};

fn open(fs: &RecordingFs, shards: u32) -> Store {
    builder(&world_over(fs, 9)).shards(shards).open().unwrap()
}

/// A closed store of some users with two memories each.
fn closed(shards: u32) -> RecordingFs {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 1)).shards(shards).open().unwrap();
    for user in ["ada", "bob", "cyd", "dan", "eve"] {
        for n in 1..3 {
            store.user(user).unwrap().remember(note(n, "some text", vec![1.0; DIMS])).unwrap();
        }
    }
    store.close().unwrap();
    fs
}

#[test]
fn swapped_shards_are_refused_by_name() {
    let fs = closed(2);
    let (a, b) = (read(&fs, "shards/00.redb"), read(&fs, "shards/01.redb"));
    write(&fs, "shards/00.redb", &b);
    write(&fs, "shards/01.redb", &a);
    let store = open(&fs, 2);
    for user in ["ada", "bob", "cyd", "dan", "eve"] {
        let error = store.user(user).unwrap().list(ListOptions::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
        assert!(error.message().contains("another shard"), "{error}");
    }
}

#[test]
fn an_older_copy_of_a_shard_stays_refused_after_a_close() {
    let fs = closed(1);
    let old = read(&fs, "shards/00.redb");
    let store = open(&fs, 1);
    store.user("ada").unwrap().remember(note(5, "newer", vec![1.0; DIMS])).unwrap();
    store.close().unwrap();
    write(&fs, "shards/00.redb", &old);
    for _ in 0..3 {
        let store = open(&fs, 1);
        let error = store.user("ada").unwrap().list(ListOptions::new()).unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.message().contains("older copy"), "{error:?}");
        store.close().unwrap();
    }
}

#[test]
fn a_keyring_from_before_a_return_is_refused_for_the_user() {
    let fs = closed(1);
    let store = open(&fs, 1);
    store.forget_user("ada").unwrap();
    store.close().unwrap();
    let old = read(&fs, "KEYRING");
    let store = open(&fs, 1);
    store.user("ada").unwrap().remember(note(6, "back", vec![1.0; DIMS])).unwrap();
    store.close().unwrap();
    write(&fs, "KEYRING", &old);
    let store = open(&fs, 1);
    let error = store.user("ada").unwrap().list(ListOptions::new()).unwrap_err();
    assert!(error.kind() == ErrorKind::Corrupt && error.message().contains("older"), "{error:?}");
    assert_eq!(store.user("bob").unwrap().list(ListOptions::new()).unwrap().total, 2);
}

/// Where sealed records stand: the frames of table 2.
fn records(bytes: &[u8]) -> Vec<usize> {
    let found = bytes.windows(5).enumerate().filter(|(_, magic)| *magic == b"MNF\x01\x02");
    found.map(|(at, _)| at).collect()
}

#[test]
fn a_memory_whose_value_is_damaged_is_not_called_missing() {
    let fs = closed(1);
    let clean = read(&fs, "shards/00.redb");
    let mut named = 0;
    for at in records(&clean) {
        let mut bytes = clean.clone();
        bytes[at + 100] ^= 1;
        write(&fs, "shards/00.redb", &bytes);
        let store = open(&fs.snapshot(), 1);
        for user in ["ada", "bob", "cyd", "dan", "eve"] {
            let user = store.user(user).unwrap();
            for one in [id(1), id(2)] {
                match user.get(one) {
                    Ok(memory) => assert_eq!(memory.text(), "some text"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
                        assert_eq!(user.forget(one).unwrap_err().kind(), ErrorKind::Corrupt);
                        named += 1;
                    }
                }
            }
        }
    }
    assert!(named > 5, "only {named} damaged values were met");
}

#[test]
fn ids_alone_tell_of_damage_and_of_reasons_as_whole_memories_do() {
    let fs = closed(1);
    let clean = read(&fs, "shards/00.redb");
    let (query, mut told) = (Query::vector(vec![1.0; DIMS]), 0);
    for at in records(&clean) {
        let mut bytes = clean.clone();
        bytes[at + 100] ^= 1;
        write(&fs, "shards/00.redb", &bytes);
        let store = open(&fs.snapshot(), 1);
        for user in ["ada", "bob", "cyd", "dan", "eve"] {
            let user = store.user(user).unwrap();
            let (Ok(ids), Ok(whole)) = (user.recall_ids(&query), user.recall(&query)) else { continue };
            assert_eq!(ids.damaged(), whole.damaged());
            told += ids.damaged().len();
        }
    }
    assert!(told > 0, "no damage was told of");
    let nobody = open(&closed(1), 1).user("nobody").unwrap().recall_ids(&query).unwrap();
    assert!(nobody.is_empty() && nobody.reason() == Some(mnemic::EmptyReason::NothingStored));
}

#[test]
fn pages_of_the_tree_that_were_swapped_never_make_a_call_panic() {
    let fs = closed(1);
    let clean = read(&fs, "shards/00.redb");
    let pages = clean.len() / 4096;
    for (a, b) in (1..pages.min(40)).flat_map(|a| [(a, a + 1), (a, a / 2)]).filter(|(_, b)| (1..pages).contains(b)) {
        let mut bytes = clean.clone();
        bytes[a * 4096..(a + 1) * 4096].copy_from_slice(&clean[b * 4096..(b + 1) * 4096]);
        bytes[b * 4096..(b + 1) * 4096].copy_from_slice(&clean[a * 4096..(a + 1) * 4096]);
        let image = fs.snapshot();
        write(&image, "shards/00.redb", &bytes);
        let store = open(&image, 1);
        let ada = store.user("ada").unwrap();
        let _ = ada.recall(Query::vector(vec![1.0; DIMS]));
        let _ = ada.remember(note(7, "after the swap", vec![1.0; DIMS]));
        let _ = ada.get(MemoryId::from_u128(1));
        let _ = store.close();
    }
    assert_eq!(state_of(&open(&fs, 1)).unwrap().len(), 5);
}
