//! What a newer version wrote into a store that this one may open: named and refused, and the rest is served.

use std::path::Path;

use super::open;
use crate::codec::block::{StoredVector, encode_overlay};
use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::record::ArchivedRecordV1;
use crate::codec::{Table, UserHash};
use crate::engine::head::{log_chunk, row_chunk};
use crate::engine::read::Listing;
use crate::engine::stored_row::to_stored;
use crate::engine::user_index::facts_of;
use crate::engine::user_writer::Before;
use crate::engine::{Core, Statuses};
use crate::error::{Error, ErrorKind, NEWER};
use crate::memory::{MemoryId, NewMemory, Sensitivity, Timestamp, UserId, Verb};
use crate::text::TermList;
use crate::world::testing::RecordingFs;
use crate::world::{FileSystem, OpenMode};

const LEVEL: Sensitivity = Sensitivity::Secret;

fn id(row: u32) -> MemoryId {
    MemoryId::from_u128(u128::from(row) + 1)
}

/// A user with a closed block and a tail of 88.
fn filled() -> (Core, UserId, UserHash, RecordingFs) {
    let (fs, ada) = (RecordingFs::new(), UserId::new("ada").unwrap());
    let core = open(&fs, 3);
    let news = (0..344).map(|row| NewMemory::note(format!("note {row}")).id(id(row)).metadata("n", 1)).collect();
    assert!(core.remember_all(&ada, news).unwrap().iter().all(Result::is_ok));
    let hash = core.user_hash(&ada);
    (core, ada, hash, fs)
}

/// Changes the stored record of a row.
fn change_record(core: &Core, user: UserHash, row: u32, change: fn(&mut [u8])) {
    let changed = core.write(user, false, move |transaction| {
        transaction.with_user(user, |writer| {
            let mut bytes = writer.value(Table::Records, u64::from(row), row_chunk(row))?.unwrap().to_vec();
            change(&mut bytes);
            writer.put_value(Table::Records, u64::from(row), row_chunk(row), &bytes, Before::Perhaps)
        })
    });
    changed.unwrap();
    core.cache.clear();
}

/// A record of version 9.
fn version_9(bytes: &mut [u8]) {
    bytes[0] = 9;
}

/// A record of kind 99, which lies behind the id at the beginning of the archive's root.
fn kind_99(bytes: &mut [u8]) {
    let at = bytes.len() - size_of::<ArchivedRecordV1>() + 16;
    bytes[at] = 99;
}

#[track_caller]
fn assert_newer(error: &Error) {
    assert!(error.kind() == ErrorKind::Unsupported && error.message().ends_with(NEWER), "{error}");
}

/// Two memories are named wherever they would be; everything else is there.
fn assert_rest_is_served(core: &Core, ada: &UserId, rows: [u32; 2], kept: usize) {
    let listing = Listing { level: LEVEL, statuses: Statuses::ALL, filter: None, from_row: 0, limit: 1000 };
    let page = core.list(ada, &listing).unwrap();
    assert_eq!((page.memories.len(), page.damaged.len()), (kept, 2), "{:?}", page.damaged);
    assert!(page.damaged.iter().all(|named| named.ends_with(NEWER)), "{:?}", page.damaged);
    rows.iter().for_each(|row| assert_newer(&core.get(ada, id(*row), LEVEL).unwrap_err()));
    let mut exported = Vec::new();
    let done = core.export(ada, LEVEL, &mut exported).unwrap();
    assert_eq!((done.memories, done.damaged.len()), (kept as u64, 2));
    let snapshot = core.snapshot().unwrap();
    assert_eq!((snapshot.memories, snapshot.damaged.len()), (kept as u64, 2), "{:?}", snapshot.damaged);
    let doctor = core.doctor().unwrap();
    assert!(!doctor.is_clean() && doctor.damaged.iter().all(crate::engine::Damage::is_newer), "{:?}", doctor.damaged);
    assert!(core.repair().unwrap().is_unchanged(), "there is nothing to repair");
}

#[test]
fn a_newer_record_is_named_and_the_rest_is_served() {
    let (core, ada, hash, _) = filled();
    for row in [10, 300] {
        change_record(&core, hash, row, version_9);
    }
    assert_rest_is_served(&core, &ada, [10, 300], 342);
    // A forgetting seals a whole chunk again, and can't where it does not know what it would seal.
    assert_newer(&core.forget(&ada, id(11), LEVEL).unwrap_err());
    assert_eq!(core.get(&ada, id(11), LEVEL).unwrap().text(), "note 11");
    core.remember_all(&ada, vec![NewMemory::note("more")]).unwrap();
    assert_rest_is_served(&core, &ada, [10, 300], 343);
}

#[test]
fn a_kind_of_a_newer_version_is_named_and_the_rest_is_served() {
    let (core, ada, hash, _) = filled();
    for row in [10, 300] {
        change_record(&core, hash, row, kind_99);
    }
    let overlaid = core.write(hash, false, move |transaction| {
        transaction.with_user(hash, |writer| {
            let mut facts = facts_of(&writer.record(11)?.unwrap(), 10);
            facts.kind = 99;
            let bytes = encode_overlay(&to_stored(&facts, StoredVector::None, &[]));
            writer.put_value(Table::Rows, 10, row_chunk(10), &bytes, Before::Perhaps)
        })
    });
    overlaid.unwrap();
    core.cache.clear();
    assert_rest_is_served(&core, &ada, [10, 300], 342);
}

#[test]
fn a_verb_of_a_newer_version_is_carried_along() {
    let (core, ada, hash, _) = filled();
    let logged = core.write(hash, false, move |transaction| {
        transaction.with_user(hash, |writer| {
            let rows = vec![RowChange { row: 300, before: None }];
            let mut bytes = LogEntry { verb: Verb::Update.into(), at: Timestamp::from_micros(5), rows }.encode();
            bytes[1] = 77;
            let seq = writer.head().facts.next_log;
            writer.facts().next_log += 1;
            writer.put_value(Table::Log, seq, log_chunk(seq), &bytes, Before::Nothing)
        })
    });
    logged.unwrap();
    assert_newer(&core.history(&ada, id(300), LEVEL).unwrap_err());
    assert_eq!(core.history(&ada, id(301), LEVEL).unwrap().len(), 1);
    assert_eq!(core.forget(&ada, id(302), LEVEL).unwrap().memories, 1);
    assert_newer(&core.history(&ada, id(300), LEVEL).unwrap_err());
    let doctor = core.doctor().unwrap();
    assert!(doctor.damaged.len() == 1 && doctor.damaged[0].is_newer(), "{:?}", doctor.damaged);
    let done = core.maintain(std::time::Duration::MAX).unwrap();
    assert_eq!((done.log_entries_trimmed, done.damaged.len()), (1, 0), "it goes when it is old");
    assert_eq!(core.history(&ada, id(300), LEVEL).unwrap().len(), 1);
}

#[test]
fn terms_of_a_newer_version_are_made_anew_from_the_text() {
    let (core, ada, hash, _) = filled();
    let changed = core.write(hash, false, move |transaction| {
        transaction.with_user(hash, |writer| {
            let mut terms = writer.terms(300)?;
            terms[0] = 9;
            writer.put_terms(300, &terms)
        })
    });
    changed.unwrap();
    core.cache.clear();
    let found = core.with_index(hash, |head, index| {
        let words = core.words(head, index)?.unwrap();
        let counts = TermList::of("note 300").counts;
        let most = counts.iter().map(|counted| words.lexical.df(counted.term, LEVEL)).max();
        Ok((words.damaged.len(), most))
    });
    assert_eq!(found.unwrap().unwrap(), (0, Some(344)), "every text has its words");
    assert_eq!(core.get(&ada, id(300), LEVEL).unwrap().text(), "note 300");
}

#[test]
fn a_repair_leaves_a_shard_alone_that_a_newer_version_has_to_repair() {
    let (core, _, hash, fs) = filled();
    change_record(&core, hash, 300, version_9);
    core.close().unwrap();
    drop(core);
    let file = fs.open(Path::new("store/shards/00.redb"), OpenMode::ReadWrite).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    let overlays = bytes.windows(5).enumerate().filter(|(_, magic)| *magic == b"MNF\x01\x06");
    overlays.for_each(|(at, _)| file.write_at(at as u64 + 90, &[!bytes[at + 90]]).unwrap());
    let damaged = |core: &Core| core.doctor().unwrap().damaged.iter().filter(|damage| !damage.is_newer()).count();
    let core = open(&fs, 3);
    let before = damaged(&core);
    let refused = core.repair().unwrap_err();
    assert!(before > 0 && refused.kind() == ErrorKind::Unsupported, "{refused}");
    assert!(refused.message().contains("not repaired"), "{refused}");
    assert_eq!(damaged(&core), before);
}
