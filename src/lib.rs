//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

mod codec;
mod embed;
mod engine;
mod error;
mod index;
mod kernel;
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
