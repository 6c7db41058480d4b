//! One bit a dimension: what an approximate search reads first.

use super::bits::BLOCK_ROWS;
use crate::kernel::SKETCH_GROUP;

const WORD: usize = 64;
/// What a zero looks like in a biased row.
const BIAS: u8 = 0x80;

/// The signs of up to 256 rows, and what makes cosines of them.
pub(super) struct Sketch {
    words: Vec<u64>,
    factors: [f32; BLOCK_ROWS],
}

impl Sketch {
    /// Sketches quantised rows, given with their scales.
    pub(super) fn draw<'a>(stride: usize, rows: impl ExactSizeIterator<Item = (&'a [u8], f32)>) -> Self {
        let each = stride.div_ceil(WORD);
        let mut words = vec![0; rows.len().next_multiple_of(SKETCH_GROUP) * each];
        let mut factors = [0.0; BLOCK_ROWS];
        for (lane, (row, scale)) in rows.enumerate() {
            let group = &mut words[lane / SKETCH_GROUP * SKETCH_GROUP * each..];
            let (mut sizes, mut squares) = (0u32, 0u32);
            for (w, values) in row.chunks(WORD).enumerate() {
                let mut word = 0;
                for (i, &x) in values.iter().enumerate() {
                    let size = u32::from(x.abs_diff(BIAS));
                    sizes += size;
                    squares += size * size;
                    word |= u64::from(x >= BIAS) << i;
                }
                group[w * SKETCH_GROUP + lane % SKETCH_GROUP] = word;
            }
            factors[lane] = if sizes == 0 { 0.0 } else { scale * (squares as f32 / sizes as f32) };
        }
        Self { words, factors }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Value of one step of a row's sum, per step of the query.
    pub(super) fn factors(&self) -> &[f32] {
        &self.factors
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.words.capacity() * size_of::<u64>()
    }
}
