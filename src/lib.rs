//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod codec;
mod error;
pub mod memory;
mod seal;
mod storage;
#[cfg(not(feature = "testing"))]
mod world;
#[cfg(feature = "testing")]
pub mod world;

pub use error::{Error, ErrorKind, Result};
