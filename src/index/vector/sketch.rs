//! One bit a dimension: what an approximate search reads first.

use super::bits::BLOCK_ROWS;
use crate::kernel::SKETCH_GROUP;

const WORD: usize = 64;
/// What a zero looks like in a biased row.
const BIAS: u8 = 0x80;

/// The signs of up to 256 rows, what makes cosines of them, and how far off those may be.
pub(super) struct Sketch {
    dims: usize,
    row_words: usize,
    words: Vec<u64>,
    factors: [f32; BLOCK_ROWS],
    spreads: [f32; BLOCK_ROWS],
}

impl Sketch {
    /// An empty sketch of rows of so many dims.
    pub(super) fn new(dims: usize, rows: usize) -> Self {
        let row_words = crate::kernel::padded(dims).div_ceil(WORD);
        let words = Vec::with_capacity(rows.next_multiple_of(SKETCH_GROUP) * row_words);
        Self { dims, row_words, words, factors: [0.0; BLOCK_ROWS], spreads: [0.0; BLOCK_ROWS] }
    }

    /// Draws a quantised row, given with its scale; no bytes wipe the row.
    pub(super) fn put(&mut self, lane: usize, row: &[u8], scale: f32) {
        let needed = (lane + 1).next_multiple_of(SKETCH_GROUP) * self.row_words;
        if self.words.len() < needed {
            self.words.resize(needed, 0);
        }
        let group = &mut self.words[lane / SKETCH_GROUP * SKETCH_GROUP * self.row_words..];
        let (mut sizes, mut squares) = (0, 0);
        let (chunks, _) = row.as_chunks::<WORD>();
        for w in 0..self.row_words {
            let values = chunks.get(w).unwrap_or(&[BIAS; WORD]);
            sizes += values.iter().map(|&x| u32::from(x.abs_diff(BIAS))).sum::<u32>();
            squares += values.iter().map(|&x| u32::from(x.abs_diff(BIAS)).pow(2)).sum::<u32>();
            let word = if w < chunks.len() { signs(values) } else { 0 };
            group[w * SKETCH_GROUP + lane % SKETCH_GROUP] = word;
        }
        let (sizes, squares) = (sizes as f32, squares as f32);
        let part = if squares > 0.0 { sizes * sizes / (squares * self.dims as f32) } else { 1.0 };
        self.factors[lane] = if sizes == 0.0 { 0.0 } else { scale * (squares / sizes) };
        self.spreads[lane] = scale * (squares * (1.0 / part - 1.0).max(0.0) / self.dims as f32).sqrt();
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Value of one step of a row's sum, per step of the query.
    pub(super) fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// How far an estimate would be off, for a query of length one and were all directions alike.
    pub(super) fn spreads(&self) -> &[f32] {
        &self.spreads
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.words.capacity() * size_of::<u64>()
    }
}

/// The high bit of each byte, the first byte's lowest.
fn signs(values: &[u8; WORD]) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const GATHER: u64 = 0x0002_0408_1020_4081;
    let (eights, _) = values.as_chunks::<8>();
    let byte = |eight: &[u8; 8]| (u64::from_le_bytes(*eight) & HIGH).wrapping_mul(GATHER) >> 56;
    eights.iter().enumerate().fold(0, |word, (i, eight)| word | byte(eight) << (8 * i))
}
