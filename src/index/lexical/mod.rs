//! The words of one user's memories, inverted, and BM25 over them.

mod bm25;
mod inverted;
mod postings;
mod scores;
mod stored;

#[cfg(test)]
mod tests;

#[cfg_attr(not(test), expect(unused_imports, reason = "recall does not ask for words yet"))]
pub(crate) use bm25::Bm25;
#[cfg_attr(not(test), expect(unused_imports, reason = "recall does not ask for words yet"))]
pub(crate) use inverted::{Lexical, Standing};
#[cfg_attr(not(test), expect(unused_imports, reason = "recall does not ask for words yet"))]
pub(crate) use scores::BLOCK_ROWS;
#[expect(unused_imports, reason = "recall does not ask for words yet")]
pub(crate) use scores::Scores;
#[expect(unused_imports, reason = "recall does not ask for words yet")]
pub(crate) use stored::{from_stored, to_stored};
