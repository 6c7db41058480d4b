//! From memory to JSON. Fields that are not set are left out.

use super::{Line, hex};
use crate::codec::json::Json;
use crate::memory::{Memory, MemoryId, MetaValue, Source, Status, Timestamp};

type Fields = Vec<(String, Json)>;

pub(super) fn line(line: &Line) -> Json {
    let m = &line.memory;
    let mut out = Fields::new();
    put(&mut out, "id", Some(Json::text(&m.id)));
    put(&mut out, "kind", Some(Json::text(&m.kind)));
    put(&mut out, "text", Some(Json::text(&m.text)));
    put(&mut out, "slot", m.slot.as_ref().map(|slot| texts([&slot.subject, &slot.attribute])));
    put(&mut out, "value", m.value.as_ref().map(Json::text));
    put(&mut out, "tags", list(m.tags.iter().map(Json::text)));
    put(&mut out, "scene", m.scene.as_ref().map(Json::text));
    put(&mut out, "speaker", m.speaker.as_ref().map(Json::text));
    put(&mut out, "language", m.language.as_ref().map(Json::text));
    let turn = |turn: &crate::memory::Turn| Json::List(vec![Json::text(&turn.session), Json::number(&turn.seq)]);
    put(&mut out, "turn", m.turn.as_ref().map(turn));
    put(&mut out, "importance", Some(Json::number(&m.importance)));
    put(&mut out, "confidence", Some(Json::number(&m.confidence)));
    put(&mut out, "evidence", Some(Json::text(&m.evidence)));
    put(&mut out, "status", Some(status(m.status)));
    put(&mut out, "sensitivity", Some(Json::text(&m.sensitivity)));
    put(&mut out, "visibility", Some(Json::text(&m.visibility)));
    put(&mut out, "pinned", m.pinned.then_some(Json::Bool(true)));
    times(&mut out, m);
    for (name, count) in counts(m) {
        put(&mut out, name, Some(Json::number(&count)));
    }
    put(&mut out, "source", source(&m.source));
    put(&mut out, "derived_from", list(m.derived_from.iter().map(Json::text)));
    put(&mut out, "supersedes", list(m.supersedes.iter().map(Json::text)));
    let entry = |(name, value): (&String, &MetaValue)| (name.clone(), metadata(value));
    let entries: Fields = m.metadata.iter().map(entry).collect();
    put(&mut out, "metadata", Some(entries).filter(|entries| !entries.is_empty()).map(Json::Object));
    let model = line.model.as_ref();
    put(&mut out, "model", model.map(|(model, dims)| Json::List(vec![Json::text(model), Json::number(dims)])));
    let bytes = |numbers: &Vec<f32>| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    put(&mut out, "vector", line.vector.as_ref().map(|numbers| Json::Text(hex(&bytes(numbers)))));
    Json::Object(out)
}

fn put(out: &mut Fields, name: &str, value: Option<Json>) {
    out.extend(value.map(|value| (name.to_owned(), value)));
}

fn list(items: impl Iterator<Item = Json>) -> Option<Json> {
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Json::List)
}

fn texts<const N: usize>(texts: [&String; N]) -> Json {
    Json::List(texts.into_iter().map(Json::text).collect())
}

fn times(out: &mut Fields, m: &Memory) {
    let all = [
        ("created_at", Some(m.created_at)),
        ("event_at", m.event_at),
        ("valid_from", m.valid_from),
        ("valid_to", m.valid_to),
        ("updated_at", Some(m.updated_at)),
        ("revised_at", m.revised_at),
        ("ended_at", m.ended_at),
        ("last_used_at", m.last_used_at),
        ("last_confirmed_at", m.last_confirmed_at),
    ];
    all.into_iter().for_each(|(name, at)| put(out, name, at.as_ref().map(Json::text)));
}

fn counts(m: &Memory) -> [(&'static str, u32); 4] {
    [
        ("used_count", m.used_count),
        ("confirmed_count", m.confirmed_count),
        ("contradicted_count", m.contradicted_count),
        ("version", m.version),
    ]
}

/// The state, then its reason, then the successor or the time.
fn status(status: Status) -> Json {
    let kind = Json::text(&status.kind());
    Json::List(match status {
        Status::Active | Status::Candidate => vec![kind],
        Status::Superseded { by, reason } => {
            let by = by.as_ref().map(MemoryId::to_string);
            [kind, Json::text(&reason)].into_iter().chain(by.map(Json::Text)).collect()
        }
        Status::Archived { since, reason } => vec![kind, Json::text(&reason), Json::text(&since)],
    })
}

fn source(source: &Source) -> Option<Json> {
    let mut out = Fields::new();
    put(&mut out, "session", source.session.as_ref().map(Json::text));
    let turns = |(first, last): (u32, u32)| Json::List(vec![Json::number(&first), Json::number(&last)]);
    put(&mut out, "turns", source.turns.map(turns));
    put(&mut out, "actor", source.actor.as_ref().map(Json::text));
    put(&mut out, "trust", source.trust.as_ref().map(Json::text));
    put(&mut out, "extractor", source.extractor.as_ref().map(|(name, version)| texts([name, version])));
    put(&mut out, "extracted_at", source.extracted_at.as_ref().map(Timestamp::to_string).map(Json::Text));
    (!out.is_empty()).then_some(Json::Object(out))
}

/// Floats always show a fraction or an exponent, integers never.
fn metadata(value: &MetaValue) -> Json {
    match value {
        MetaValue::Text(text) => Json::text(text),
        MetaValue::Integer(number) => Json::number(number),
        MetaValue::Float(number) => Json::Number(format!("{number:?}")),
        MetaValue::Bool(value) => Json::Bool(*value),
        MetaValue::List(texts) => Json::List(texts.iter().map(Json::text).collect()),
    }
}
