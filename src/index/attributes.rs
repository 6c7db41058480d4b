//! What filters can ask of a memory besides its facts; held only for memories that have any.

use std::collections::HashMap;

use crate::memory::{Evidence, Memory, MetaValue, Timestamp};

/// The filterable parts of one memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attributes {
    pub(crate) tags: Box<[String]>,
    pub(crate) scene: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) slot: Option<(String, String)>,
    pub(crate) evidence: Evidence,
    pub(crate) event_at: Option<Timestamp>,
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
            slot: memory.slot.as_ref().map(|slot| (slot.subject.clone(), slot.attribute.clone())),
            evidence: memory.evidence,
            event_at: memory.event_at,
            metadata: memory.metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        };
        (all != Self::default()).then(|| Box::new(all))
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
            slot: None,
            evidence: Evidence::Stated,
            event_at: None,
            metadata: Box::default(),
        }
    }
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
