//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod codec;
mod embed;
mod error;
mod index;
pub mod memory;
mod policy;
mod seal;
mod storage;
mod text;
#[cfg(not(feature = "testing"))]
mod world;
#[cfg(feature = "testing")]
pub mod world;

pub use error::{Error, ErrorKind, Result};
