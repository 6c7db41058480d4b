//! Bytes to types and back: pure, versioned, and safe on any input.

pub(crate) mod block;
pub(crate) mod bytes;
pub(crate) mod export;
pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod json;
pub(crate) mod keyring;
pub(crate) mod log_entry;
pub(crate) mod manifest;
pub(crate) mod measured;
pub(crate) mod pack;
pub(crate) mod receipt;
pub(crate) mod record;
pub(crate) mod snapshot;
pub(crate) mod table;
pub(crate) mod terms;
pub(crate) mod trace;
pub(crate) mod vector;

pub(crate) use table::{Table, UserHash};

/// The format of every file that this build writes. Format 0 is a development format: only the same
/// development version opens it.
pub(crate) const FORMAT: u8 = 0;
