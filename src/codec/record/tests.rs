use proptest::prelude::*;

use super::*;
use crate::memory::{MemoryId, NewMemory, Sensitivity, Source, Status, SupersedeReason, Timestamp, Trust};

fn full() -> Memory {
    let source = Source {
        session: Some("s".into()),
        turns: Some((1, 9)),
        actor: Some("agent".into()),
        trust: Some(Trust::External),
        extractor: Some(("x".into(), "2".into())),
        extracted_at: Some(Timestamp::from_micros(-5)),
    };
    let new = NewMemory::preference("喜欢靠窗 😀")
        .slot("user", "seat")
        .value("window")
        .tag("travel")
        .tag("a")
        .scene("plane")
        .speaker("Ada")
        .language("zh")
        .turn("s1", 7)
        .importance(0.25)
        .sensitivity(Sensitivity::Secret)
        .pinned(true)
        .event_at(Timestamp::from_micros(i64::MAX))
        .valid_from(Timestamp::from_micros(i64::MIN))
        .source(source)
        .derived_from(MemoryId::from_u128(5))
        .metadata("n", 5i64)
        .metadata("f", 0.5)
        .metadata("b", true)
        .metadata("t", "x")
        .metadata("l", vec!["p".to_owned(), "q".to_owned()]);
    let mut memory = new.admit(MemoryId::from_u128(1), Timestamp::from_micros(3)).unwrap();
    let reason = SupersedeReason::Corrected;
    memory.status = Status::Superseded { by: Some(MemoryId::from_u128(2)), reason };
    memory.supersedes = vec![MemoryId::from_u128(9)];
    memory.revised_at = Some(Timestamp::from_micros(8));
    memory.ended_at = Some(Timestamp::from_micros(-8));
    memory.space = Some(3);
    memory
}

#[test]
fn every_field_comes_back() {
    let memory = full();
    assert!(decode(&encode(&memory).unwrap()).unwrap() == memory);
}

#[test]
fn a_newer_version_is_refused_by_number() {
    let mut bytes = encode(&full()).unwrap();
    bytes[0] = 9;
    let error = decode(&bytes).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
    assert!(error.message().contains('9'), "{error}");
}

proptest! {
    #[test]
    fn damaged_archives_never_panic(at in 0usize..4096, bit in 0u8..8, cut in 0usize..4096) {
        let mut bytes = encode(&full()).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let _ = decode(&bytes);
        let _ = decode(&bytes[..cut.min(bytes.len())]);
    }
}
