//! A pack: the full vectors of a few neighbouring rows of a block, sized to fill a page of the shard's file.

use std::fmt;

use zeroize::Zeroize;

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;
use crate::memory::limits::DIMS_MAX;

const VERSION: u8 = 1;
/// Most rows of a pack: the bits of its presence mask.
const ROWS_MAX: usize = 64;
/// Room for vectors in a page of 32 KiB: less redb's header, our frame and key.
const PAGE_ROOM: usize = 32 * 1024 - 256;

/// How many rows share a pack, for vectors of so many numbers.
pub(crate) const fn rows_per_pack(dims: usize) -> usize {
    let fits = PAGE_ROOM / (4 * dims);
    if fits > ROWS_MAX {
        ROWS_MAX
    } else if fits == 0 {
        1
    } else {
        fits
    }
}

/// The vectors of the rows whose bit is set in `present`, one behind the other.
#[derive(Clone, PartialEq)]
pub(crate) struct Pack {
    pub(crate) space: u32,
    pub(crate) dims: usize,
    pub(crate) present: u64,
    pub(crate) values: Box<[f32]>,
}

impl Drop for Pack {
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

impl fmt::Debug for Pack {
    /// Shows how much there is: a vector can be turned back into text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pack({} vectors)", self.present.count_ones())
    }
}

impl Pack {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(17 + 4 * self.values.len());
        out.u8(VERSION).u32(self.space).u32(self.dims as u32).u64(self.present);
        out.numbers(&self.values);
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "pack of vectors");
        input.version(VERSION)?;
        let (space, dims, present) = (input.u32()?, input.u32()? as usize, input.u64()?);
        let wanted = 4 * dims * present.count_ones() as usize;
        if dims > DIMS_MAX || input.rest().len() != wanted {
            return Err(input.corrupt());
        }
        let values = crate::codec::vector::numbers(input.rest()).collect();
        Ok(Self { space, dims, present, values })
    }

    /// The vector of a row by its place in the pack.
    pub(crate) fn vector(&self, place: usize) -> Option<&[f32]> {
        if place >= ROWS_MAX || self.present >> place & 1 == 0 {
            return None;
        }
        let before = (self.present & ((1 << place) - 1)).count_ones() as usize;
        self.values.get(before * self.dims..(before + 1) * self.dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_left_out_and_vectors_found() {
        let pack = Pack { space: 1, dims: 8, present: 0b1010, values: (0u8..16).map(f32::from).collect() };
        let read = Pack::decode(&pack.encode()).unwrap();
        assert_eq!(read, pack);
        assert_eq!(read.vector(1).unwrap()[0], 0.0);
        assert_eq!(read.vector(3).unwrap()[0], 8.0);
        assert_eq!((read.vector(0), read.vector(2), read.vector(64)), (None, None, None));
        assert!(Pack::decode(&pack.encode()[..40]).is_err());
    }

    #[test]
    fn a_pack_fits_its_page() {
        for dims in [8, 128, 384, 768, 1536, 4096] {
            let rows = rows_per_pack(dims);
            assert!((1..=64).contains(&rows) && rows * dims * 4 <= PAGE_ROOM, "{dims}: {rows}");
        }
        // Where a vector lies follows from these numbers: they are a part of the format.
        let frozen = [(8, 64), (127, 64), (128, 63), (384, 21), (768, 10), (1024, 7), (1536, 5), (3072, 2), (4096, 1)];
        frozen.iter().for_each(|(dims, rows)| assert_eq!(rows_per_pack(*dims), *rows, "{dims}"));
    }
}
