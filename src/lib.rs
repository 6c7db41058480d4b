//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod codec;
mod error;
pub mod memory;

pub use error::{Error, ErrorKind, Result};
