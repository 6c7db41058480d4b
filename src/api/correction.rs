use std::fmt;

use crate::memory::{Memory, NewMemory, Timestamp};

/// What replaces a memory that turned out wrong.
///
/// Everything but text, value and times is taken over from the old memory: kind, slot, tags, scene, speaker,
/// importance, sensitivity, visibility, metadata. The new one counts as stated, with full confidence.
#[derive(Clone)]
pub struct Correction {
    text: String,
    value: Option<String>,
    vector: Option<Vec<f32>>,
    event_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
}

impl Correction {
    /// What is right.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, vector: None, event_at: None, valid_from: None }
    }

    /// The right value of the slot. Default: none.
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// The vector of the new text. Default: the store's embedder makes one.
    pub fn vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.vector = Some(vector.into());
        self
    }

    /// When what it tells happened. Default: unknown.
    pub fn event_at(mut self, at: Timestamp) -> Self {
        self.event_at = Some(at);
        self
    }

    /// Since when it holds. Default: unknown.
    pub fn valid_from(mut self, at: Timestamp) -> Self {
        self.valid_from = Some(at);
        self
    }

    pub(crate) fn apply_to(self, old: &Memory) -> NewMemory {
        let mut new = NewMemory::inheriting(old, self.text);
        new.vector = self.vector;
        if let Some(value) = self.value {
            new = new.value(value);
        }
        if let Some(at) = self.event_at {
            new = new.event_at(at);
        }
        if let Some(at) = self.valid_from {
            new = new.valid_from(at);
        }
        new
    }
}

impl fmt::Debug for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Correction").field("text_bytes", &self.text.len()).finish_non_exhaustive()
    }
}
