//! What the other legs add to each row for one query.

use super::arena::Arena;
use super::bits::{BLOCK_ROWS, Bits};

/// Sums of the additive legs, in the order of the arena that made them.
pub(crate) struct Legs {
    generation: u64,
    blocks: Vec<Option<Box<[f64; BLOCK_ROWS]>>>,
}

impl Legs {
    pub(super) fn new(generation: u64, blocks: usize) -> Self {
        Self { generation, blocks: vec![None; blocks] }
    }

    pub(super) fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Adds to a row; says whether the arena knows it. Values are finite.
    pub(crate) fn add(&mut self, arena: &Arena, row: u32, value: f64) -> bool {
        debug_assert!(value.is_finite(), "a leg adds finite values");
        let Some((block, lane)) = arena.place_of(row) else { return false };
        let values = self.blocks[block].get_or_insert_with(|| Box::new([0.0; BLOCK_ROWS]));
        values[lane] += value;
        true
    }

    pub(super) fn at(&self, block: usize, lane: usize) -> f64 {
        self.blocks[block].as_ref().map_or(0.0, |values| values[lane])
    }

    pub(super) fn block(&self, block: usize) -> Option<&[f64; BLOCK_ROWS]> {
        self.blocks[block].as_deref()
    }

    pub(super) fn largest(&self, block: usize) -> f64 {
        self.block(block).map_or(0.0, |values| values.iter().fold(0.0, |most, &v| f64::max(most, v)))
    }

    pub(super) fn nonzero(&self, block: usize) -> Bits {
        let mut bits = Bits::default();
        for (lane, &value) in self.block(block).into_iter().flatten().enumerate() {
            bits.set(lane, value != 0.0);
        }
        bits
    }
}
