//! Bytes to types and back: pure, versioned, and safe on any input.

pub(crate) mod block;
pub(crate) mod bytes;
pub(crate) mod export;
pub(crate) mod features;
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
pub(crate) mod standing;
pub(crate) mod table;
pub(crate) mod terms;
pub(crate) mod tombstone;
pub(crate) mod trace;
pub(crate) mod vector;

use crate::error::Error;

pub(crate) use table::{Table, UserHash};

/// The format of every file that this version writes. It is frozen: `docs/file-format.md` says how bytes may change.
pub(crate) const FORMAT: u8 = 1;

/// Of a file of another format.
pub(crate) fn unknown_format(file: &str, format: u8) -> Error {
    if format > FORMAT {
        let says = format!("{file}: of format {format}; this version reads format {FORMAT}, a newer mnemic is needed");
        return Error::unsupported(says);
    }
    Error::unsupported(format!(
        "{file}: of format {format}, a development format; export with the version that wrote it, and import here"
    ))
}
