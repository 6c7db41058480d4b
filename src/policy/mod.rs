//! What is decided. Pure functions of facts: no I/O, no clock.

pub mod score;
