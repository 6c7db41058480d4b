use std::fmt;

use crate::engine::{Core, Edit, VectorEdit};
use crate::error::{Error, Result};
use crate::memory::{ArchiveReason, Memory, MetaValue, Sensitivity, Status, Timestamp, Vector, Visibility};

/// What to change in a memory. What is not named stays.
///
/// ```
/// use mnemic::{memory::Sensitivity, Update};
///
/// let update = Update::new().importance(0.4).sensitivity(Sensitivity::Sensitive).tag("health").if_version(3);
/// # let _ = update;
/// ```
#[derive(Default)]
pub struct Update {
    text: Option<String>,
    vector: Option<Vec<f32>>,
    if_version: Option<u32>,
    edits: Vec<FieldEdit>,
}

/// A change of one field.
type FieldEdit = Box<dyn FnOnce(&mut Memory) + Send>;

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => |$memory:ident| $set:expr;)+) => {
        impl Update {
            $($(#[$doc])* pub fn $name(self, $($argument: $type),*) -> Self {
                $(let $argument = $argument.into();)*
                self.edit(move |$memory| $set)
            })+
        }
    };
}

setters! {
    /// The value of its slot.
    value(value: impl Into<String>) => |m| m.value = Some(value);
    /// Adds a tag.
    tag(tag: impl Into<String>) => |m| add_tag(&mut m.tags, tag);
    /// Takes a tag away.
    untag(tag: impl Into<String>) => |m| { let tag: String = tag; m.tags.retain(|t| *t != tag) };
    /// Where or in what setting it belongs.
    scene(scene: impl Into<String>) => |m| m.scene = Some(scene);
    /// Who said it.
    speaker(speaker: impl Into<String>) => |m| m.speaker = Some(speaker);
    /// How much it matters, in [0, 1].
    importance(importance: f32) => |m| m.importance = importance;
    /// How sure it is, in [0, 1].
    confidence(confidence: f32) => |m| m.confidence = confidence;
    /// How private it is.
    sensitivity(sensitivity: Sensitivity) => |m| m.sensitivity = sensitivity;
    /// What an answer may do with it.
    visibility(visibility: Visibility) => |m| m.visibility = visibility;
    /// Never fades, or does.
    pinned(pinned: bool) => |m| m.pinned = pinned;
    /// When what it tells happened.
    event_at(at: Timestamp) => |m| m.event_at = Some(at);
    /// Since when it holds.
    valid_from(at: Timestamp) => |m| m.valid_from = Some(at);
    /// Until when it holds.
    valid_to(at: Timestamp) => |m| m.valid_to = Some(at);
}

impl Update {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is remembered. The old meaning goes with the old text: the vector is made anew, or is pending.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The vector.
    pub fn vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.vector = Some(vector.into());
        self
    }

    /// Sets an entry of the metadata.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<MetaValue>) -> Self {
        let (key, value) = (key.into(), value.into());
        self.edit(move |memory| _ = memory.metadata.insert(key, value))
    }

    /// Takes an entry of the metadata away.
    pub fn without_metadata(self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.edit(move |memory| _ = memory.metadata.remove(&key))
    }

    /// Takes it out of recall, and keeps it.
    pub fn archive(self) -> Self {
        self.edit(|memory| {
            memory.status =
                Status::Archived { since: Timestamp::from_micros(i64::MAX), reason: ArchiveReason::Requested };
        })
    }

    /// Puts an archived memory back in use.
    pub fn unarchive(self) -> Self {
        self.edit(|memory| {
            if matches!(memory.status, Status::Archived { .. }) {
                memory.status = Status::Active;
            }
        })
    }

    /// Only if the memory is at this version. Default: whatever its version.
    pub fn if_version(mut self, version: u32) -> Self {
        self.if_version = Some(version);
        self
    }

    fn edit(mut self, edit: impl FnOnce(&mut Memory) + Send + 'static) -> Self {
        self.edits.push(Box::new(edit));
        self
    }

    pub(crate) fn changes_text(&self) -> bool {
        self.text.is_some()
    }

    /// The edit and what becomes of the vector. `before` is the memory as seen by the caller, where its text changes.
    pub(crate) fn prepare(self, core: &Core, before: Option<Memory>) -> Result<(Option<u32>, (Edit, VectorEdit))> {
        let Self { text, vector, if_version, edits } = self;
        if text.is_none() && vector.is_none() && edits.is_empty() {
            return Err(Error::invalid("update: nothing to change"));
        }
        let vector = match (vector, &text, before) {
            (Some(numbers), _, _) => {
                let vector = Vector::new(&numbers)?;
                VectorEdit::Replace(core.space_for(&vector)?, Some(vector))
            }
            (None, Some(text), Some(before)) => core.vector_for_text(&before, text),
            (None, Some(_), None) => VectorEdit::Drop,
            (None, None, _) => VectorEdit::Keep,
        };
        let now = core.now();
        let edit: Edit = Box::new(move |memory| {
            if let Some(text) = text {
                memory.text = text;
            }
            edits.into_iter().for_each(|edit| edit(memory));
            if let Status::Archived { since, .. } = &mut memory.status {
                *since = (*since).min(now);
            }
            Ok(())
        });
        Ok((if_version, (edit, vector)))
    }
}

fn add_tag(tags: &mut Vec<String>, tag: String) {
    if let Err(at) = tags.binary_search(&tag) {
        tags.insert(at, tag);
    }
}

impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update")
            .field("edits", &self.edits.len())
            .field("if_version", &self.if_version)
            .finish_non_exhaustive()
    }
}
