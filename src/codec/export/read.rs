//! From JSON to memory. What is not known is refused: nothing may be lost without a word.

use std::str::FromStr;

use super::Line;
use crate::codec::json::Json;
use crate::error::{Error, Result};
use crate::memory::{
    ArchiveReason, Memory, MemoryId, MetaValue, Slot, Source, Status, StatusKind, SupersedeReason, Timestamp, Turn,
};

/// The fields of an object that were not read yet.
pub(super) struct Fields(Vec<(String, Json)>);

fn malformed(name: &str) -> Error {
    Error::invalid(format!("export: field {name} is missing or malformed"))
}

impl Fields {
    pub(super) fn of(json: Json) -> Result<Self> {
        let Json::Object(mut fields) = json else { return Err(malformed("(line)")) };
        fields.reverse();
        Ok(Self(fields))
    }

    /// A field, where it is the next one: they stand in one order.
    fn take(&mut self, name: &str) -> Option<Json> {
        self.0.pop_if(|(next, _)| next == name).map(|(_, value)| value)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(malformed(name)),
        }
    }

    fn read<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        self.text(name)?.map(|text| text.parse().map_err(|_| malformed(name))).transpose()
    }

    pub(super) fn must<T: FromStr>(&mut self, name: &str) -> Result<T> {
        self.read(name)?.ok_or_else(|| malformed(name))
    }

    pub(super) fn number<T: FromStr>(&mut self, name: &str) -> Result<T> {
        number(self.take(name)).ok_or_else(|| malformed(name))
    }

    pub(super) fn bytes<const N: usize>(&mut self, name: &str) -> Result<[u8; N]> {
        let bytes = self.text(name)?.and_then(|text| unhex(&text));
        bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| malformed(name))
    }

    fn items(&mut self, name: &str) -> Result<Option<Vec<Json>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::List(items)) => Ok(Some(items)),
            Some(_) => Err(malformed(name)),
        }
    }

    fn all<T: FromStr>(&mut self, name: &str) -> Result<Vec<T>> {
        let items = self.items(name)?.unwrap_or_default();
        items.into_iter().map(|item| parsed(item).ok_or_else(|| malformed(name))).collect()
    }

    fn pair<A, B>(&mut self, name: &str, read: impl Fn(Json, Json) -> Option<(A, B)>) -> Result<Option<(A, B)>> {
        let Some(items) = self.items(name)? else { return Ok(None) };
        let pair: [Json; 2] = items.try_into().map_err(|_| malformed(name))?;
        let [first, second] = pair;
        read(first, second).map(Some).ok_or_else(|| malformed(name))
    }
}

fn parsed<T: FromStr>(json: Json) -> Option<T> {
    if let Json::Text(text) = json { text.parse().ok() } else { None }
}

fn number<T: FromStr>(json: Option<Json>) -> Option<T> {
    if let Some(Json::Number(number)) = json { number.parse().ok() } else { None }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|nibble| nibble as u8);
    let bytes = pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

pub(super) fn line(json: Json) -> Result<Line> {
    let mut f = Fields::of(json)?;
    let memory = Memory {
        id: f.must("id")?,
        kind: f.must("kind")?,
        text: f.must("text")?,
        slot: f.pair("slot", |a, b| Some((parsed(a)?, parsed(b)?)))?.map(|(a, b): (String, String)| Slot::new(a, b)),
        value: f.text("value")?,
        tags: f.all("tags")?,
        scene: f.text("scene")?,
        speaker: f.text("speaker")?,
        language: f.text("language")?,
        turn: f.pair("turn", |a, b| Some((parsed(a)?, number(Some(b))?)))?.map(|(a, b): (String, u32)| Turn::new(a, b)),
        importance: f.number("importance")?,
        confidence: f.number("confidence")?,
        evidence: f.must("evidence")?,
        status: status(f.items("status")?)?,
        sensitivity: f.must("sensitivity")?,
        visibility: f.must("visibility")?,
        pinned: matches!(f.take("pinned"), Some(Json::Bool(true))),
        created_at: f.must("created_at")?,
        event_at: f.read("event_at")?,
        valid_from: f.read("valid_from")?,
        valid_to: f.read("valid_to")?,
        updated_at: f.must("updated_at")?,
        revised_at: f.read("revised_at")?,
        ended_at: f.read("ended_at")?,
        last_used_at: f.read("last_used_at")?,
        last_confirmed_at: f.read("last_confirmed_at")?,
        used_count: f.number("used_count")?,
        confirmed_count: f.number("confirmed_count")?,
        contradicted_count: f.number("contradicted_count")?,
        version: f.number("version")?,
        source: source(f.take("source"))?,
        derived_from: f.all("derived_from")?,
        supersedes: f.all("supersedes")?,
        space: None,
        metadata: metadata(f.take("metadata"))?,
    };
    let model = f.pair("model", |a, b| Some((parsed(a)?, number(Some(b))?)))?;
    let vector = f.text("vector")?.map(|text| floats(&text).ok_or_else(|| malformed("vector"))).transpose()?;
    match f.0.pop() {
        Some((name, _)) => Err(Error::invalid(format!("export: unexpected field of {} bytes", name.len()))),
        None => Ok(Line { memory, model, vector }),
    }
}

fn floats(text: &str) -> Option<Vec<f32>> {
    let bytes = unhex(text)?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn status(items: Option<Vec<Json>>) -> Result<Status> {
    let bad = || malformed("status");
    let mut items = items.ok_or_else(bad)?.into_iter();
    let kind: StatusKind = items.next().and_then(parsed).ok_or_else(bad)?;
    let mut text = || items.next().and_then(parsed::<String>);
    Ok(match kind {
        StatusKind::Active => Status::Active,
        StatusKind::Candidate => Status::Candidate,
        StatusKind::Superseded => {
            let reason: SupersedeReason = text().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
            let by = text().map(|text| text.parse::<MemoryId>()).transpose()?;
            Status::Superseded { by, reason }
        }
        StatusKind::Archived => {
            let reason: ArchiveReason = text().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
            let since: Timestamp = text().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
            Status::Archived { since, reason }
        }
    })
}

fn source(json: Option<Json>) -> Result<Source> {
    let Some(json) = json else { return Ok(Source::default()) };
    let mut f = Fields::of(json)?;
    Ok(Source {
        session: f.text("session")?,
        turns: f.pair("turns", |a, b| Some((number(Some(a))?, number(Some(b))?)))?,
        actor: f.text("actor")?,
        trust: f.read("trust")?,
        extractor: f.pair("extractor", |a, b| Some((parsed(a)?, parsed(b)?)))?,
        extracted_at: f.read("extracted_at")?,
    })
}

fn metadata(json: Option<Json>) -> Result<crate::memory::Metadata> {
    let Some(json) = json else { return Ok(crate::memory::Metadata::new()) };
    let Json::Object(fields) = json else { return Err(malformed("metadata")) };
    fields.into_iter().map(|(name, value)| Ok((name, meta_value(value)?))).collect()
}

fn meta_value(json: Json) -> Result<MetaValue> {
    let bad = || malformed("metadata");
    Ok(match json {
        Json::Text(text) => MetaValue::Text(text),
        Json::Bool(value) => MetaValue::Bool(value),
        Json::Number(number) if number.contains(['.', 'e']) => MetaValue::Float(number.parse().map_err(|_| bad())?),
        Json::Number(number) => MetaValue::Integer(number.parse().map_err(|_| bad())?),
        Json::List(items) => {
            let texts = items.into_iter().map(|item| parsed(item).ok_or_else(bad));
            MetaValue::List(texts.collect::<Result<_>>()?)
        }
        Json::Object(_) => return Err(bad()),
    })
}
