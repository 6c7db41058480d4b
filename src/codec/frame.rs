//! The envelope of every sealed value.
//!
//! ```text
//! 0   3  "MNF"
//! 3   1  frame version
//! 4   1  table            repeated, so that a carved frame says where it belongs
//! 5   1  key length k
//! 6   k  key
//! +   8  value version    rises with every rewrite
//! +  24  nonce            random
//! +   4  body length n
//! +   n  ciphertext, the last 16 bytes of it the tag
//! ```

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, Table};
use crate::error::{Error, Result};

const MAGIC: &[u8; 3] = b"MNF";
/// Bytes of the tag at the end of a body.
pub(crate) const TAG_BYTES: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE_BYTES: usize = 24;

/// A frame, taken apart but not opened.
pub(crate) struct Frame<'a> {
    pub(crate) version: u64,
    pub(crate) nonce: [u8; NONCE_BYTES],
    pub(crate) body: &'a [u8],
    pub(crate) tag: [u8; TAG_BYTES],
}

/// The part of a frame before the body.
pub(crate) fn header(table: Table, key: &[u8], version: u64, nonce: &[u8; NONCE_BYTES], body_len: usize) -> Writer {
    let mut out = Writer::with_capacity(42 + key.len() + body_len);
    out.raw(MAGIC).u8(FORMAT).u8(table.code()).u8(key.len() as u8).raw(key);
    out.u64(version).raw(nonce).u32(body_len as u32);
    out
}

/// A frame that was found among other bytes, by its magic alone: its table and key, and its parts.
pub(crate) fn carve(bytes: &[u8]) -> Option<(Table, &[u8], Frame<'_>)> {
    let mut input = Reader::new(bytes, "carved frame");
    if input.array::<3>().ok()? != *MAGIC || input.u8().ok()? != FORMAT {
        return None;
    }
    let (code, key_len) = (input.u8().ok()?, input.u8().ok()?);
    let snapshots = [Table::SnapshotRows, Table::SnapshotKeys];
    let table = Table::ALL.into_iter().chain(snapshots).find(|table| table.code() == code)?;
    let key = input.raw(usize::from(key_len)).ok()?;
    let (version, nonce) = (input.u64().ok()?, input.array().ok()?);
    let body = input.block().ok()?;
    Some((table, key, Frame { version, nonce, body, tag: *body.last_chunk()? }))
}

/// Bytes of a frame with a key and a body of these lengths.
pub(crate) fn whole_len(key: usize, body: usize) -> usize {
    6 + key + 8 + NONCE_BYTES + 4 + body
}

/// Takes apart the frame that stands at `key` of `table`; a frame of another place is `Corrupt`.
pub(crate) fn parse<'a>(table: Table, key: &[u8], bytes: &'a [u8]) -> Result<Frame<'a>> {
    let mut input = Reader::new(bytes, table.name());
    if input.array::<3>()? != *MAGIC {
        return Err(input.corrupt());
    }
    // A store that has frames of another form says so in MANIFEST: here it is damage.
    if input.u8()? != FORMAT {
        return Err(input.corrupt());
    }
    let (code, key_len) = (input.u8()?, input.u8()?);
    if code != table.code() || input.raw(usize::from(key_len))? != key {
        return Err(Error::corrupt(format!("{}: a value that belongs elsewhere", table.name())));
    }
    let (version, nonce) = (input.u64()?, input.array()?);
    let body = input.block()?;
    input.end()?;
    let tag = body.last_chunk::<TAG_BYTES>().copied().ok_or_else(|| input.corrupt())?;
    Ok(Frame { version, nonce, body, tag })
}
