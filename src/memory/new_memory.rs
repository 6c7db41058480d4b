use std::fmt;

use crate::error::{Error, Result};
use crate::memory::limits::{
    LANGUAGE_BYTES_MAX, LINKS_MAX, NAME_BYTES_MAX, TAG_BYTES_MAX, TAGS_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::memory::record::check_name;
use crate::memory::{
    Evidence, Kind, Memory, MemoryId, MetaValue, Metadata, Sensitivity, Slot, Source, Status, Timestamp, Turn,
    Visibility, metadata,
};

/// A memory to be stored: a kind, a text, and what else is known of it.
///
/// ```
/// use mnemic::memory::{NewMemory, Sensitivity};
///
/// let seat = NewMemory::preference("Prefers window seats").slot("user", "seat").value("window").tag("travel");
/// let diary = NewMemory::episode("Visited the clinic").sensitivity(Sensitivity::Sensitive);
/// # let _ = (seat, diary);
/// ```
///
/// Nothing is checked until it is stored; then every limit of [`limits`](crate::memory::limits) is, and the error
/// names the field.
#[derive(Clone)]
pub struct NewMemory {
    pub(crate) id: Option<MemoryId>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) status: Status,
    fields: Fields,
}

#[derive(Clone)]
struct Fields {
    kind: Kind,
    text: String,
    slot: Option<Slot>,
    value: Option<String>,
    tags: Vec<String>,
    scene: Option<String>,
    speaker: Option<String>,
    language: Option<String>,
    turn: Option<Turn>,
    importance: f32,
    confidence: f32,
    evidence: Evidence,
    sensitivity: Sensitivity,
    visibility: Visibility,
    pinned: bool,
    event_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
    valid_to: Option<Timestamp>,
    source: Source,
    derived_from: Vec<MemoryId>,
    metadata: Metadata,
}

macro_rules! of_kind {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)+) => {
        impl NewMemory {
            $($(#[$doc])* pub fn $name(text: impl Into<String>) -> Self { Self::new(Kind::$kind, text) })+
        }
    };
}

of_kind! {
    /// Something that happened or was said.
    episode => Episode;
    /// Something that holds.
    fact => Fact;
    /// What the user likes or wants.
    preference => Preference;
    /// What the user turned down.
    rejection => Rejection;
    /// What the user wants to reach.
    goal => Goal;
    /// Something to be done.
    task => Task;
    /// How a thing is done.
    procedure => Procedure;
    /// What the agent itself did or recommended.
    action => Action;
    /// Anything else worth keeping.
    note => Note;
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => |$fields:ident| $set:expr;)+) => {
        impl NewMemory {
            $($(#[$doc])* pub fn $name(mut self, $($argument: $type),*) -> Self {
                let $fields = &mut self.fields;
                $set;
                self
            })+
        }
    };
}

setters! {
    /// What a fact is about. Default: nothing in particular.
    slot(subject: impl Into<String>, attribute: impl Into<String>) => |f| f.slot = Some(Slot::new(subject, attribute));
    /// The value of its slot. Default: none.
    value(value: impl Into<String>) => |f| f.value = Some(value.into());
    /// Adds a tag.
    tag(tag: impl Into<String>) => |f| f.tags.push(tag.into());
    /// Where or in what setting it belongs. Default: anywhere.
    scene(scene: impl Into<String>) => |f| f.scene = Some(scene.into());
    /// Who said it. Default: unknown.
    speaker(speaker: impl Into<String>) => |f| f.speaker = Some(speaker.into());
    /// Its language (BCP 47). Default: unknown.
    language(language: impl Into<String>) => |f| f.language = Some(language.into());
    /// Its place in a conversation. Default: none.
    turn(session: impl Into<String>, seq: u32) => |f| f.turn = Some(Turn::new(session, seq));
    /// How much it matters, in [0, 1]. Default: 1.
    importance(importance: f32) => |f| f.importance = importance;
    /// How sure it is, in [0, 1]. Default: 1.
    confidence(confidence: f32) => |f| f.confidence = confidence;
    /// How it came to be known. Default: stated.
    evidence(evidence: Evidence) => |f| f.evidence = evidence;
    /// The user said it: the default.
    stated() => |f| f.evidence = Evidence::Stated;
    /// A model concluded it.
    inferred() => |f| f.evidence = Evidence::Inferred;
    /// How private it is. Default: personal.
    sensitivity(sensitivity: Sensitivity) => |f| f.sensitivity = sensitivity;
    /// What an answer may do with it. Default: quote.
    visibility(visibility: Visibility) => |f| f.visibility = visibility;
    /// Never fades. Default: it does.
    pinned(pinned: bool) => |f| f.pinned = pinned;
    /// When what it tells happened. Default: unknown.
    event_at(at: Timestamp) => |f| f.event_at = Some(at);
    /// Since when it holds. Default: unknown.
    valid_from(at: Timestamp) => |f| f.valid_from = Some(at);
    /// Until when it holds. Default: no end.
    valid_to(at: Timestamp) => |f| f.valid_to = Some(at);
    /// Where it came from. Default: unknown.
    source(source: Source) => |f| f.source = source;
    /// Adds a memory that it was made of.
    derived_from(id: MemoryId) => |f| f.derived_from.push(id);
    /// Sets an entry of the metadata.
    metadata(key: impl Into<String>, value: impl Into<MetaValue>) => |f| f.metadata.insert(key.into(), value.into());
}

impl NewMemory {
    /// A memory of `kind` that says `text`.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        let fields = Fields {
            kind,
            text: text.into(),
            slot: None,
            value: None,
            tags: Vec::new(),
            scene: None,
            speaker: None,
            language: None,
            turn: None,
            importance: 1.0,
            confidence: 1.0,
            evidence: Evidence::Stated,
            sensitivity: Sensitivity::Personal,
            visibility: Visibility::Quote,
            pinned: false,
            event_at: None,
            valid_from: None,
            valid_to: None,
            source: Source::default(),
            derived_from: Vec::new(),
            metadata: Metadata::new(),
        };
        Self { id: None, created_at: None, vector: None, status: Status::Active, fields }
    }

    /// Brings an id. Default: the store makes one. Storing the same id and content again changes nothing.
    pub fn id(mut self, id: MemoryId) -> Self {
        self.id = Some(id);
        self
    }

    /// When it came about. Default: now.
    pub fn created_at(mut self, at: Timestamp) -> Self {
        self.created_at = Some(at);
        self
    }

    /// Brings its vector, of any length but zero. Default: the store's embedder makes one.
    pub fn vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.vector = Some(vector.into());
        self
    }

    /// Marks it as suspected only: recall passes it over until it is confirmed.
    pub fn candidate(mut self) -> Self {
        self.status = Status::Candidate;
        self
    }

    /// Starts a memory that inherits everything but the text from `old`, as a correction does.
    pub(crate) fn inheriting(old: &Memory, text: String) -> Self {
        let fields = Fields {
            kind: old.kind,
            text,
            slot: old.slot.clone(),
            value: None,
            tags: old.tags.clone(),
            scene: old.scene.clone(),
            speaker: old.speaker.clone(),
            language: old.language.clone(),
            turn: old.turn.clone(),
            importance: old.importance,
            confidence: 1.0,
            evidence: Evidence::Stated,
            sensitivity: old.sensitivity,
            visibility: old.visibility,
            pinned: old.pinned,
            event_at: None,
            valid_from: None,
            valid_to: None,
            source: Source::default(),
            derived_from: Vec::new(),
            metadata: old.metadata.clone(),
        };
        Self { id: None, created_at: None, vector: None, status: Status::Active, fields }
    }

    /// Checks every limit and makes the record that would be stored at `now`.
    pub(crate) fn admit(self, id: MemoryId, now: Timestamp) -> Result<Memory> {
        let Self { created_at, status, fields, .. } = self;
        let mut memory = fields.into_memory(id, status, created_at.unwrap_or(now), now);
        memory.tags.sort_unstable();
        memory.tags.dedup();
        check(&memory)?;
        Ok(memory)
    }
}

impl Fields {
    fn into_memory(self, id: MemoryId, status: Status, created_at: Timestamp, now: Timestamp) -> Memory {
        Memory {
            id,
            kind: self.kind,
            text: self.text,
            slot: self.slot,
            value: self.value,
            tags: self.tags,
            scene: self.scene,
            speaker: self.speaker,
            language: self.language,
            turn: self.turn,
            importance: self.importance,
            confidence: self.confidence,
            evidence: self.evidence,
            status,
            sensitivity: self.sensitivity,
            visibility: self.visibility,
            pinned: self.pinned,
            created_at,
            event_at: self.event_at,
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            updated_at: now,
            revised_at: None,
            ended_at: None,
            last_used_at: None,
            last_confirmed_at: None,
            used_count: 0,
            confirmed_count: 0,
            contradicted_count: 0,
            version: 1,
            source: self.source,
            derived_from: self.derived_from,
            supersedes: Vec::new(),
            space: None,
            metadata: self.metadata,
        }
    }
}

/// Checks every limit of a record: on the way in, and after every change.
pub(crate) fn check(memory: &Memory) -> Result<()> {
    check_name("text", &memory.text, TEXT_BYTES_MAX)?;
    check_unit("importance", memory.importance)?;
    check_unit("confidence", memory.confidence)?;
    check_facts(memory)?;
    check_tags(&memory.tags)?;
    for (field, name, max) in [
        ("scene", &memory.scene, NAME_BYTES_MAX),
        ("speaker", &memory.speaker, NAME_BYTES_MAX),
        ("language", &memory.language, LANGUAGE_BYTES_MAX),
    ] {
        if let Some(name) = name {
            check_name(field, name, max)?;
        }
    }
    memory.turn.as_ref().map_or(Ok(()), Turn::check)?;
    memory.source.check()?;
    for (field, ids) in [("derived_from", &memory.derived_from), ("supersedes", &memory.supersedes)] {
        if ids.len() > LINKS_MAX {
            return Err(Error::invalid(format!("{field}: {} ids, at most {LINKS_MAX}", ids.len())));
        }
    }
    metadata::check(&memory.metadata)
}

fn check_facts(memory: &Memory) -> Result<()> {
    if let Some(slot) = &memory.slot {
        slot.check()?;
    }
    if let Some(value) = &memory.value {
        check_name("value", value, VALUE_BYTES_MAX)?;
        if memory.slot.is_none() {
            return Err(Error::invalid("value: given without a slot"));
        }
    }
    match (memory.valid_from, memory.valid_to) {
        (Some(from), Some(to)) if from > to => Err(Error::invalid("valid_to: lies before valid_from")),
        _ => Ok(()),
    }
}

fn check_unit(field: &str, value: f32) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(format!("{field}: {value}, must be in 0 to 1")))
}

fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > TAGS_MAX {
        return Err(Error::invalid(format!("tags: {}, at most {TAGS_MAX}", tags.len())));
    }
    tags.iter().try_for_each(|tag| check_name("tag", tag, TAG_BYTES_MAX))
}

impl fmt::Debug for NewMemory {
    /// Shows the kind and sizes, never what is to be remembered.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewMemory")
            .field("id", &self.id)
            .field("kind", &self.fields.kind)
            .field("text_bytes", &self.fields.text.len())
            .field("vector_dims", &self.vector.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}
