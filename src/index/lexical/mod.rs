//! The words of one user's memories, inverted, and BM25 over them.

mod bm25;
mod inverted;
mod postings;
mod scores;
mod stored;

#[cfg(test)]
mod tests;

pub(crate) use bm25::Bm25;
pub(crate) use inverted::{Lexical, Standing};
pub(crate) use scores::Scores;
pub(crate) use stored::{from_stored, to_stored};
