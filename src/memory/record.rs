use std::fmt;

use crate::error::{Error, Result};
use crate::memory::{
    Evidence, Kind, MemoryId, Metadata, Sensitivity, Slot, Source, Status, StatusKind, Timestamp, Turn, Visibility,
};

/// One remembered thing, as it stands in the store.
///
/// Made by [`NewMemory`](crate::memory::NewMemory) and the store; read through the methods.
#[derive(Clone, PartialEq)]
pub struct Memory {
    pub(crate) id: MemoryId,
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) slot: Option<Slot>,
    pub(crate) value: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) scene: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) turn: Option<Turn>,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    pub(crate) evidence: Evidence,
    pub(crate) status: Status,
    pub(crate) sensitivity: Sensitivity,
    pub(crate) visibility: Visibility,
    pub(crate) pinned: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) event_at: Option<Timestamp>,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
    pub(crate) updated_at: Timestamp,
    pub(crate) revised_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) last_confirmed_at: Option<Timestamp>,
    pub(crate) used_count: u32,
    pub(crate) confirmed_count: u32,
    pub(crate) contradicted_count: u32,
    pub(crate) version: u32,
    pub(crate) source: Source,
    pub(crate) derived_from: Vec<MemoryId>,
    pub(crate) supersedes: Vec<MemoryId>,
    pub(crate) space: Option<u32>,
    pub(crate) metadata: Metadata,
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty = |$memory:ident| $value:expr;)+) => {
        impl Memory {
            $($(#[$doc])* pub fn $name(&self) -> $type { let $memory = self; $value })+
        }
    };
}

getters! {
    /// Its id.
    id: MemoryId = |m| m.id;
    /// What sort of thing it is.
    kind: Kind = |m| m.kind;
    /// What is remembered, as it was given.
    text: &str = |m| &m.text;
    /// What a fact is about.
    slot: Option<&Slot> = |m| m.slot.as_ref();
    /// The value of that slot.
    value: Option<&str> = |m| m.value.as_deref();
    /// Tags, sorted, each once.
    tags: &[String] = |m| &m.tags;
    /// Where or in what setting it belongs.
    scene: Option<&str> = |m| m.scene.as_deref();
    /// Who said it.
    speaker: Option<&str> = |m| m.speaker.as_deref();
    /// Its language (BCP 47).
    language: Option<&str> = |m| m.language.as_deref();
    /// Its place in a conversation.
    turn: Option<&Turn> = |m| m.turn.as_ref();
    /// How much it matters, in [0, 1].
    importance: f32 = |m| m.importance;
    /// How sure it is, in [0, 1].
    confidence: f32 = |m| m.confidence;
    /// How it came to be known.
    evidence: Evidence = |m| m.evidence;
    /// Its state.
    status: Status = |m| m.status;
    /// How private it is.
    sensitivity: Sensitivity = |m| m.sensitivity;
    /// What an answer may do with it.
    visibility: Visibility = |m| m.visibility;
    /// Whether it never fades.
    pinned: bool = |m| m.pinned;
    /// When it was stored, or when the caller says that it came about.
    created_at: Timestamp = |m| m.created_at;
    /// When what it tells happened.
    event_at: Option<Timestamp> = |m| m.event_at;
    /// Since when it holds.
    valid_from: Option<Timestamp> = |m| m.valid_from;
    /// Until when it holds.
    valid_to: Option<Timestamp> = |m| m.valid_to;
    /// When it was last changed.
    updated_at: Timestamp = |m| m.updated_at;
    /// When what it says was last changed in place; `None` while it says what it said when it was stored.
    revised_at: Option<Timestamp> = |m| m.revised_at;
    /// When it was superseded or archived.
    ended_at: Option<Timestamp> = |m| m.ended_at;
    /// When it was last used in an answer.
    last_used_at: Option<Timestamp> = |m| m.last_used_at;
    /// When it was last confirmed.
    last_confirmed_at: Option<Timestamp> = |m| m.last_confirmed_at;
    /// How often it was used.
    used_count: u32 = |m| m.used_count;
    /// How often it was confirmed.
    confirmed_count: u32 = |m| m.confirmed_count;
    /// How often it was contradicted.
    contradicted_count: u32 = |m| m.contradicted_count;
    /// 1 when stored, one more with each change.
    version: u32 = |m| m.version;
    /// Where it came from.
    source: &Source = |m| &m.source;
    /// The memories that it was made of.
    derived_from: &[MemoryId] = |m| &m.derived_from;
    /// The memories that it replaced.
    supersedes: &[MemoryId] = |m| &m.supersedes;
    /// Whether no vector is stored with it, so that it can't be found by meaning.
    is_pending: bool = |m| m.space.is_none();
    /// Free metadata.
    metadata: &Metadata = |m| &m.metadata;
}

impl Memory {
    /// Whether it is a turn: an episode with its place in a conversation and its speaker.
    pub fn is_turn(&self) -> bool {
        self.kind == Kind::Episode && self.turn.is_some() && self.speaker.is_some()
    }

    /// The time from which it fades: when it happened or was made, or was last confirmed or used if that is later.
    pub fn fades_from(&self) -> Timestamp {
        let came_about = self.event_at.unwrap_or(self.created_at);
        [self.last_confirmed_at, self.last_used_at].into_iter().flatten().fold(came_about, Timestamp::max)
    }

    /// Whether it was known, in use and valid at an instant, in the words that it has now.
    pub(crate) fn stood(&self, then: Timestamp) -> bool {
        let known = self.created_at <= then && self.revised_at.is_none_or(|at| at <= then);
        let valid = self.valid_from.is_none_or(|from| from <= then) && self.valid_to.is_none_or(|to| then < to);
        let in_use = self.status == Status::Active || self.ended_at.is_some_and(|at| at > then);
        known && valid && in_use
    }

    /// Notes what a change at `now` means for those who ask what was known before it.
    pub(crate) fn note_change(&mut self, before: &Self, now: Timestamp) {
        let was = before.status.kind();
        match self.status.kind() {
            StatusKind::Superseded | StatusKind::Archived => _ = self.ended_at.get_or_insert(now),
            StatusKind::Active | StatusKind::Candidate => self.ended_at = None,
        }
        if was == StatusKind::Candidate && self.status == Status::Active || !self.says_the_same(before) {
            self.revised_at = Some(now);
        }
    }

    fn says_the_same(&self, other: &Self) -> bool {
        let said = |m: &Self| (m.kind, m.event_at, m.valid_from, m.valid_to);
        said(self) == said(other)
            && (&self.text, &self.slot, &self.value, &self.speaker)
                == (&other.text, &other.slot, &other.value, &other.speaker)
    }

    /// Sets what the engine keeps of `other`, so that two records can be compared by content alone.
    pub(crate) fn with_engine_fields_of(mut self, other: &Self) -> Self {
        self.status = other.status;
        self.updated_at = other.updated_at;
        self.revised_at = other.revised_at;
        self.ended_at = other.ended_at;
        self.last_used_at = other.last_used_at;
        self.last_confirmed_at = other.last_confirmed_at;
        self.used_count = other.used_count;
        self.confirmed_count = other.confirmed_count;
        self.contradicted_count = other.contradicted_count;
        self.version = other.version;
        self.space = other.space;
        self
    }
}

impl fmt::Debug for Memory {
    /// Shows the id and the classes, never what is remembered.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("status", &self.status.kind())
            .field("sensitivity", &self.sensitivity)
            .field("version", &self.version)
            .field("text_bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// A short name must hold something and stay within its limit.
pub(crate) fn check_name(field: &str, name: &str, max_bytes: usize) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid(format!("{field}: empty or only white space")));
    }
    if name.len() > max_bytes {
        return Err(Error::invalid(format!("{field}: {} bytes, at most {max_bytes}", name.len())));
    }
    Ok(())
}
