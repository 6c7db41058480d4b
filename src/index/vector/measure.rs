//! How far the estimates of sketches are off, on rows of the user.

use super::arena::Arena;
use super::bits::BLOCK_ROWS;
use super::block::Block;
use crate::kernel::{BitQuery, padded};

/// Rows that stand in for queries.
const QUERIES: usize = 48;
/// How far from a row a query is put, as a part of its length.
const NOISE: f32 = 0.3;
/// Blocks that they are compared with, and rows in those that are nearest to each.
const BLOCKS: usize = 32;
const NEAREST: usize = 16;

/// A query near a row: real queries are less like any row than rows are like each other.
pub(super) fn near(mut row: Vec<f32>) -> Vec<f32> {
    let size = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    let each = NOISE * size * (3.0 / row.len() as f32).sqrt();
    let mut state = 0x9e37_79b9u32;
    for x in &mut row {
        state = (state ^ x.to_bits()).wrapping_mul(0x85eb_ca6b).rotate_left(13);
        *x += each * (state as i32 as f32 / i32::MAX as f32);
    }
    row
}

impl Arena {
    /// By how many spreads cosines are over their estimates, for rows that are near a query.
    pub(super) fn measure(&self) -> Vec<f64> {
        let mut all = Vec::with_capacity(QUERIES * NEAREST);
        let at = |part: usize, parts: usize| &self.blocks()[part * self.blocks().len() / parts % self.blocks().len()];
        for i in 0..QUERIES {
            let Some(query) = at(i, QUERIES).first_vector(self.dims()).map(near) else { continue };
            let blocks = (0..BLOCKS).map(|j| at(j, BLOCKS));
            let mut found: Vec<_> = blocks.flat_map(|block| self.shortfalls(block, &query)).collect();
            found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
            all.extend(found.iter().take(NEAREST).map(|&(.., shortfall)| f64::from(shortfall)));
        }
        all
    }

    /// The cosines of a block's rows, by lane, and by how many spreads they are over their estimates.
    pub(super) fn shortfalls(&self, block: &Block, query: &[f32]) -> Vec<(usize, f32, f32)> {
        let (planes, bits) = (self.kernel().quantise_query(query), BitQuery::new(query, padded(self.dims())));
        let (mut sums, mut estimates) = ([0; BLOCK_ROWS], [0; BLOCK_ROWS]);
        let sketch = block.sketch(self.dims());
        self.kernel().scan_i8(&planes, block.rows(), &mut sums[..block.len()]);
        self.kernel().scan_bits(&bits, sketch.words(), &mut estimates);
        let one = |lane: usize| {
            let cosine = sums[lane] as f32 * planes.scale * block.scale(lane);
            let estimate = estimates[lane] as f32 * bits.step() * sketch.factors()[lane];
            (lane, cosine, (cosine - estimate) / (sketch.spreads()[lane] * bits.norm()).max(f32::MIN_POSITIVE))
        };
        block.live().and(&block.with_vector()).iter().map(one).collect()
    }
}
