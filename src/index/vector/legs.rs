//! What the other legs add to each row for one query.

use super::arena::Arena;
use super::bits::{BLOCK_ROWS, Bits};
use super::block::Block;
use super::facts::Facts;
use super::request::Gate;

/// Sums of the additive legs, in the order of the arena that made them.
pub(crate) struct Legs {
    generation: u64,
    /// Block after block, each of 256 lanes.
    values: Vec<f64>,
    blocks: Vec<Summary>,
    sums: Option<Sums>,
}

/// What is known of a block's values.
#[derive(Clone, Copy, Default)]
struct Summary {
    nonzero: Bits,
    largest: f64,
    smallest: f64,
}

/// The rows that a query sees.
pub(crate) struct Sight<'a> {
    pub(crate) gate: Gate,
    /// Beyond the gate, where that does not say it all.
    pub(crate) passes: Option<&'a dyn Fn(&Facts) -> bool>,
}

impl Sight<'_> {
    fn lanes(&self, block: &Block) -> Bits {
        block.gated(self.gate)
    }

    fn only_seen(&self, block: &Block, lanes: Bits) -> Bits {
        let mut seen = lanes.and(&self.lanes(block));
        if self.passes.is_some() {
            seen.iter().filter(|lane| !self.passes(&block.facts[*lane])).for_each(|lane| seen.set(lane, false));
        }
        seen
    }

    /// Writes the values of the rows of a block that are seen to their numbers.
    pub(super) fn show(&self, block: &Block, values: &[f64; BLOCK_ROWS], by_row: &mut [f64]) {
        let seen = self.only_seen(block, Bits::first(block.len()));
        let mut put = |(number, value): (&u32, &f64)| {
            if let Some(at) = by_row.get_mut(*number as usize) {
                *at = *value;
            }
        };
        if seen.count() == block.len() {
            return block.numbers.iter().zip(values).for_each(put);
        }
        seen.iter().for_each(|lane| put((&block.numbers[lane], &values[lane])));
    }

    fn passes(&self, facts: &Facts) -> bool {
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
        let summaries = vec![Summary::default(); blocks];
        Self { generation, values: vec![0.0; blocks * BLOCK_ROWS], blocks: summaries, sums: None }
    }

    pub(super) fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Gives each row that is seen what it has by its number. Values are finite.
    pub(crate) fn fill(&mut self, arena: &Arena, by_row: &[f64], sight: &Sight<'_>) {
        let lanes = self.values.chunks_exact_mut(BLOCK_ROWS);
        for ((block, values), summary) in arena.blocks().iter().zip(lanes).zip(&mut self.blocks) {
            gather(block, by_row, values);
            debug_assert!(values.iter().all(|value| value.is_finite()), "a leg adds finite values");
            let given = Bits::where_nonzero(values);
            let nonzero = sight.only_seen(block, given);
            given.without(&nonzero).iter().for_each(|lane| values[lane] = 0.0);
            let (smallest, largest) = extremes(values);
            *summary = Summary { nonzero, largest, smallest };
        }
    }

    /// The same where only some rows have anything; one that comes again has the same value.
    pub(crate) fn fill_some(&mut self, arena: &Arena, rows: impl Iterator<Item = (u32, f64)>, sight: &Sight<'_>) {
        for (row, value) in rows.filter(|(_, value)| *value != 0.0) {
            let Some((at, lane)) = arena.place_of(row) else { continue };
            let block = &arena.blocks()[at];
            if sight.lanes(block).has(lane) && sight.passes(&block.facts[lane]) {
                self.values[at * BLOCK_ROWS + lane] = value;
                let summary = &mut self.blocks[at];
                summary.nonzero.set(lane, true);
                summary.largest = summary.largest.max(value);
                summary.smallest = summary.smallest.min(value);
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
        self.values.get(block * BLOCK_ROWS + lane).copied().unwrap_or(0.0)
    }

    /// The values of a block; none where all are 0.
    pub(super) fn block(&self, block: usize) -> Option<&[f64]> {
        let at = block * BLOCK_ROWS;
        self.values.get(at..at + BLOCK_ROWS).filter(|_| !self.nonzero(block).is_empty())
    }

    /// The largest value of a block, 0 at least.
    pub(super) fn largest(&self, block: usize) -> f64 {
        self.blocks.get(block).map_or(0.0, |summary| summary.largest)
    }

    /// The largest magnitude of a block.
    pub(super) fn magnitude(&self, block: usize) -> f64 {
        self.blocks.get(block).map_or(0.0, |summary| summary.largest.max(-summary.smallest))
    }

    pub(super) fn nonzero(&self, block: usize) -> Bits {
        self.blocks.get(block).map_or_else(Bits::default, |summary| summary.nonzero)
    }
}

/// The values of a block's rows, 0 for one past the end.
fn gather(block: &Block, by_row: &[f64], values: &mut [f64]) {
    for (value, number) in values.iter_mut().zip(&block.numbers) {
        *value = by_row.get(*number as usize).copied().unwrap_or(0.0);
    }
}

/// The smallest and the largest value, 0 among them.
fn extremes(values: &[f64]) -> (f64, f64) {
    const WIDTH: usize = 8;
    let (mut low, mut high) = ([0.0; WIDTH], [0.0; WIDTH]);
    let mut look = |some: &[f64]| {
        for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(some) {
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
        }
    };
    let (chunks, rest) = values.as_chunks::<WIDTH>();
    chunks.iter().for_each(|chunk| look(chunk));
    look(rest);
    (low.into_iter().fold(0.0, f64::min), high.into_iter().fold(0.0, f64::max))
}
