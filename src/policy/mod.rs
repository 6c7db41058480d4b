//! What is decided. Pure functions of facts: no I/O, no clock.

pub(crate) mod relevance;
