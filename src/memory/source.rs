use crate::error::{Error, Result};
use crate::memory::Timestamp;
use crate::memory::limits::NAME_BYTES_MAX;
use crate::memory::named::named_enum;
use crate::memory::record::check_name;

named_enum! {
    /// How far the origin of a memory is trusted.
    Trust, "trust" {
        /// The user, in person.
        User = 0, "user";
        /// The agent or a tool of the product.
        Agent = 1, "agent";
        /// A document or a page that somebody else wrote.
        External = 2, "external";
    }
}

/// The place of a raw utterance in its conversation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Turn {
    pub(crate) session: String,
    pub(crate) seq: u32,
}

impl Turn {
    /// The `seq`-th turn of `session`.
    pub fn new(session: impl Into<String>, seq: u32) -> Self {
        Self { session: session.into(), seq }
    }

    /// The conversation.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The position in it.
    pub fn seq(&self) -> u32 {
        self.seq
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_name("session", &self.session, NAME_BYTES_MAX)
    }
}

/// Where a memory came from.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The conversation it was taken from.
    pub session: Option<String>,
    /// First and last turn of that conversation that it rests on.
    pub turns: Option<(u32, u32)>,
    /// Who wrote it down: a person, an agent, a program.
    pub actor: Option<String>,
    /// How far that origin is trusted.
    pub trust: Option<Trust>,
    /// The extractor that made it of raw turns, with its version.
    pub extractor: Option<(String, String)>,
    /// When it was extracted.
    pub extracted_at: Option<Timestamp>,
}

impl Source {
    pub(crate) fn check(&self) -> Result<()> {
        let named = [("source session", &self.session), ("source actor", &self.actor)];
        for (field, name) in named {
            if let Some(name) = name {
                check_name(field, name, NAME_BYTES_MAX)?;
            }
        }
        if let Some((extractor, version)) = &self.extractor {
            check_name("source extractor", extractor, NAME_BYTES_MAX)?;
            check_name("source extractor version", version, NAME_BYTES_MAX)?;
        }
        match self.turns {
            Some((first, last)) if first > last => {
                Err(Error::invalid("source turns: the first turn lies after the last"))
            }
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for Turn {
    /// Shows the place, not the conversation.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turn({})", self.seq)
    }
}

impl std::fmt::Debug for Source {
    /// Shows what names nobody.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("turns", &self.turns).field("trust", &self.trust).finish_non_exhaustive()
    }
}
