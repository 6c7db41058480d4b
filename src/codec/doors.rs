//! The parsers of this room, open to the tests that feed them whatever they like. Never for products.

use crate::codec::{
    block, export, frame, head, json, keyring, log_entry, manifest, pack, record, snapshot, table::Table, terms, trace,
    vector,
};

/// A parser by name; whether it took the bytes.
type Door = (&'static str, fn(&[u8]) -> bool);

/// Every parser of stored and of foreign bytes.
pub const PARSERS: &[Door] = &[
    ("record", |bytes| record::decode(bytes).is_ok()),
    ("block", |bytes| block::decode_block(bytes).is_ok()),
    ("overlay", |bytes| block::decode_overlay(bytes).is_ok()),
    ("pack", |bytes| pack::Pack::decode(bytes).is_ok()),
    ("vector", |bytes| vector::decode(bytes).is_ok()),
    ("terms", |bytes| terms::decode(bytes).is_ok()),
    ("log entry", |bytes| log_entry::LogEntry::decode(bytes).is_ok()),
    ("trace", |bytes| trace::StoredTrace::decode(bytes).is_ok()),
    ("frame", |bytes| frame::parse(Table::Records, &[0; 24], bytes).is_ok()),
    ("row of users", |bytes| head::SlotRef::decode(bytes).is_ok()),
    ("head", |bytes| head::UserFacts::decode(bytes).is_ok()),
    ("manifest", |bytes| manifest::Manifest::decode(bytes).is_ok()),
    ("keyring header", |bytes| keyring::Header::decode(bytes).is_ok()),
    ("keyring slot", |bytes| keyring::Slot::decode(bytes).is_ok()),
    ("intent", |bytes| keyring::Intent::decode(bytes).is_some()),
    ("snapshot tail", |bytes| snapshot::Tail::decode(bytes).is_ok()),
    ("snapshot section", |bytes| snapshot::decode_section(bytes).is_ok()),
    ("snapshot row", |bytes| snapshot::decode_row(bytes).is_ok()),
    ("json", |bytes| std::str::from_utf8(bytes).is_ok_and(|text| json::Json::parse(text).is_ok())),
    ("export line", |bytes| std::str::from_utf8(bytes).is_ok_and(|text| export::Line::decode(text).is_ok())),
    ("export manifest", |bytes| std::str::from_utf8(bytes).is_ok_and(|text| export::Manifest::decode(text).is_ok())),
];
