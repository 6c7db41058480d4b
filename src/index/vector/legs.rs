//! What the other legs add to each row for one query.

use super::arena::Arena;
use super::bits::{BLOCK_ROWS, Bits};
use super::block::Block;
use super::facts::Facts;
use super::request::Gate;

/// Sums of the additive legs, in the order of the arena that made them.
pub(crate) struct Legs {
    generation: u64,
    blocks: Vec<Option<Box<[f64; BLOCK_ROWS]>>>,
    sums: Option<Sums>,
}

/// The rows that a query sees.
pub(crate) struct Sight<'a> {
    pub(crate) gate: Gate,
    /// Beyond the gate, where that does not say it all.
    pub(crate) passes: Option<&'a dyn Fn(&Facts) -> bool>,
}

impl Sight<'_> {
    pub(super) fn lanes(&self, block: &Block) -> Bits {
        block.gated(self.gate)
    }

    pub(super) fn passes(&self, facts: &Facts) -> bool {
        self.passes.is_none_or(|passes| passes(facts))
    }
}

/// What a scan of the quantised rows gave, block by block; none where a query has no vector.
pub(crate) struct Sums {
    pub(super) generation: u64,
    pub(super) blocks: Vec<[i32; BLOCK_ROWS]>,
}

impl Legs {
    pub(super) fn new(generation: u64, blocks: usize) -> Self {
        Self { generation, blocks: vec![None; blocks], sums: None }
    }

    pub(super) fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Adds what each row has by its number, where the row passes. Values are finite.
    pub(crate) fn add_all(&mut self, arena: &Arena, by_row: &[f64], sight: &Sight<'_>) {
        for (block, values) in arena.blocks().iter().zip(&mut self.blocks) {
            for lane in sight.lanes(block).iter() {
                let value = by_row.get(block.numbers[lane] as usize).copied().unwrap_or(0.0);
                debug_assert!(value.is_finite(), "a leg adds finite values");
                if value != 0.0 && sight.passes(&block.facts[lane]) {
                    values.get_or_insert_with(|| Box::new([0.0; BLOCK_ROWS]))[lane] += value;
                }
            }
        }
    }

    /// Keeps what a scan of the same query gave, so that the search need not scan again.
    pub(crate) fn keep_sums(&mut self, sums: Option<Sums>) {
        self.sums = sums.filter(|sums| sums.generation == self.generation);
    }

    /// The sums of a block, where they are known.
    pub(super) fn sums(&self, block: usize) -> Option<&[i32; BLOCK_ROWS]> {
        self.sums.as_ref()?.blocks.get(block)
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
        for (lane, _) in self.block(block).into_iter().flatten().enumerate().filter(|(_, value)| **value != 0.0) {
            bits.set(lane, true);
        }
        bits
    }
}
