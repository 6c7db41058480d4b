//! What filters can ask of a memory besides its facts; held only for memories that have any.

use std::collections::HashMap;

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;
use crate::memory::{Evidence, Memory, MetaValue, Timestamp};

const VERSION: u8 = 1;

/// The filterable parts of one memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attributes {
    pub(crate) tags: Box<[String]>,
    pub(crate) scene: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) session: Option<String>,
    /// The place in the session; 0 without one.
    pub(crate) seq: u32,
    pub(crate) slot: Option<(String, String)>,
    pub(crate) evidence: Evidence,
    pub(crate) event_at: Option<Timestamp>,
    /// When what it says was last changed in place.
    pub(crate) revised_at: Option<Timestamp>,
    /// When it was superseded or archived.
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) metadata: Box<[(String, MetaValue)]>,
}

impl Attributes {
    /// Those of a memory; `None` where it has nothing beyond the defaults.
    pub(crate) fn of(memory: &Memory) -> Option<Box<Self>> {
        let all = Self {
            tags: memory.tags.clone().into_boxed_slice(),
            scene: memory.scene.clone(),
            speaker: memory.speaker.clone(),
            language: memory.language.clone(),
            session: memory.turn.as_ref().map(|turn| turn.session.clone()),
            seq: memory.turn.as_ref().map_or(0, |turn| turn.seq),
            slot: memory.slot.as_ref().map(|slot| (slot.subject.clone(), slot.attribute.clone())),
            evidence: memory.evidence,
            event_at: memory.event_at,
            revised_at: memory.revised_at,
            ended_at: memory.ended_at,
            metadata: memory.metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        };
        (all != Self::default()).then(|| Box::new(all))
    }

    /// The attributes in bytes, for a block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(VERSION);
        let fields = [&self.scene, &self.speaker, &self.language, &self.session];
        fields.into_iter().for_each(|field| put_text(&mut out, field.as_deref()));
        put_text(&mut out, self.slot.as_ref().map(|slot| slot.0.as_str()));
        put_text(&mut out, self.slot.as_ref().map(|slot| slot.1.as_str()));
        out.u8(self.evidence.code()).u32(self.seq);
        [self.event_at, self.revised_at, self.ended_at].into_iter().for_each(|time| put_time(&mut out, time));
        put_texts(&mut out, &self.tags);
        out.u32(self.metadata.len() as u32);
        for (key, value) in &self.metadata {
            put_value(out.block(key.as_bytes()), value);
        }
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "attributes");
        input.version(VERSION)?;
        let (scene, speaker) = (take_text(&mut input)?, take_text(&mut input)?);
        let (language, session) = (take_text(&mut input)?, take_text(&mut input)?);
        let slot = take_text(&mut input)?.zip(take_text(&mut input)?);
        let evidence = input.u8()?;
        let evidence = Evidence::from_code(evidence).ok_or_else(|| input.newer("evidence", evidence))?;
        let seq = input.u32()?;
        let (event_at, revised_at, ended_at) = (take_time(&mut input)?, take_time(&mut input)?, take_time(&mut input)?);
        let tags = take_texts(&mut input)?.into_boxed_slice();
        let count = input.count(5)?;
        let metadata = (0..count).map(|_| Ok((input.text()?, take_value(&mut input)?))).collect::<Result<_>>()?;
        input.end()?;
        Ok(Self {
            tags,
            scene,
            speaker,
            language,
            session,
            seq,
            slot,
            evidence,
            event_at,
            revised_at,
            ended_at,
            metadata,
        })
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&MetaValue> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Rough size in memory.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.scene, &self.speaker, &self.language, &self.session];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let tags: usize = self.tags.iter().map(|tag| tag.len() + size_of::<String>()).sum();
        let metadata: usize = self.metadata.iter().map(|(key, value)| key.len() + value_bytes(value) + 56).sum();
        size_of::<Self>() + texts + tags + metadata + self.slot.as_ref().map_or(0, |(a, b)| a.len() + b.len())
    }
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            tags: Box::default(),
            scene: None,
            speaker: None,
            language: None,
            session: None,
            seq: 0,
            slot: None,
            evidence: Evidence::Stated,
            event_at: None,
            revised_at: None,
            ended_at: None,
            metadata: Box::default(),
        }
    }
}

fn put_text(out: &mut Writer, text: Option<&str>) {
    out.u8(u8::from(text.is_some())).block(text.unwrap_or_default().as_bytes());
}

fn take_text(input: &mut Reader<'_>) -> Result<Option<String>> {
    let has = input.u8()? != 0;
    let text = input.text()?;
    Ok(has.then_some(text))
}

fn put_time(out: &mut Writer, time: Option<Timestamp>) {
    out.u8(u8::from(time.is_some())).i64(time.map_or(0, Timestamp::as_micros));
}

fn take_time(input: &mut Reader<'_>) -> Result<Option<Timestamp>> {
    let (has, micros) = (input.u8()? != 0, input.i64()?);
    Ok(has.then(|| Timestamp::from_micros(micros)))
}

fn put_texts(out: &mut Writer, texts: &[String]) {
    out.u32(texts.len() as u32);
    texts.iter().for_each(|text| _ = out.block(text.as_bytes()));
}

fn take_texts(input: &mut Reader<'_>) -> Result<Vec<String>> {
    (0..input.count(4)?).map(|_| input.text()).collect()
}

fn put_value(out: &mut Writer, value: &MetaValue) {
    match value {
        MetaValue::Text(text) => _ = out.u8(0).block(text.as_bytes()),
        MetaValue::Integer(number) => _ = out.u8(1).i64(*number),
        MetaValue::Float(number) => _ = out.u8(2).f64(*number),
        MetaValue::Bool(value) => _ = out.u8(3).u8(u8::from(*value)),
        MetaValue::List(texts) => put_texts(out.u8(4), texts),
    }
}

fn take_value(input: &mut Reader<'_>) -> Result<MetaValue> {
    Ok(match input.u8()? {
        0 => MetaValue::Text(input.text()?),
        1 => MetaValue::Integer(input.i64()?),
        2 => MetaValue::Float(input.f64()?),
        3 => MetaValue::Bool(input.u8()? != 0),
        4 => MetaValue::List(take_texts(input)?),
        other => return Err(input.newer("type", other)),
    })
}

fn value_bytes(value: &MetaValue) -> usize {
    match value {
        MetaValue::Text(text) => text.len(),
        MetaValue::List(texts) => texts.iter().map(|text| text.len() + size_of::<String>()).sum(),
        MetaValue::Integer(_) | MetaValue::Float(_) | MetaValue::Bool(_) => 0,
    }
}

/// How many memories hold a metadata key with which type, by level of sensitivity: what makes a comparison across
/// types an error, without a word of what lies above the caller's level.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schema(HashMap<String, [[u32; TYPES.len()]; 4]>);

/// Names of the types, in the order of the counters.
const TYPES: [&str; 4] = ["text", "number", "bool", "list"];

fn type_index(value: &MetaValue) -> usize {
    TYPES.iter().position(|name| *name == value.type_name()).unwrap_or(0)
}

impl Schema {
    pub(crate) fn add(&mut self, attributes: &Attributes, level: u8) {
        for (key, value) in &attributes.metadata {
            self.0.entry(key.clone()).or_default()[usize::from(level)][type_index(value)] += 1;
        }
    }

    pub(crate) fn subtract(&mut self, attributes: &Attributes, level: u8) {
        for (key, value) in &attributes.metadata {
            if let Some(counts) = self.0.get_mut(key) {
                let count = &mut counts[usize::from(level)][type_index(value)];
                *count = count.saturating_sub(1);
            }
        }
    }

    /// A type other than that of `value` which memories up to `level` hold under `key`.
    pub(crate) fn other_type(&self, key: &str, value: &MetaValue, level: u8) -> Option<&'static str> {
        let counts = self.0.get(key)?;
        let other = (0..TYPES.len())
            .find(|t| *t != type_index(value) && counts[..=usize::from(level)].iter().any(|c| c[*t] > 0));
        other.map(|t| TYPES[t])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryId, NewMemory};

    #[test]
    fn every_attribute_comes_back() {
        let new =
            NewMemory::fact("x").tag("b").tag("a").scene("s").speaker("Ada").language("zh").turn("t", 7).inferred();
        let new = new.slot("user", "city").event_at(Timestamp::from_micros(-4)).metadata("i", 5i64).metadata("f", 0.5);
        let new = new.metadata("b", true).metadata("t", "x").metadata("l", vec!["p".to_owned()]);
        let mut memory = new.admit(MemoryId::from_u128(1), Timestamp::from_micros(3)).unwrap();
        memory.revised_at = Some(Timestamp::from_micros(5));
        memory.ended_at = Some(Timestamp::from_micros(6));
        let attributes = Attributes::of(&memory).unwrap();
        let bytes = attributes.encode();
        assert_eq!(Attributes::decode(&bytes).unwrap(), *attributes);
        (0..bytes.len()).for_each(|cut| _ = Attributes::decode(&bytes[..cut]));
    }
}
