use std::fmt;

use crate::error::Result;
use crate::memory::limits::NAME_BYTES_MAX;
use crate::memory::record::check_name;

/// What a fact is about: a subject and one of its attributes, such as (`user`, `city`).
///
/// A relation is a slot whose value is another entity.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    pub(crate) subject: String,
    pub(crate) attribute: String,
}

impl Slot {
    /// The slot of `attribute` of `subject`; limits are checked when it is stored.
    pub fn new(subject: impl Into<String>, attribute: impl Into<String>) -> Self {
        Self { subject: subject.into(), attribute: attribute.into() }
    }

    /// Whom or what the fact is about.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Which of its attributes.
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_name("slot subject", &self.subject, NAME_BYTES_MAX)?;
        check_name("slot attribute", &self.attribute, NAME_BYTES_MAX)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.subject, self.attribute)
    }
}

/// How many values a slot holds at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// One: a newer value supersedes.
    Single,
    /// Many: values stand beside each other.
    Multi,
}

impl std::fmt::Debug for Slot {
    /// What a fact is about is not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot(..)")
    }
}
