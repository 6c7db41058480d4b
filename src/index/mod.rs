//! What is searched.

pub(crate) mod attributes;
mod filter;
#[cfg_attr(not(test), expect(dead_code, reason = "recall does not ask for words yet"))]
mod lexical;
pub(crate) mod vector;

pub use filter::{Comparison, Filter};
