//! A memory as one JSON object: what `export` writes, `show --json` prints and `import` reads.

mod incoming;
mod metadata;
mod outgoing;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use incoming::Incoming;

/// The keys in the order of an export. Everything but `text` may be missing.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    text: String,
    #[serde(default)]
    slot: Option<SlotRecord>,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    scene: Option<String>,
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    turn: Option<TurnRecord>,
    #[serde(default)]
    importance: Option<f64>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    evidence: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    status_reason: Option<String>,
    #[serde(default)]
    superseded_by: Option<String>,
    #[serde(default)]
    archived_since: Option<String>,
    #[serde(default)]
    sensitivity: Option<String>,
    #[serde(default)]
    visibility: Option<String>,
    #[serde(default)]
    pinned: bool,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    event_at: Option<String>,
    #[serde(default)]
    valid_from: Option<String>,
    #[serde(default)]
    valid_to: Option<String>,
    /// Missing where the memory was never changed.
    #[serde(default)]
    updated_at: Option<String>,
    #[serde(default)]
    last_used_at: Option<String>,
    #[serde(default)]
    last_confirmed_at: Option<String>,
    #[serde(default)]
    used_count: u32,
    #[serde(default)]
    confirmed_count: u32,
    #[serde(default)]
    contradicted_count: u32,
    #[serde(default)]
    version: Option<u32>,
    #[serde(default)]
    source: SourceRecord,
    #[serde(default)]
    derived_from: Vec<String>,
    #[serde(default)]
    supersedes: Vec<String>,
    #[serde(default)]
    pending: bool,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlotRecord {
    subject: String,
    attribute: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnRecord {
    session: String,
    seq: u32,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceRecord {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    turns: Option<(u32, u32)>,
    #[serde(default)]
    actor: Option<String>,
    #[serde(default)]
    trust: Option<String>,
    #[serde(default)]
    extractor: Option<(String, String)>,
    #[serde(default)]
    extracted_at: Option<String>,
}
