//! Decides, and does nothing: pure functions over facts.

pub(crate) mod belief;
pub(crate) mod context;
#[cfg_attr(not(test), expect(dead_code, reason = "recall does not ask for words yet"))]
pub(crate) mod relevance;
pub(crate) mod sample;
pub(crate) mod score;
