use rkyv::{Archive, Serialize};

use crate::error::{Error, Result};
use crate::memory::{
    ArchiveReason, Evidence, Kind, Memory, MemoryId, MetaValue, Sensitivity, Slot, Source, Status, SupersedeReason,
    Timestamp, Trust, Turn, Visibility,
};

/// Version 1 of a record. Frozen: a change of fields is a new version.
#[derive(Archive, Serialize)]
pub(crate) struct RecordV1 {
    pub(crate) id: [u8; 16],
    pub(crate) kind: u8,
    pub(crate) text: String,
    pub(crate) slot: Option<(String, String)>,
    pub(crate) value: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) scene: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) turn: Option<(String, u32)>,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    pub(crate) evidence: u8,
    pub(crate) status: StatusV1,
    pub(crate) sensitivity: u8,
    pub(crate) visibility: u8,
    pub(crate) pinned: bool,
    pub(crate) created_at: i64,
    pub(crate) event_at: Option<i64>,
    pub(crate) valid_from: Option<i64>,
    pub(crate) valid_to: Option<i64>,
    pub(crate) updated_at: i64,
    pub(crate) revised_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) last_used_at: Option<i64>,
    pub(crate) last_confirmed_at: Option<i64>,
    pub(crate) used_count: u32,
    pub(crate) confirmed_count: u32,
    pub(crate) contradicted_count: u32,
    pub(crate) version: u32,
    pub(crate) source: SourceV1,
    pub(crate) derived_from: Vec<[u8; 16]>,
    pub(crate) supersedes: Vec<[u8; 16]>,
    pub(crate) space: Option<u32>,
    pub(crate) metadata: Vec<(String, MetaV1)>,
}

/// Little-endian, unaligned, with offsets of 32 bits: whoever turns on another feature of rkyv gets no program at all.
const _: () = {
    assert!(size_of::<ArchivedRecordV1>() == 309 && align_of::<ArchivedRecordV1>() == 1);
};

#[derive(Archive, Serialize)]
pub(crate) enum StatusV1 {
    Active,
    Candidate,
    Superseded { by: Option<[u8; 16]>, reason: u8 },
    Archived { since: i64, reason: u8 },
}

#[derive(Archive, Serialize)]
pub(crate) struct SourceV1 {
    session: Option<String>,
    turns: Option<(u32, u32)>,
    actor: Option<String>,
    trust: Option<u8>,
    extractor: Option<(String, String)>,
    extracted_at: Option<i64>,
}

#[derive(Archive, Serialize)]
pub(crate) enum MetaV1 {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    List(Vec<String>),
}

impl From<&Memory> for RecordV1 {
    fn from(m: &Memory) -> Self {
        let micros = |time: Option<Timestamp>| time.map(Timestamp::as_micros);
        Self {
            id: *m.id.as_bytes(),
            kind: m.kind.code(),
            text: m.text.clone(),
            slot: m.slot.as_ref().map(|slot| (slot.subject.clone(), slot.attribute.clone())),
            value: m.value.clone(),
            tags: m.tags.clone(),
            scene: m.scene.clone(),
            speaker: m.speaker.clone(),
            language: m.language.clone(),
            turn: m.turn.as_ref().map(|turn| (turn.session.clone(), turn.seq)),
            importance: m.importance,
            confidence: m.confidence,
            evidence: m.evidence.code(),
            status: StatusV1::from(m.status),
            sensitivity: m.sensitivity.code(),
            visibility: m.visibility.code(),
            pinned: m.pinned,
            created_at: m.created_at.as_micros(),
            event_at: micros(m.event_at),
            valid_from: micros(m.valid_from),
            valid_to: micros(m.valid_to),
            updated_at: m.updated_at.as_micros(),
            revised_at: micros(m.revised_at),
            ended_at: micros(m.ended_at),
            last_used_at: micros(m.last_used_at),
            last_confirmed_at: micros(m.last_confirmed_at),
            used_count: m.used_count,
            confirmed_count: m.confirmed_count,
            contradicted_count: m.contradicted_count,
            version: m.version,
            source: SourceV1::from(&m.source),
            derived_from: m.derived_from.iter().map(|id| *id.as_bytes()).collect(),
            supersedes: m.supersedes.iter().map(|id| *id.as_bytes()).collect(),
            space: m.space,
            metadata: m.metadata.iter().map(|(key, value)| (key.clone(), MetaV1::from(value))).collect(),
        }
    }
}

impl From<Status> for StatusV1 {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Candidate => Self::Candidate,
            Status::Superseded { by, reason } => {
                Self::Superseded { by: by.map(|id| *id.as_bytes()), reason: reason.code() }
            }
            Status::Archived { since, reason } => Self::Archived { since: since.as_micros(), reason: reason.code() },
        }
    }
}

impl From<&Source> for SourceV1 {
    fn from(source: &Source) -> Self {
        Self {
            session: source.session.clone(),
            turns: source.turns,
            actor: source.actor.clone(),
            trust: source.trust.map(Trust::code),
            extractor: source.extractor.clone(),
            extracted_at: source.extracted_at.map(Timestamp::as_micros),
        }
    }
}

impl From<&MetaValue> for MetaV1 {
    fn from(value: &MetaValue) -> Self {
        match value {
            MetaValue::Text(text) => Self::Text(text.clone()),
            MetaValue::Integer(number) => Self::Integer(*number),
            MetaValue::Float(number) => Self::Float(*number),
            MetaValue::Bool(value) => Self::Bool(*value),
            MetaValue::List(texts) => Self::List(texts.clone()),
        }
    }
}

/// What a code stands for; one that this version does not know is a newer one's.
fn known<T>(field: &str, code: u8, read: fn(u8) -> Option<T>) -> Result<T> {
    read(code).ok_or_else(|| Error::newer(format!("record: {field} {code}")))
}

fn text(value: &rkyv::option::ArchivedOption<rkyv::string::ArchivedString>) -> Option<String> {
    value.as_ref().map(|text| text.as_str().to_owned())
}

fn ids(values: &[[u8; 16]]) -> Vec<MemoryId> {
    values.iter().map(|bytes| MemoryId::from_bytes(*bytes)).collect()
}

/// A time that may be missing, as microseconds.
pub(crate) fn micros(value: &rkyv::option::ArchivedOption<rkyv::primitive::ArchivedI64>) -> Option<i64> {
    value.as_ref().map(|micros| micros.to_native())
}

fn time(value: &rkyv::option::ArchivedOption<rkyv::primitive::ArchivedI64>) -> Option<Timestamp> {
    micros(value).map(Timestamp::from_micros)
}

impl ArchivedRecordV1 {
    pub(crate) fn to_memory(&self) -> Result<Memory> {
        Ok(Memory {
            id: MemoryId::from_bytes(self.id),
            kind: known("kind", self.kind, Kind::from_code)?,
            text: self.text.as_str().to_owned(),
            slot: self.slot.as_ref().map(|pair| Slot::new(pair.0.as_str(), pair.1.as_str())),
            value: text(&self.value),
            tags: self.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            scene: text(&self.scene),
            speaker: text(&self.speaker),
            language: text(&self.language),
            turn: self.turn.as_ref().map(|pair| Turn::new(pair.0.as_str(), pair.1.to_native())),
            importance: self.importance.to_native(),
            confidence: self.confidence.to_native(),
            evidence: known("evidence", self.evidence, Evidence::from_code)?,
            status: self.status.to_status()?,
            sensitivity: known("sensitivity", self.sensitivity, Sensitivity::from_code)?,
            visibility: known("visibility", self.visibility, Visibility::from_code)?,
            pinned: self.pinned,
            created_at: Timestamp::from_micros(self.created_at.to_native()),
            event_at: time(&self.event_at),
            valid_from: time(&self.valid_from),
            valid_to: time(&self.valid_to),
            updated_at: Timestamp::from_micros(self.updated_at.to_native()),
            revised_at: time(&self.revised_at),
            ended_at: time(&self.ended_at),
            last_used_at: time(&self.last_used_at),
            last_confirmed_at: time(&self.last_confirmed_at),
            used_count: self.used_count.to_native(),
            confirmed_count: self.confirmed_count.to_native(),
            contradicted_count: self.contradicted_count.to_native(),
            version: self.version.to_native(),
            source: self.source.to_source()?,
            derived_from: ids(&self.derived_from),
            supersedes: ids(&self.supersedes),
            space: self.space.as_ref().map(|space| space.to_native()),
            metadata: self.metadata.iter().map(|pair| (pair.0.as_str().to_owned(), pair.1.to_value())).collect(),
        })
    }

    /// The time from which it fades, as [`Memory::fades_from`] has it.
    pub(crate) fn fades_from(&self) -> i64 {
        let came_about = micros(&self.event_at).unwrap_or_else(|| self.created_at.to_native());
        [micros(&self.last_confirmed_at), micros(&self.last_used_at)].into_iter().flatten().fold(came_about, i64::max)
    }
}

impl ArchivedStatusV1 {
    fn to_status(&self) -> Result<Status> {
        Ok(match self {
            Self::Active => Status::Active,
            Self::Candidate => Status::Candidate,
            Self::Superseded { by, reason } => Status::Superseded {
                by: by.as_ref().map(|id| MemoryId::from_bytes(*id)),
                reason: known("reason", *reason, SupersedeReason::from_code)?,
            },
            Self::Archived { since, reason } => Status::Archived {
                since: Timestamp::from_micros(since.to_native()),
                reason: known("reason", *reason, ArchiveReason::from_code)?,
            },
        })
    }

    /// The code of the state without its particulars.
    pub(crate) fn kind(&self) -> crate::memory::StatusKind {
        use crate::memory::StatusKind;
        match self {
            Self::Active => StatusKind::Active,
            Self::Candidate => StatusKind::Candidate,
            Self::Superseded { .. } => StatusKind::Superseded,
            Self::Archived { .. } => StatusKind::Archived,
        }
    }
}

impl ArchivedSourceV1 {
    fn to_source(&self) -> Result<Source> {
        let trust = self.trust.as_ref().map(|code| known("trust", *code, Trust::from_code)).transpose()?;
        Ok(Source {
            session: text(&self.session),
            turns: self.turns.as_ref().map(|pair| (pair.0.to_native(), pair.1.to_native())),
            actor: text(&self.actor),
            trust,
            extractor: self.extractor.as_ref().map(|pair| (pair.0.as_str().to_owned(), pair.1.as_str().to_owned())),
            extracted_at: time(&self.extracted_at),
        })
    }
}

impl ArchivedMetaV1 {
    pub(crate) fn to_value(&self) -> MetaValue {
        match self {
            Self::Text(text) => MetaValue::Text(text.as_str().to_owned()),
            Self::Integer(number) => MetaValue::Integer(number.to_native()),
            Self::Float(number) => MetaValue::Float(number.to_native()),
            Self::Bool(value) => MetaValue::Bool(*value),
            Self::List(texts) => MetaValue::List(texts.iter().map(|text| text.as_str().to_owned()).collect()),
        }
    }
}
