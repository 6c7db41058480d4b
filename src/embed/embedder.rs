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

    /// For each text, in order, its vector: `space().dims()` numbers, of any length but zero. `None` where the model has
    /// nothing to say of a text, such as one in a language that it does not have: its memory is found by words alone.
    ///
    /// # Errors
    ///
    /// One [`EmbedError`] for the whole batch.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError>;
}

/// Why an embedder gave no vectors. The message must not hold the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedError {
    /// It may work later: a service that is down, a model that is still loading.
    Unavailable(String),
    /// It will never work for this batch: a text that is too long, say.
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
