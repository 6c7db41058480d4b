//! A stored vector: the space it belongs to, then its numbers.

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;
use crate::memory::Vector;
use crate::memory::limits::DIMS_MAX;

const VERSION: u8 = 1;

pub(crate) fn encode(space: u32, vector: &Vector) -> Vec<u8> {
    let mut out = Writer::with_capacity(9 + 4 * vector.dims());
    out.u8(VERSION).u32(space).u32(vector.dims() as u32).numbers(vector.as_slice());
    out.finish()
}

/// The space of a stored vector and the bytes of its numbers.
pub(crate) fn parse(bytes: &[u8]) -> Result<(u32, &[u8])> {
    let mut input = Reader::new(bytes, "vector");
    input.version(VERSION)?;
    let space = input.u32()?;
    let dims = input.u32()? as usize;
    if dims > DIMS_MAX || input.rest().len() != 4 * dims {
        return Err(input.corrupt());
    }
    Ok((space, input.rest()))
}

/// Reads the numbers that [`parse`] found.
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

pub(crate) fn decode(bytes: &[u8]) -> Result<(u32, Vector)> {
    let (space, raw) = parse(bytes)?;
    Ok((space, Vector::from_unit(numbers(raw).collect())))
}
