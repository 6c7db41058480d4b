//! What is left of a memory that was forgotten: when. Its key is a keyed hash of what it stands for.

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;

const VERSION: u8 = 1;

/// A tombstone of this instant.
pub(crate) fn encode(at: i64) -> Vec<u8> {
    let mut out = Writer::with_capacity(9);
    out.u8(VERSION).i64(at);
    out.finish()
}

/// When it was forgotten.
pub(crate) fn decode(bytes: &[u8]) -> Result<i64> {
    let mut input = Reader::new(bytes, "tombstones");
    input.version(VERSION)?;
    let at = input.i64()?;
    input.end()?;
    Ok(at)
}
