//! A snapshot: a file of rows, each sealed under a key of its own, and a file of those keys.
//!
//! ```text
//! rows: magic, format, store, snapshot | sealed rows | directory, 40 bytes a user | tail
//! keys: copy A of the keys of each user | zeros up to a page | copy B, in the same order
//! ```

use zeroize::Zeroizing;

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, UserHash, unknown_format};
use crate::error::Result;

const MAGIC: &[u8; 8] = b"MNEMIC\0S";
const VERSION: u8 = 1;
/// Bytes before the first row.
pub(crate) const HEAD_BYTES: usize = 8 + 1 + 16 + 16;
/// Bytes of the tail.
pub(crate) const TAIL_BYTES: usize = HEAD_BYTES + 5 * 8 + 32 + 32;
/// Bytes of one user in the directory.
pub(crate) const ENTRY_BYTES: usize = 16 + 4 + 8 + 8 + 4;
/// Bytes of one row in a section.
const ROW_BYTES: usize = 16 + 32 + 4 + 8 + 4;

/// The key that a frame of a snapshot repeats: whose it is, of which snapshot, and its number there.
pub(crate) fn frame_key(user: UserHash, snapshot: [u8; 16], number: u64) -> [u8; 40] {
    let mut key = [0; 40];
    key[..16].copy_from_slice(&user.0);
    key[16..32].copy_from_slice(&snapshot);
    key[32..].copy_from_slice(&number.to_be_bytes());
    key
}

/// What the file of rows begins with.
pub(crate) fn head(store: [u8; 16], snapshot: [u8; 16]) -> Vec<u8> {
    let mut out = Writer::with_capacity(HEAD_BYTES);
    out.raw(MAGIC).u8(FORMAT).raw(&store).raw(&snapshot);
    out.finish()
}

/// The format that the beginning of a file of rows names, where it is one.
pub(crate) fn format_of(head: &[u8]) -> Option<u8> {
    head.strip_prefix(MAGIC)?.first().copied()
}

/// What the file of rows ends with: what the snapshot is, and where its directory lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) store: [u8; 16],
    pub(crate) snapshot: [u8; 16],
    pub(crate) created_at: i64,
    pub(crate) users: u64,
    pub(crate) memories: u64,
    /// Where the rows end and the directory begins.
    pub(crate) directory_at: u64,
    /// Where copy B begins in the file of keys.
    pub(crate) copy_b_at: u64,
    pub(crate) directory_hash: [u8; 32],
}

impl Tail {
    /// The tail without its tag.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(TAIL_BYTES);
        out.raw(&head(self.store, self.snapshot)).i64(self.created_at).u64(self.users).u64(self.memories);
        out.u64(self.directory_at).u64(self.copy_b_at).raw(&self.directory_hash);
        out.finish()
    }

    /// Reads a tail and its tag.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, [u8; 32])> {
        let mut input = Reader::new(bytes, "snapshot");
        let (magic, format) = (input.array::<8>()?, input.u8()?);
        if magic != *MAGIC {
            return Err(input.corrupt());
        }
        if format != FORMAT {
            return Err(unknown_format("snapshot", format));
        }
        let tail = Self {
            store: input.array()?,
            snapshot: input.array()?,
            created_at: input.i64()?,
            users: input.u64()?,
            memories: input.u64()?,
            directory_at: input.u64()?,
            copy_b_at: input.u64()?,
            directory_hash: input.array()?,
        };
        let tag = input.array()?;
        input.end()?;
        Ok((tail, tag))
    }
}

/// Where the keys of one user lie in the file of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) user: UserHash,
    pub(crate) generation: u32,
    /// The last commit that was durable when the user was copied: what was forgotten by a later one must not come back.
    pub(crate) as_of: u64,
    /// Offset within each copy.
    pub(crate) at: u64,
    /// Bytes of the room that the section has.
    pub(crate) room: u32,
}

impl Entry {
    pub(crate) fn encode(&self, out: &mut Writer) {
        out.raw(&self.user.0).u32(self.generation).u64(self.as_of).u64(self.at).u32(self.room);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "snapshot directory");
        let (user, generation) = (UserHash(input.array()?), input.u32()?);
        let (as_of, at, room) = (input.u64()?, input.u64()?, input.u32()?);
        input.end()?;
        Ok(Self { user, generation, as_of, at, room })
    }
}

/// The key of one row, and where the row lies.
#[derive(Clone)]
pub(crate) struct RowKey {
    /// Keyed hash of the memory's id.
    pub(crate) id: [u8; 16],
    pub(crate) key: Zeroizing<[u8; 32]>,
    /// Its number among the rows of the user.
    pub(crate) number: u32,
    /// Offset in the file of rows.
    pub(crate) at: u64,
    /// Bytes of its frame.
    pub(crate) len: u32,
}

/// The keys of a user's rows.
#[derive(Clone, Default)]
pub(crate) struct Section {
    /// Rows whose keys were taken out because they were forgotten.
    pub(crate) forgotten: u32,
    pub(crate) rows: Vec<RowKey>,
}

/// The section of a user: version, rows forgotten, count, then each row's key.
pub(crate) fn encode_section(section: &Section) -> Zeroizing<Vec<u8>> {
    let mut out = Writer::with_capacity(9 + section.rows.len() * ROW_BYTES);
    out.u8(VERSION).u32(section.forgotten).u32(section.rows.len() as u32);
    for row in &section.rows {
        out.raw(&row.id).raw(&*row.key).u32(row.number).u64(row.at).u32(row.len);
    }
    Zeroizing::new(out.finish())
}

/// Reads a section.
pub(crate) fn decode_section(bytes: &[u8]) -> Result<Section> {
    let mut input = Reader::new(bytes, "snapshot keys");
    input.version(VERSION)?;
    let (forgotten, count) = (input.u32()?, input.count(ROW_BYTES)?);
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        let (id, key) = (input.array()?, Zeroizing::new(input.array()?));
        rows.push(RowKey { id, key, number: input.u32()?, at: input.u64()?, len: input.u32()? });
    }
    input.end()?;
    Ok(Section { forgotten, rows })
}

/// A row: its record, and its vector where it has one.
pub(crate) fn encode_row(record: &[u8], vector: &[u8]) -> Vec<u8> {
    let mut out = Writer::with_capacity(9 + record.len() + vector.len());
    out.u8(VERSION).block(record).block(vector);
    out.finish()
}

/// The record and the vector (empty: none) of a row.
pub(crate) fn decode_row(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut input = Reader::new(bytes, "snapshot row");
    input.version(VERSION)?;
    let (record, vector) = (input.block()?, input.block()?);
    input.end()?;
    Ok((record, vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_shorter() {
        let tail = Tail {
            store: [1; 16],
            snapshot: [2; 16],
            created_at: -5,
            users: 3,
            memories: 4,
            directory_at: 5,
            copy_b_at: 6,
            directory_hash: [7; 32],
        };
        let mut bytes = tail.encode();
        bytes.extend_from_slice(&[9; 32]);
        assert_eq!(bytes.len(), TAIL_BYTES);
        assert_eq!(Tail::decode(&bytes).unwrap(), (tail, [9; 32]));
        let rows = vec![RowKey { id: [1; 16], key: Zeroizing::new([2; 32]), number: 3, at: 4, len: 5 }];
        let section = encode_section(&Section { forgotten: 8, rows });
        let read = decode_section(&section).unwrap();
        assert_eq!((read.forgotten, read.rows.len()), (8, 1));
        let row = &read.rows[0];
        assert_eq!((row.id, *row.key, row.number, row.at, row.len), ([1; 16], [2; 32], 3, 4, 5));
        let row = encode_row(b"record", b"");
        assert_eq!(decode_row(&row).unwrap(), (&b"record"[..], &b""[..]));
        for len in 0..section.len().max(bytes.len()) {
            assert!(Tail::decode(&bytes[..len.min(bytes.len() - 1)]).is_err());
            assert!(decode_section(&section[..len.min(section.len() - 1)]).is_err());
            assert!(decode_row(&row[..len.min(row.len() - 1)]).is_err());
        }
    }

    #[test]
    fn a_count_that_cannot_be_is_refused_before_it_becomes_room() {
        let mut bytes = encode_section(&Section::default()).to_vec();
        bytes[5..9].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(decode_section(&bytes).is_err());
    }
}
