//! A block: facts and quantised vectors of 256 rows in a row, as they stood when it was built.
//!
//! It holds facts, no policy results: weights and bounds are computed at load, so that policies can change without a
//! rewrite. A row that changes later has an *overlay*, which holds its facts alone.

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;
use crate::memory::limits::DIMS_MAX;

const VERSION: u8 = 1;
/// No space: the rows of the block have no vectors.
const NO_SPACE: u32 = u32::MAX;
/// Bytes of a row without attributes and vector.
const ROW_BYTES: usize = 75;
const ROWS_MAX: usize = 256;
/// Every flag of a row: pinned, turn.
const FLAGS: u8 = 3;
/// Longest quantised vector, with its padding.
const STRIDE_MAX: usize = 2 * DIMS_MAX;

/// The facts of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredRow<'a> {
    pub(crate) row: u32,
    pub(crate) id: [u8; 16],
    pub(crate) version: u32,
    pub(crate) time: i64,
    pub(crate) created_at: i64,
    pub(crate) valid_from: i64,
    pub(crate) valid_to: i64,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    /// Codes of kind, status, sensitivity, visibility.
    pub(crate) codes: [u8; 4],
    pub(crate) pinned: bool,
    pub(crate) turn: bool,
    /// Code of the space of the model that has answered for it; 0 while it is pending.
    pub(crate) space: u8,
    pub(crate) vector: StoredVector<'a>,
    /// What filters ask, in the index's own form; empty for none.
    pub(crate) attributes: &'a [u8],
}

/// Where the vector of a row is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StoredVector<'a> {
    /// Nowhere: pending, or in another space.
    None,
    /// In a value of its own.
    Own,
    /// In the pack of its block; in a block with its quantised form, in an overlay as the block has it.
    Packed(Option<Quantised<'a>>),
}

/// A quantised vector: step, norms of error and vector, biased bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantised<'a> {
    pub(crate) scale: f32,
    pub(crate) err_norm: f32,
    pub(crate) norm: f32,
    pub(crate) bytes: &'a [u8],
}

/// Encodes the rows of a block. `stride` is the length of every quantised vector in it.
pub(crate) fn encode_block(space: Option<u32>, stride: usize, rows: &[StoredRow<'_>]) -> Vec<u8> {
    let mut out = Writer::with_capacity(16 + rows.len() * (ROW_BYTES + 16 + stride));
    out.u8(VERSION).u32(space.unwrap_or(NO_SPACE)).u32(stride as u32).u32(rows.len() as u32);
    rows.iter().for_each(|row| put_row(&mut out, row));
    out.finish()
}

/// The space of a block and its rows.
pub(crate) fn decode_block(bytes: &[u8]) -> Result<(Option<u32>, Vec<StoredRow<'_>>)> {
    let mut input = Reader::new(bytes, "block");
    input.version(VERSION)?;
    let (space, stride) = (input.u32()?, input.u32()? as usize);
    let count = input.count(ROW_BYTES)?;
    if count > ROWS_MAX || stride > STRIDE_MAX {
        return Err(input.corrupt());
    }
    let rows = (0..count).map(|_| take_row(&mut input, Some(stride))).collect::<Result<_>>()?;
    input.end()?;
    Ok(((space != NO_SPACE).then_some(space), rows))
}

/// Encodes the facts of a row that changed.
pub(crate) fn encode_overlay(row: &StoredRow<'_>) -> Vec<u8> {
    let mut out = Writer::with_capacity(1 + ROW_BYTES + row.attributes.len());
    put_row(out.u8(VERSION), row);
    out.finish()
}

pub(crate) fn decode_overlay(bytes: &[u8]) -> Result<StoredRow<'_>> {
    let mut input = Reader::new(bytes, "row");
    input.version(VERSION)?;
    let row = take_row(&mut input, None)?;
    input.end()?;
    Ok(row)
}

fn put_row(out: &mut Writer, row: &StoredRow<'_>) {
    out.u32(row.row).raw(&row.id).u32(row.version);
    out.i64(row.time).i64(row.created_at).i64(row.valid_from).i64(row.valid_to);
    out.u32(row.importance.to_bits()).u32(row.confidence.to_bits()).raw(&row.codes);
    out.u8(u8::from(row.pinned) | u8::from(row.turn) << 1).u8(row.space);
    out.u8(match row.vector {
        StoredVector::None => 0,
        StoredVector::Own => 1,
        StoredVector::Packed(_) => 2,
    });
    out.block(row.attributes);
    if let StoredVector::Packed(Some(quantised)) = row.vector {
        [quantised.scale, quantised.err_norm, quantised.norm].iter().for_each(|x| _ = out.u32(x.to_bits()));
        out.raw(quantised.bytes);
    }
}

/// Reads a row; with a stride its packed vector follows.
fn take_row<'a>(input: &mut Reader<'a>, stride: Option<usize>) -> Result<StoredRow<'a>> {
    let (row, id, version) = (input.u32()?, input.array()?, input.u32()?);
    let (time, created_at, valid_from, valid_to) = (input.i64()?, input.i64()?, input.i64()?, input.i64()?);
    let (importance, confidence) = (f32::from_bits(input.u32()?), f32::from_bits(input.u32()?));
    let (codes, flags, space, vector) = (input.array()?, input.u8()?, input.u8()?, input.u8()?);
    let attributes = input.block()?;
    let vector = match vector {
        0 => StoredVector::None,
        1 => StoredVector::Own,
        2 => StoredVector::Packed(stride.map(|stride| take_quantised(input, stride)).transpose()?),
        other => return Err(input.newer("vector", other)),
    };
    if flags > FLAGS {
        return Err(input.newer("flags", flags));
    }
    if !(0.0..=1.0).contains(&importance) || !(0.0..=1.0).contains(&confidence) {
        return Err(input.corrupt());
    }
    Ok(StoredRow {
        row,
        id,
        version,
        time,
        created_at,
        valid_from,
        valid_to,
        importance,
        confidence,
        codes,
        pinned: flags & 1 == 1,
        turn: flags & 2 == 2,
        space,
        vector,
        attributes,
    })
}

fn take_quantised<'a>(input: &mut Reader<'a>, stride: usize) -> Result<Quantised<'a>> {
    let mut float = || input.u32().map(f32::from_bits);
    let (scale, err_norm, norm) = (float()?, float()?, float()?);
    if ![scale, err_norm, norm].iter().all(|x| x.is_finite() && *x >= 0.0) {
        return Err(input.corrupt());
    }
    Ok(Quantised { scale, err_norm, norm, bytes: input.raw(stride)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(n: u32, vector: StoredVector<'_>) -> StoredRow<'_> {
        StoredRow {
            row: n,
            id: [n as u8; 16],
            version: 3,
            time: -5,
            created_at: i64::MAX,
            valid_from: i64::MIN,
            valid_to: 7,
            importance: 0.5,
            confidence: 1.0,
            codes: [1, 2, 3, 0],
            pinned: n == 1,
            turn: n == 2,
            space: n as u8,
            vector,
            attributes: &[9, 8],
        }
    }

    fn rows() -> Vec<StoredRow<'static>> {
        let quantised = Quantised { scale: 0.01, err_norm: 0.1, norm: 1.0, bytes: &[128; 64] };
        vec![row(0, StoredVector::None), row(1, StoredVector::Own), row(2, StoredVector::Packed(Some(quantised)))]
    }

    #[test]
    fn blocks_and_overlays_come_back() {
        let bytes = encode_block(Some(4), 64, &rows());
        assert_eq!(decode_block(&bytes).unwrap(), (Some(4), rows()));
        for row in [row(5, StoredVector::None), row(6, StoredVector::Own), row(7, StoredVector::Packed(None))] {
            assert_eq!(decode_overlay(&encode_overlay(&row)).unwrap(), row);
        }
    }

    #[test]
    fn a_block_of_rows_with_nothing_but_facts_comes_back() {
        let rows: Vec<_> = (0..256).map(|n| StoredRow { attributes: &[], ..row(n, StoredVector::None) }).collect();
        let bytes = encode_block(Some(0), 384, &rows);
        assert_eq!(bytes.len(), 13 + rows.len() * ROW_BYTES);
        assert_eq!(decode_block(&bytes).unwrap(), (Some(0), rows));
    }

    #[test]
    fn a_stride_that_no_vector_has_is_refused() {
        let mut bytes = encode_block(None, 0, &rows()[..2]);
        bytes[5..9].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(decode_block(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn damaged_blocks_never_panic(at in 0usize..400, byte: u8, cut in 0usize..400) {
            let mut bytes = encode_block(Some(4), 64, &rows());
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = decode_block(&bytes);
            let _ = decode_block(&bytes[..cut.min(bytes.len())]);
            let _ = decode_overlay(&bytes);
        }
    }
}
