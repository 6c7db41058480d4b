use super::*;
use crate::memory::{ArchiveReason, MemoryId, MetaValue, NewMemory, Source, Status, Timestamp, Trust, Turn};

fn full() -> Line {
    let mut memory = NewMemory::fact("Lives \"near\" the \\ canal\n运河\u{1}")
        .slot("user", "city")
        .value("Paris")
        .tag("a")
        .scene("home")
        .speaker("Ada")
        .language("en")
        .turn("s1", 7)
        .importance(0.1)
        .confidence(0.7)
        .pinned(true)
        .metadata("b", true)
        .metadata("f", 3.0)
        .metadata("g", 1e300)
        .metadata("i", -4)
        .metadata("l", vec!["x".to_owned(), String::new()])
        .metadata("t", "12")
        .admit(MemoryId::from_u128(9), Timestamp::from_micros(1_234_567_890_123))
        .unwrap();
    let at = |micros| Some(Timestamp::from_micros(micros));
    (memory.event_at, memory.valid_from, memory.valid_to) = (at(-5), at(i64::MIN), at(i64::MAX));
    (memory.revised_at, memory.ended_at, memory.last_used_at, memory.last_confirmed_at) = (at(1), at(2), at(3), at(4));
    (memory.used_count, memory.confirmed_count, memory.contradicted_count, memory.version) = (1, 2, 3, u32::MAX);
    memory.status = Status::Archived { since: Timestamp::from_micros(77), reason: ArchiveReason::Expired };
    memory.source = Source {
        session: Some("s".into()),
        turns: Some((1, 2)),
        actor: Some("bot".into()),
        trust: Some(Trust::Agent),
        extractor: Some(("rules".into(), "2".into())),
        extracted_at: at(8),
    };
    memory.derived_from = vec![MemoryId::from_u128(1), MemoryId::from_u128(2)];
    memory.supersedes = vec![MemoryId::from_u128(3)];
    assert!(memory.metadata.values().any(|value| matches!(value, MetaValue::List(_))));
    assert_eq!(memory.turn, Some(Turn::new("s1", 7)));
    Line { memory, model: Some(("m".into(), 8)), vector: Some(vec![0.1, -0.0, 1e-45, 1.0, 0.0, 0.5, 0.25, 0.125]) }
}

#[test]
fn every_field_comes_back_and_every_change_is_another_line_or_none() {
    let line = full();
    let text = line.encode();
    let back = Line::decode(&text).unwrap();
    assert_eq!(back.memory, line.memory);
    assert_eq!((back.encode(), back.model), (text.clone(), line.model));
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        if let Ok(changed) = String::from_utf8(bytes)
            && let Ok(read) = Line::decode(&changed)
        {
            assert_eq!(read.encode(), changed, "read back as it stands");
        }
        if text.is_char_boundary(at) {
            assert!(Line::decode(&text[..at]).is_err(), "cut at {at}");
        }
    }
}

#[test]
fn deep_and_broken_json_is_refused() {
    for bad in ["", "{", "[", "\"", "\"\\u12", "{\"a\"}", "[1,]", "[,1]", "tru", "{\"a\":1}x", "null", &"[".repeat(99)]
    {
        assert!(Json::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_manifest_is_read_back() {
    let manifest = Manifest {
        store: [1; 16],
        user: [2; 16],
        generation: 3,
        as_of: u64::MAX,
        memories: 5,
        exported_at: -6,
        hash: [7; 32],
    };
    let text = manifest.encode(&[8; 32]);
    assert!(text.starts_with(MANIFEST_BEGIN));
    assert_eq!(Manifest::decode(&text).unwrap(), (manifest, [8; 32]));
    assert!(Manifest::decode(&text.replace("\"format\":1", "\"format\":2")).is_err());
    assert!(Manifest::decode(&text.replace(":5,", ": 5,")).is_err());
}
