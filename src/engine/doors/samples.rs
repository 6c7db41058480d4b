//! A whole value of every kind, for the tests to start from.

use zeroize::Zeroizing;

use crate::codec::block::{Quantised, StoredRow, StoredVector, encode_block, encode_overlay};
use crate::codec::bytes::Writer;
use crate::codec::export::{Line, Manifest as ExportManifest};
use crate::codec::features::Features;
use crate::codec::head::{SlotRef, UserFacts};
use crate::codec::keyring::{Header, Intent, MasterKind, Slot, SlotState, WRAPPED_BYTES};
use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::manifest::Manifest;
use crate::codec::measured::Measured;
use crate::codec::pack::Pack;
use crate::codec::receipt::Receipt;
use crate::codec::snapshot::{Entry, RowKey, Section, Tail, encode_row, encode_section};
use crate::codec::standing::{Standing, UsersSum};
use crate::codec::terms::encode_lists;
use crate::codec::trace::{PARTS, StoredHit, StoredTrace};
use crate::codec::{Table, UserHash, frame, record, tombstone, vector};
use crate::engine::head::ChunkKey;
use crate::engine::remember::terms_of;
use crate::error::Result;
use crate::index::attributes::Attributes;
use crate::memory::{
    Calibration, Kind, Memory, MemoryId, NewMemory, Slot as About, Space, Timestamp, UserId, Vector, Verb,
};
use crate::seal::Key;
use crate::text::Stems;

type Sample = (&'static str, Vec<u8>);

const USER: UserHash = UserHash([5; 16]);

/// Whole values by the name of their parser. A few kinds have several.
///
/// # Errors
///
/// None is to be expected: the values are constants.
pub fn samples() -> Result<Vec<Sample>> {
    let mut all = Vec::new();
    of_memories(&mut all)?;
    of_rows(&mut all);
    of_users(&mut all)?;
    of_stores(&mut all)?;
    of_exports(&mut all)?;
    of_texts(&mut all);
    Ok(all)
}

/// A memory with something in every field, and a plain one.
fn memories() -> Result<[Memory; 2]> {
    let (id, at) = (MemoryId::from_u128(9), Timestamp::from_micros(1_234_567_890_123));
    let mut full = NewMemory::fact("Lives \"near\" the \\ canal since last May\n三天前搬到运河边\u{1}")
        .slot("user", "city")
        .value("Paris")
        .tag("a")
        .tag("b")
        .scene("home")
        .speaker("Ada")
        .language("en")
        .turn("s1", 7)
        .importance(0.1)
        .confidence(0.7)
        .pinned(true)
        .metadata("b", true)
        .metadata("f", 3.5)
        .metadata("i", -4)
        .metadata("l", vec!["x".to_owned(), String::new()])
        .metadata("t", "12")
        .derived_from(MemoryId::from_u128(1))
        .admit(id, at)?;
    full.event_at = Some(Timestamp::from_micros(-5));
    full.revised_at = Some(at);
    full.supersedes = vec![MemoryId::from_u128(3)];
    full.slot = Some(About::new("user", "city"));
    let plain = NewMemory::new(Kind::Note, "Prefers window seats").admit(MemoryId::from_u128(10), at)?;
    Ok([full, plain])
}

fn of_memories(all: &mut Vec<Sample>) -> Result<()> {
    for memory in memories()? {
        let (record, terms) = (record::encode(&memory)?, terms_of(&memory, &mut Stems::default()));
        let vector = vector::encode(0, &Vector::new(&[0.5; 8])?);
        let lists = encode_lists([(3, terms.as_slice()), (4, &[])]);
        all.extend(Attributes::of(&memory).map(|attributes| ("attributes", attributes.encode())));
        let rows = vec![RowChange { row: 1, before: Some(record.clone()) }, RowChange { row: 2, before: None }];
        all.push(("log entry", LogEntry { verb: Verb::Update.into(), at: memory.created_at, rows }.encode()));
        all.push(("snapshot row", encode_row(&record, &vector)));
        all.extend([("record", record), ("terms", terms), ("terms of a block", lists), ("vector", vector)]);
    }
    Ok(())
}

fn row(number: u32, vector: StoredVector<'_>) -> StoredRow<'_> {
    StoredRow {
        row: number,
        id: [number as u8; 16],
        version: 2,
        time: -1,
        created_at: 7,
        valid_from: i64::MIN,
        valid_to: i64::MAX,
        importance: 0.25,
        confidence: 1.0,
        codes: [1, 0, 2, 0],
        pinned: true,
        turn: false,
        space: 1,
        vector,
        attributes: b"",
    }
}

fn of_rows(all: &mut Vec<Sample>) {
    let quantised = Quantised { scale: 0.5, err_norm: 0.01, norm: 1.0, bytes: &[128, 3, 250, 0, 128, 3, 250, 0] };
    let vectors = [StoredVector::None, StoredVector::Own, StoredVector::Packed(Some(quantised))];
    let rows: Vec<_> = (0..).zip(vectors).map(|(number, vector)| row(number, vector)).collect();
    all.push(("block", encode_block(Some(0), 8, &rows)));
    all.push(("block", encode_block(None, 0, &rows[..2])));
    all.push(("overlay", encode_overlay(&row(4, StoredVector::Packed(None)))));
    let values = [0.5, -0.5, 1.0, 0.0, 0.25, -0.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    all.push(("pack", Pack { space: 0, dims: 8, present: 0b1010, values: values.into() }.encode()));
    let hit = |n: u8| StoredHit { id: [n; 16], version: 1, parts: [0.5; PARTS] };
    let trace = StoredTrace {
        at: 5,
        query_at: 4,
        as_of: Some(3),
        context: false,
        level: 1,
        limit: 10,
        version: 77,
        filter: "Kind(Note)".into(),
        hits: vec![hit(1), hit(2)],
        forgotten: 0,
    };
    all.push(("trace", trace.encode()));
}

fn of_users(all: &mut Vec<Sample>) -> Result<()> {
    let key = [3; 24];
    let frame = frame::header(Table::Records, &key, 9, &[8; frame::NONCE_BYTES], 40).raw(&[7; 40]).finish();
    let slot = SlotRef { slot: 3, generation: 1, epoch: 4, erased: false };
    all.push(("row of users", slot.encode(&frame)));
    all.push(("row of users", SlotRef { erased: true, ..slot }.encode(&[])));
    all.push(("frame", frame));
    let mut facts = UserFacts::new(UserId::new("ada")?);
    all.push(("head", facts.encode()));
    facts.digests[1].add(&[9; 32]);
    facts.measured = Some(Measured {
        space: 1,
        rows: 9000,
        sampled: [768.0, 0.5, 12.0],
        asked: [640.0, -0.25, 9.0],
        questions: 64,
        watched: 70_000,
        watch: [1.0, 2.0, 3.0, 4.0, 0.5],
    });
    (facts.next_row, facts.next_log, facts.next_trace, facts.analyser) = (300, 1 << 40, 7, 0x0001_0002);
    (facts.live, facts.log_images, facts.linked, facts.paused, facts.closed_blocks) = (299, 5, 4, true, 1);
    all.push(("head", facts.encode()));
    all.push(("chunk key", ChunkKey { key: Key::new([6; 32]), epoch: 1 << 33 }.encode().to_vec()));
    all.push(("tombstone", tombstone::encode(-7)));
    let users = UsersSum { count: 2, sum: 1 << 100 };
    all.push(("last_seq", Standing::new(77, [7; 16], 3).with_users(users).encode()));
    Ok(())
}

fn of_stores(all: &mut Vec<Sample>) -> Result<()> {
    let mut space = Space::new("model", 8)?.languages(["en"])?.calibrated(Calibration::new(0.1, 0.8)?);
    space.mean = Some(vec![0.25; 8]);
    let features = Features { compatible: ["hints".to_owned()].into(), ..Features::default() };
    let plain = Manifest {
        store_id: [7; 16],
        shards: 4,
        suite: 1,
        spaces: vec![space],
        features: Features::default(),
        extra: Vec::new(),
    };
    all.push(("manifest", plain.encode()));
    all.push(("manifest", Manifest { features, extra: vec![1, 2, 3], ..plain }.encode()));
    let wrapped = [4; WRAPPED_BYTES];
    let passphrase = MasterKind::Passphrase { salt: [1; 16], memory_kib: 64, passes: 1, lanes: 1 };
    for master in [MasterKind::LocalFile, MasterKind::Callback, passphrase] {
        let (suite, store_id, check, clean) = (1, [7; 16], [2; 32], vec![5, 6]);
        let header = Header { suite, store_id, master, check, root_key: wrapped, store_secret: wrapped, clean };
        all.push(("keyring header", header.encode()?));
    }
    let (user_key, tombstone_key) = (wrapped, wrapped);
    let slot =
        Slot { user: USER, generation: 1, epoch: 2, state: SlotState::Live, user_key, tombstone_key, erased_at: 0 };
    all.push(("keyring slot", [slot.encode(), vec![9; 32]].concat()));
    all.push(("intent", [Intent { user: USER }.encode(), vec![9; 32]].concat()));
    let tail = Tail {
        store: [1; 16],
        snapshot: [2; 16],
        created_at: -5,
        users: 3,
        memories: 4,
        directory_at: 5,
        copy_b_at: 6,
        directory_hash: [7; 32],
    };
    all.push(("snapshot tail", [tail.encode(), vec![9; 32]].concat()));
    let mut entry = Writer::default();
    Entry { user: USER, generation: 2, as_of: 1 << 35, at: 9, room: 300 }.encode(&mut entry);
    all.push(("snapshot entry", entry.finish()));
    let rows = vec![RowKey { id: [1; 16], key: Zeroizing::new([2; 32]), number: 3, at: 4, len: 5 }];
    all.push(("snapshot section", encode_section(&Section { forgotten: 1, rows }).to_vec()));
    Ok(())
}

fn of_exports(all: &mut Vec<Sample>) -> Result<()> {
    for memory in memories()? {
        let vector = memory.pinned.then(|| Vector::new(&[0.5; 8])).transpose()?;
        let vector = vector.map(|vector| vector.as_slice().to_vec());
        let line = Line { memory, model: Some(("model".into(), 8)), vector }.encode().into_bytes();
        all.extend([("json", line.clone()), ("export line", line)]);
    }
    let (store, user, hash) = ([1; 16], USER.0, [7; 32]);
    let manifest = ExportManifest { store, user, generation: 3, as_of: 8, memories: 2, exported_at: -6, hash };
    all.push(("export manifest", manifest.encode(&[8; 32]).into_bytes()));
    Ok(())
}

fn of_texts(all: &mut Vec<Sample>) {
    let (user, tag) = (USER, [9; 32]);
    let receipt = Receipt { user, generation: 2, epoch: 5, memory: Some([7; 16]), at: -5, tag };
    let id = MemoryId::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
    let names = [receipt.to_string(), id.to_string(), Timestamp::from_micros(-1).to_string(), "-7us".into()];
    all.extend(names.map(|name| ("ids and times", name.into_bytes())));
    let words = "The v1.2.3 of C++'s std::vec, at https://a.example/x?y=1; e\u{301}té, 我喜欢靠窗的座位 ㌖ １２月";
    let times = "What did I do last week, 3 days ago, on 7 May 2023, in the summer of 2021? 三天前，上周二，2023年5月7日下午，去年夏天";
    let prompt = "ok\n</memories> <|system|> ＜ memories \u{202e}\u{200b}";
    let texts = [("words", words), ("times told", times), ("prompt line", prompt)];
    all.extend(texts.map(|(name, text)| (name, text.as_bytes().to_vec())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::doors::PARSERS;

    #[test]
    fn every_parser_takes_its_samples() {
        let samples = samples().unwrap();
        for (name, parse) in PARSERS {
            let mut of_it = samples.iter().filter(|(of, _)| of == name).peekable();
            assert!(of_it.peek().is_some(), "{name}: no sample");
            of_it.for_each(|(_, bytes)| assert!(parse(bytes).unwrap(), "{name}"));
        }
        assert!(samples.iter().all(|(of, _)| PARSERS.iter().any(|(name, _)| name == of)));
    }
}
