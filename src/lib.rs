//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod error;
#[doc(hidden)]
pub mod index;
#[doc(hidden)]
pub mod kernel;
pub mod memory;
#[doc(hidden)]
pub mod policy;

pub use error::{Error, ErrorKind, Result};
