//! Decides, and does nothing: pure functions over facts.

pub(crate) mod belief;
pub(crate) mod context;
pub(crate) mod relevance;
pub(crate) mod sample;
pub(crate) mod score;
pub(crate) mod upkeep;
