use std::fmt;

use crate::memory::Space;

/// What a text is embedded for. Some models want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be stored.
    Memory,
    /// To search with.
    Query,
}

/// A model that turns texts into vectors.
///
/// The store calls it outside of its locks, never with an empty list, and stores what it answers for
/// [`Purpose::Memory`]. A memory whose embedding fails is stored all the same, as *pending*.
pub trait Embedder: Send + Sync {
    /// The space of its vectors. Must not change while the embedder lives.
    fn space(&self) -> Space;

    /// One vector for each text, in order, each of `space().dims()` numbers, of any length but zero.
    ///
    /// # Errors
    ///
    /// One [`EmbedError`] for the whole batch.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why an embedder gave no vectors. The message must not hold the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedError {
    /// It may work later: a service that is down, a model that is still loading.
    Unavailable(String),
    /// It will never work for these texts: too long, a language that it does not have.
    Refused(String),
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(f, "the embedder is unavailable: {why}"),
            Self::Refused(why) => write!(f, "the embedder refused the text: {why}"),
        }
    }
}

impl std::error::Error for EmbedError {}
