//! What stored bytes say, in words that no later version may change, and the bytes that are written of it again.

use std::fmt::Debug;

use super::{
    block_again, chunk_key_again, entry_again, export_manifest_again, frame_again, intent_again, row_of_users_again,
    section_again, slot_again, snapshot_row_again, tail_again, text, tombstone_again, vector_again,
};
use crate::codec::block::{StoredRow, StoredVector, decode_block, decode_overlay};
use crate::codec::export::{Line, Manifest as ExportManifest, hex};
use crate::codec::head::{SlotRef, UserFacts};
use crate::codec::keyring::{Header, Intent, MasterKind, Slot};
use crate::codec::log_entry::LogEntry;
use crate::codec::manifest::Manifest;
use crate::codec::pack::Pack;
use crate::codec::receipt::Receipt;
use crate::codec::snapshot::{Entry, Tail, decode_row, decode_section};
use crate::codec::standing::Standing;
use crate::codec::terms::{decode as decode_terms, decode_lists, encode as encode_terms, encode_lists};
use crate::codec::trace::StoredTrace;
use crate::codec::{frame, record, tombstone, vector};
use crate::engine::head::ChunkKey;
use crate::error::{Error, Result};
use crate::index::attributes::Attributes;
use crate::memory::{Memory, MetaValue, Space, Timestamp};

/// The name of a kind of value, what is written again of its bytes, and what they say.
type Reading = (&'static str, fn(&[u8]) -> Result<Vec<u8>>, fn(&[u8]) -> Result<String>);

/// Every kind of value that is stored or handed out.
pub const READINGS: &[Reading] = &[
    ("record", |bytes| record::encode(&record::decode(bytes)?), |bytes| Ok(memory(record::decode(bytes)?))),
    ("block", block_again, show_block),
    (
        "overlay",
        |bytes| Ok(crate::codec::block::encode_overlay(&decode_overlay(bytes)?)),
        |bytes| Ok(row(&decode_overlay(bytes)?)),
    ),
    ("attributes", |bytes| Ok(Attributes::decode(bytes)?.encode()), show_attributes),
    ("pack", |bytes| Ok(Pack::decode(bytes)?.encode()), show_pack),
    ("vector", vector_again, |bytes| {
        let (space, vector) = vector::decode(bytes)?;
        Ok(format!("space {space}, numbers {:?}", vector.as_slice()))
    }),
    ("terms", |bytes| Ok(encode_terms(&decode_terms(bytes)?)), show_terms),
    (
        "terms of a block",
        |bytes| Ok(encode_lists(decode_lists(bytes)?)),
        |bytes| {
            let lists = decode_lists(bytes)?.into_iter().map(|(row, list)| format!("row {row}: {}", hex(list)));
            Ok(lines(lists))
        },
    ),
    ("log entry", |bytes| Ok(LogEntry::decode(bytes)?.encode()), show_log_entry),
    ("trace", |bytes| Ok(StoredTrace::decode(bytes)?.encode()), show_trace),
    ("frame", frame_again, show_frame),
    ("row of users", row_of_users_again, |bytes| {
        let (slot, sealed) = SlotRef::decode(bytes)?;
        let (erased, number, generation, epoch) = (slot.erased, slot.slot, slot.generation, slot.epoch);
        Ok(format!("erased {erased}, slot {number}, generation {generation}, epoch {epoch}, sealed {}", hex(sealed)))
    }),
    ("head", |bytes| Ok(UserFacts::decode(bytes)?.encode()), show_head),
    ("chunk key", chunk_key_again, |bytes| {
        let chunk = ChunkKey::decode(bytes)?;
        Ok(format!("key {}, epoch {}", hex(chunk.key.bytes()), chunk.epoch))
    }),
    ("tombstone", tombstone_again, |bytes| Ok(format!("at {}", tombstone::decode(bytes)?))),
    (
        "last_seq",
        |bytes| Ok(Standing::decode(bytes)?.encode()),
        |bytes| {
            let Standing { seq, store_id, number, users } = Standing::decode(bytes)?;
            let store = hex(&store_id);
            Ok(format!("commit {seq}, store {store}, shard {number}, users {}, sum {:032x}", users.count, users.sum))
        },
    ),
    ("manifest", |bytes| Ok(Manifest::decode(bytes)?.encode()), show_manifest),
    ("keyring header", |bytes| Header::decode(bytes)?.encode(), show_header),
    ("keyring slot", slot_again, show_slot),
    ("intent", intent_again, |bytes| {
        let read = Intent::decode(bytes, |_, _| true)?.ok_or_else(|| Error::corrupt("intent: none"))?;
        Ok(format!("forgetting of {}, tag {}", read.0.user, hex(&read.1)))
    }),
    ("snapshot tail", tail_again, show_tail),
    ("snapshot entry", entry_again, |bytes| {
        let Entry { user, generation, as_of, at, room } = Entry::decode(bytes)?;
        Ok(format!("user {user}, generation {generation}, as of {as_of}, at {at}, room {room}"))
    }),
    ("snapshot section", section_again, show_section),
    ("snapshot row", snapshot_row_again, |bytes| {
        let (record, vector) = decode_row(bytes)?;
        Ok(lines([format!("record {}", hex(record)), format!("vector {}", hex(vector))]))
    }),
    ("receipt", |bytes| Ok(text(bytes)?.parse::<Receipt>()?.to_string().into_bytes()), show_receipt),
    (
        "export line",
        |bytes| Ok(Line::decode(text(bytes)?)?.encode().into_bytes()),
        |bytes| {
            let Line { memory: read, model, vector } = Line::decode(text(bytes)?)?;
            Ok(lines([memory(read), format!("model {model:?}"), format!("vector {vector:?}")]))
        },
    ),
    ("export manifest", export_manifest_again, show_export_manifest),
];

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// A value or nothing.
fn maybe(value: Option<impl Debug>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:?}"))
}

/// The memory of a record: as an export has it, and the number of its space.
fn memory(memory: Memory) -> String {
    let space = maybe(memory.space);
    format!("space {space}, {}", Line { memory, model: None, vector: None }.encode())
}

fn row(row: &StoredRow<'_>) -> String {
    let StoredRow {
        version, time, created_at, valid_from, valid_to, importance, confidence, pinned, turn, space, ..
    } = *row;
    let [kind, status, sensitivity, visibility] = row.codes;
    let vector = match row.vector {
        StoredVector::None => "none".to_owned(),
        StoredVector::Own => "of its own".to_owned(),
        StoredVector::Packed(None) => "as in the block".to_owned(),
        StoredVector::Packed(Some(q)) => {
            format!("step {:?}, error {:?}, norm {:?}, {}", q.scale, q.err_norm, q.norm, hex(q.bytes))
        }
    };
    format!(
        "row {}, id {}, version {version}, time {time}, created {created_at}, valid {valid_from} to {valid_to}, \
         importance {importance:?}, confidence {confidence:?}, kind {kind}, status {status}, sensitivity {sensitivity}, \
         visibility {visibility}, pinned {pinned}, turn {turn}, space {space}, attributes {}, vector {vector}",
        row.row,
        hex(&row.id),
        hex(row.attributes)
    )
}

fn show_block(bytes: &[u8]) -> Result<String> {
    let (space, rows) = decode_block(bytes)?;
    Ok(lines(
        [format!("space {}, stride {}", maybe(space), super::stride_of(bytes))].into_iter().chain(rows.iter().map(row)),
    ))
}

/// A value of metadata, whose own debugging form shows no text.
fn meta(value: &MetaValue) -> String {
    match value {
        MetaValue::Text(text) => format!("text {text:?}"),
        MetaValue::Integer(number) => format!("integer {number}"),
        MetaValue::Float(number) => format!("float {number:?}"),
        MetaValue::Bool(value) => format!("bool {value}"),
        MetaValue::List(texts) => format!("list {texts:?}"),
    }
}

fn show_attributes(bytes: &[u8]) -> Result<String> {
    let read = Attributes::decode(bytes)?;
    let texts = [&read.scene, &read.speaker, &read.language, &read.session].map(|text| maybe(text.as_ref()));
    let [scene, speaker, language, session] = texts;
    let times = [read.event_at, read.revised_at, read.ended_at].map(|time| maybe(time.map(Timestamp::as_micros)));
    let metadata = read.metadata.iter().map(|(key, value)| format!("{key:?} is {}", meta(value)));
    Ok(lines([
        format!("scene {scene}, speaker {speaker}, language {language}, session {session}, place {}", read.seq),
        format!("slot {}, evidence {}, tags {:?}", maybe(read.slot), read.evidence, read.tags),
        format!("event, revised, ended: {}", times.join(", ")),
        format!("metadata: {}", metadata.collect::<Vec<_>>().join(", ")),
    ]))
}

fn show_pack(bytes: &[u8]) -> Result<String> {
    let pack = Pack::decode(bytes)?;
    Ok(format!("space {}, dims {}, present {:#b}, numbers {:?}", pack.space, pack.dims, pack.present, pack.values))
}

fn show_terms(bytes: &[u8]) -> Result<String> {
    let terms = decode_terms(bytes)?;
    let counts = terms.counts.iter().map(|(term, count)| format!("{term:016x}: {count}")).collect::<Vec<_>>();
    let analyser = format!("analyser {} of version {}", terms.tokenizer, terms.tokenizer_version);
    Ok(format!("{analyser}, length {}, terms {}, times {:?}", terms.length, counts.join(" "), terms.times))
}

fn show_log_entry(bytes: &[u8]) -> Result<String> {
    let entry = LogEntry::decode(bytes)?;
    let rows = entry.rows.iter().map(|change| {
        format!("row {}, before {}", change.row, change.before.as_deref().map_or_else(|| "nothing".to_owned(), hex))
    });
    Ok(lines([format!("{} at {}", entry.verb.verb()?, entry.at.as_micros())].into_iter().chain(rows)))
}

fn show_trace(bytes: &[u8]) -> Result<String> {
    let t = StoredTrace::decode(bytes)?;
    let asked = format!("at {}, of {}, as of {}, context {}", t.at, t.query_at, maybe(t.as_of), t.context);
    let (level, limit, version, filter, forgotten) = (t.level, t.limit, t.version, &t.filter, t.forgotten);
    let bounds = format!("level {level}, limit {limit}, commit {version}, filter {filter:?}, forgotten {forgotten}");
    let hits = t.hits.iter().map(|hit| format!("id {}, version {}, parts {:?}", hex(&hit.id), hit.version, hit.parts));
    Ok(lines([asked, bounds].into_iter().chain(hits)))
}

fn show_frame(bytes: &[u8]) -> Result<String> {
    let (table, key, found) = frame::carve(bytes).ok_or_else(|| Error::corrupt("frame: malformed"))?;
    let (code, version, nonce) = (table.code(), found.version, hex(&found.nonce));
    Ok(format!("table {code}, key {}, commit {version}, nonce {nonce}, body {}", hex(key), hex(found.body)))
}

fn show_head(bytes: &[u8]) -> Result<String> {
    let f = UserFacts::decode(bytes)?;
    let numbers = format!("next row {}, next entry {}, next trace {}", f.next_row, f.next_log, f.next_trace);
    let counts = format!("live {}, images {}, linked {}, paused {}", f.live, f.log_images, f.linked, f.paused);
    let digests = f.digests.iter().map(|digest| format!("digest of {}: {:x?}", digest.count, digest.sum()));
    let measured = f.measured.map(|m| (m.space, m.rows, m.questions, m.watched, m.sampled, m.asked, m.watch));
    let first = format!("user {:?}, {numbers}, analyser {}", f.user_id.as_str(), f.analyser);
    let second = format!("{counts}, closed blocks {}", f.closed_blocks);
    Ok(lines([first, second].into_iter().chain(digests).chain([format!("measured {}", maybe(measured))])))
}

fn space(space: &Space) -> String {
    let (lo, hi, version) = (space.calibration.lo(), space.calibration.hi(), space.calibration.version());
    let calibration = format!("calibration {lo:?} to {hi:?} of version {version}");
    let (model, dims, languages) = (&space.model, space.dims, &space.languages);
    format!("space {model:?}, dims {dims}, {calibration}, languages {languages:?}, mean {}", maybe(space.mean.as_ref()))
}

fn show_manifest(bytes: &[u8]) -> Result<String> {
    let m = Manifest::decode(bytes)?;
    let (incompatible, compatible) = (&m.features.incompatible, &m.features.compatible);
    let features = format!("incompatible {incompatible:?}, compatible {compatible:?}, behind {}", hex(&m.extra));
    let first = format!("store {}, shards {}, suite {}", hex(&m.store_id), m.shards, m.suite);
    Ok(lines([first, features].into_iter().chain(m.spaces.iter().map(space))))
}

fn show_header(bytes: &[u8]) -> Result<String> {
    let h = Header::decode(bytes)?;
    let master = match h.master {
        MasterKind::LocalFile => "a local file".to_owned(),
        MasterKind::Callback => "a callback".to_owned(),
        MasterKind::Passphrase { salt, memory_kib, passes, lanes } => {
            format!("a passphrase, salt {}, {memory_kib} KiB, {passes} passes, {lanes} lanes", hex(&salt))
        }
    };
    Ok(lines([
        format!("suite {}, store {}, master key {master}", h.suite, hex(&h.store_id)),
        format!("check {}", hex(&h.check)),
        format!("root key {}", hex(&h.root_key)),
        format!("store secret {}", hex(&h.store_secret)),
        format!("last commits {:?}", h.clean),
    ]))
}

fn show_slot(bytes: &[u8]) -> Result<String> {
    let (slot, tag) = Slot::decode(bytes)?;
    let is_live = slot.state == crate::codec::keyring::SlotState::Live;
    let life =
        format!("generation {}, epoch {}, live {is_live}, erased at {}", slot.generation, slot.epoch, slot.erased_at);
    let (user_key, tombstone_key) = (hex(&slot.user_key), hex(&slot.tombstone_key));
    Ok(lines([
        format!("user {}, {life}", slot.user),
        format!("user key {user_key}"),
        format!("tombstone key {tombstone_key}"),
        format!("tag {}", hex(&tag)),
    ]))
}

fn show_tail(bytes: &[u8]) -> Result<String> {
    let (t, tag) = Tail::decode(bytes)?;
    let counts = format!("created {}, users {}, memories {}", t.created_at, t.users, t.memories);
    let places = format!("directory at {}, copy B at {}", t.directory_at, t.copy_b_at);
    let hashes = format!("hash {}, tag {}", hex(&t.directory_hash), hex(&tag));
    Ok(lines([format!("store {}, snapshot {}", hex(&t.store), hex(&t.snapshot)), counts, places, hashes]))
}

fn show_section(bytes: &[u8]) -> Result<String> {
    let section = decode_section(bytes)?;
    let rows = section.rows.iter().map(|row| {
        let (number, at, len) = (row.number, row.at, row.len);
        format!("id {}, key {}, number {number}, at {at}, length {len}", hex(&row.id), hex(&*row.key))
    });
    Ok(lines([format!("forgotten {}", section.forgotten)].into_iter().chain(rows)))
}

fn show_receipt(bytes: &[u8]) -> Result<String> {
    let r: Receipt = text(bytes)?.parse()?;
    let memory = r.memory.map_or_else(|| "none".to_owned(), |memory| hex(&memory));
    let life = format!("user {}, generation {}, epoch {}", r.user, r.generation, r.epoch);
    Ok(format!("{life}, memory {memory}, at {}, tag {}", r.at, hex(&r.tag)))
}

fn show_export_manifest(bytes: &[u8]) -> Result<String> {
    let (m, tag) = ExportManifest::decode(text(bytes)?)?;
    let whose = format!("store {}, user {}, generation {}", hex(&m.store), hex(&m.user), m.generation);
    let what = format!("as of {}, memories {}, exported at {}", m.as_of, m.memories, m.exported_at);
    Ok(lines([whose, what, format!("hash {}, tag {}", hex(&m.hash), hex(&tag))]))
}
