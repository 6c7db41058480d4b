//! What is searched.

pub mod vector;
