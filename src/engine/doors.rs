//! Every parser of the library, open to the tests that feed them whatever they like. Never for products.

mod readings;
mod samples;
mod texts;

use crate::codec::bytes::Writer;
use crate::codec::{
    block, export, frame, head, json, keyring, log_entry, manifest, pack, record, snapshot, standing, terms, tombstone,
    trace, vector,
};
use crate::error::{Error, Result};
use crate::index::attributes::Attributes;

pub use readings::READINGS;
pub use samples::samples;

/// A parser by name. It answers whether it took the bytes, and fails where what it took was not what it says.
type Door = (&'static str, fn(&[u8]) -> Result<bool>);

/// Every parser of stored and of foreign bytes.
pub const PARSERS: &[Door] = &[
    ("record", |bytes| stable(bytes, |bytes| record::encode(&record::decode(bytes)?))),
    ("block", |bytes| exact(bytes, block_again)),
    ("overlay", |bytes| exact(bytes, |bytes| Ok(block::encode_overlay(&block::decode_overlay(bytes)?)))),
    ("attributes", |bytes| stable(bytes, |bytes| Ok(Attributes::decode(bytes)?.encode()))),
    ("pack", |bytes| exact(bytes, |bytes| Ok(pack::Pack::decode(bytes)?.encode()))),
    ("vector", |bytes| exact(bytes, vector_again)),
    ("terms", |bytes| exact(bytes, |bytes| Ok(terms::encode(&terms::decode(bytes)?)))),
    ("terms of a block", |bytes| exact(bytes, |bytes| Ok(terms::encode_lists(terms::decode_lists(bytes)?)))),
    ("log entry", |bytes| exact(bytes, |bytes| Ok(log_entry::LogEntry::decode(bytes)?.encode()))),
    ("trace", |bytes| stable(bytes, |bytes| Ok(trace::StoredTrace::decode(bytes)?.encode()))),
    ("frame", |bytes| exact(bytes, frame_again)),
    ("row of users", |bytes| exact(bytes, row_of_users_again)),
    ("head", |bytes| stable(bytes, |bytes| Ok(head::UserFacts::decode(bytes)?.encode()))),
    ("chunk key", |bytes| exact(bytes, chunk_key_again)),
    ("tombstone", |bytes| exact(bytes, tombstone_again)),
    ("last_seq", |bytes| exact(bytes, |bytes| Ok(standing::Standing::decode(bytes)?.encode()))),
    ("manifest", |bytes| stable(bytes, |bytes| Ok(manifest::Manifest::decode(bytes)?.encode()))),
    ("keyring header", |bytes| stable(bytes, |bytes| keyring::Header::decode(bytes)?.encode())),
    ("keyring slot", |bytes| stable(bytes, slot_again)),
    ("intent", |bytes| stable(bytes, intent_again)),
    ("snapshot tail", |bytes| exact(bytes, tail_again)),
    ("snapshot entry", |bytes| exact(bytes, entry_again)),
    ("snapshot section", |bytes| exact(bytes, section_again)),
    ("snapshot row", |bytes| exact(bytes, snapshot_row_again)),
    ("json", |bytes| stable(bytes, json_again)),
    ("export line", |bytes| exact(bytes, |bytes| Ok(export::Line::decode(text(bytes)?)?.encode().into_bytes()))),
    ("export manifest", |bytes| exact(bytes, export_manifest_again)),
    ("ids and times", texts::names),
    ("words", texts::words),
    ("times told", texts::times),
    ("prompt line", texts::prompt_line),
];

/// A value that has one form: what is taken is what would be written.
fn exact(bytes: &[u8], again: impl Fn(&[u8]) -> Result<Vec<u8>>) -> Result<bool> {
    match again(bytes) {
        Err(_) => Ok(false),
        Ok(written) if written == bytes => Ok(true),
        Ok(written) => Err(Error::corrupt(format!("{} bytes were taken, {} are written", bytes.len(), written.len()))),
    }
}

/// A value that is told in more ways than one: what is written of it is read as the same value.
fn stable(bytes: &[u8], again: impl Fn(&[u8]) -> Result<Vec<u8>>) -> Result<bool> {
    let Ok(first) = again(bytes) else { return Ok(false) };
    match again(&first) {
        Ok(second) if second == first => Ok(true),
        Ok(_) => Err(Error::corrupt("what was written is read as another value")),
        Err(error) => Err(Error::corrupt(format!("what was written is not read: {error}"))),
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::invalid("not UTF-8"))
}

fn block_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (space, rows) = block::decode_block(bytes)?;
    Ok(block::encode_block(space, stride_of(bytes) as usize, &rows))
}

/// The stride of a block: no row tells it that has no packed vector.
fn stride_of(bytes: &[u8]) -> u32 {
    bytes.get(5..9).and_then(|stride| stride.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn vector_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (space, vector) = vector::decode(bytes)?;
    Ok(vector::encode(space, &vector))
}

fn frame_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (table, key, _) = frame::carve(bytes).ok_or_else(|| Error::corrupt("frame: malformed"))?;
    let frame = frame::parse(table, key, bytes)?;
    Ok(frame::header(table, key, frame.version, &frame.nonce, frame.body.len()).raw(frame.body).finish())
}

fn row_of_users_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (slot, sealed) = head::SlotRef::decode(bytes)?;
    Ok(slot.encode(sealed))
}

fn slot_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (slot, tag) = keyring::Slot::decode(bytes)?;
    Ok([slot.encode(), tag.to_vec()].concat())
}

fn intent_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let read = keyring::Intent::decode(bytes, |_, tag| *tag != [0; 32])?;
    let (intent, tag) = read.ok_or_else(|| Error::corrupt("intent: none"))?;
    Ok([intent.encode(), tag.to_vec()].concat())
}

fn tail_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (tail, tag) = snapshot::Tail::decode(bytes)?;
    Ok([tail.encode(), tag.to_vec()].concat())
}

fn chunk_key_again(bytes: &[u8]) -> Result<Vec<u8>> {
    Ok(super::head::ChunkKey::decode(bytes)?.encode().to_vec())
}

fn tombstone_again(bytes: &[u8]) -> Result<Vec<u8>> {
    Ok(tombstone::encode(tombstone::decode(bytes)?))
}

fn entry_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Writer::default();
    snapshot::Entry::decode(bytes)?.encode(&mut out);
    Ok(out.finish())
}

fn section_again(bytes: &[u8]) -> Result<Vec<u8>> {
    Ok(snapshot::encode_section(&snapshot::decode_section(bytes)?).to_vec())
}

fn snapshot_row_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (record, vector) = snapshot::decode_row(bytes)?;
    Ok(snapshot::encode_row(record, vector))
}

fn json_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = String::new();
    json::Json::parse(text(bytes)?)?.write(&mut out);
    Ok(out.into_bytes())
}

fn export_manifest_again(bytes: &[u8]) -> Result<Vec<u8>> {
    let (manifest, tag) = export::Manifest::decode(text(bytes)?)?;
    Ok(manifest.encode(&tag).into_bytes())
}
