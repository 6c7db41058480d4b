//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod error;
#[doc(hidden)]
pub mod kernel;
pub mod memory;

pub use error::{Error, ErrorKind, Result};
