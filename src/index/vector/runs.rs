//! Time runs: how blocks are cut, merged and rewritten.

use super::arena::{Arena, slot};
use super::bits::BLOCK_ROWS;
use super::block::Block;
use super::facts::{Facts, NewRow};
use super::lookup::{Cell, SlotTable, hash_id};
use super::sheet::Sheet;
use crate::error::Result;
use crate::kernel::{Dispatch, Slab, padded};
use crate::policy::score::weight;

/// Rows of the largest run.
const RUN_ROWS_MAX: usize = 8192;

/// A stretch of blocks whose rows are sorted by weight.
pub(super) struct Run {
    blocks: usize,
    rows: usize,
    dead: usize,
}

/// A row and its order.
type Ordered<'r> = (Order, &'r NewRow<'r>);

impl Arena {
    /// An arena of many rows: cut by time into runs, the newest the smallest.
    ///
    /// # Errors
    ///
    /// As [`Arena::insert`], for the first row that breaks a rule.
    pub(crate) fn from_rows<'r>(
        dims: usize,
        kernel: Dispatch,
        rows: impl IntoIterator<Item = &'r NewRow<'r>>,
    ) -> Result<Self> {
        let mut arena = Self::with_kernel(dims, kernel);
        let mut order: Vec<Ordered<'_>> = rows.into_iter().map(|row| (Order::of(&row.facts), row)).collect();
        order.sort_by_key(|(order, _)| order.time);
        arena.by_id = SlotTable::with_room(order.len());
        let mut end = order.len();
        let mut cuts = Vec::new();
        let mut size = BLOCK_ROWS;
        while end > 0 {
            let start = end.saturating_sub(size);
            cuts.push(start..end);
            end = start;
            size = (size * 2).min(RUN_ROWS_MAX);
        }
        // Runs of full size are not merged again, so they may share memory.
        let full = cuts.iter().filter(|cut| cut.len() == RUN_ROWS_MAX).count();
        let mut shared = arena.slab(full * RUN_ROWS_MAX);
        for cut in cuts.into_iter().rev() {
            let (first, run) = (arena.blocks.len(), &mut order[cut]);
            run.sort_by(|(a, _), (b, _)| a.heavier(b));
            let slab = if run.len() == RUN_ROWS_MAX { &mut shared } else { &mut arena.slab(run.len()) };
            arena.append_run(run, slab)?;
            arena.push_run(first, run.len());
        }
        Ok(arena)
    }

    /// Room for the blocks of runs of so many rows together.
    fn slab(&self, rows: usize) -> Slab {
        let padding = 2 * Sheet::bytes_for(0, 1) * rows.div_ceil(RUN_ROWS_MAX);
        Slab::new(rows * Sheet::row_bytes(padded(self.dims)) + padding)
    }

    fn append_run(&mut self, rows: &[Ordered<'_>], slab: &mut Slab) -> Result<()> {
        for part in rows.chunk_by(|(a, _), (b, _)| a.pinned == b.pinned) {
            for rows in part.chunks(BLOCK_ROWS) {
                let base = rows.iter().map(|(order, _)| order.time).max().unwrap_or(0);
                self.open_block(base, rows.len(), slab)?;
                for (_, row) in rows {
                    self.check(row)?;
                    self.push(row);
                }
            }
        }
        Ok(())
    }

    fn push_run(&mut self, first_block: usize, rows: usize) {
        self.runs.push(Run { blocks: self.blocks.len() - first_block, rows, dead: 0 });
    }

    /// Makes the tail a run, merged with the runs before it that are no larger.
    pub(super) fn close_tail(&mut self) {
        self.has_tail = false;
        let (mut blocks, mut rows) = (1, BLOCK_ROWS);
        while let Some(run) =
            self.runs.pop_if(|run| size_class(run.rows) <= size_class(rows) && run.rows + rows <= RUN_ROWS_MAX)
        {
            blocks += run.blocks;
            rows += run.rows;
        }
        self.rewrite(self.blocks.len() - blocks);
    }

    /// Rewrites the blocks from `first` on as one run, without removed rows.
    fn rewrite(&mut self, first: usize) {
        let old = self.blocks.split_off(first);
        let rows = self.repack(&old, first);
        if rows > 0 {
            self.push_run(first, rows);
        }
    }

    /// Counts a removed row of a block; rewrites its run, in place, once most of that is dead.
    pub(super) fn count_dead(&mut self, block: usize, may_rewrite: bool) {
        let mut first = 0;
        let Some(at) = self.runs.iter().position(|run| {
            first += run.blocks;
            block < first
        }) else {
            return;
        };
        let run = &mut self.runs[at];
        run.dead += 1;
        if !may_rewrite || 2 * run.dead <= run.rows || run.rows < BLOCK_ROWS {
            return;
        }
        let (end, blocks) = (first, run.blocks);
        let first = end - blocks;
        if blocks_needed(&self.blocks[first..end]) > blocks {
            return;
        }
        let later = self.blocks.split_off(end);
        let old = self.blocks.split_off(first);
        let rows = self.repack(&old, first);
        // Later blocks keep their places, for slots name them: empty ones fill the gap until the next load.
        while self.blocks.len() < end {
            self.blocks.push(Block::new(self.kernel, padded(self.dims), 0, 0, &mut Slab::new(0)));
        }
        self.blocks.extend(later);
        self.runs[at] = Run { blocks, rows, dead: 0 };
    }

    /// Packs the live rows of blocks that were at `first` again there; returns how many there are.
    fn repack(&mut self, old: &[Block], first: usize) -> usize {
        let places = sorted_places(old);
        let cells: Vec<_> = places.iter().map(|&(block, lane)| self.cell_of(old, first, block, lane)).collect();
        self.dead -= old.iter().map(|block| block.len() - block.live().count()).sum::<usize>();
        self.generation += 1;
        self.pack(old, &places);
        let lanes = self.blocks[first..].iter().enumerate().flat_map(|(i, b)| (0..b.len()).map(move |lane| (i, lane)));
        for (by_id, (block, lane)) in cells.into_iter().zip(lanes) {
            self.by_row.set(self.blocks[first + block].numbers[lane], slot(first + block, lane));
            by_id.into_iter().for_each(|cell| self.by_id.set(cell, slot(first + block, lane)));
        }
        places.len()
    }

    /// Where the table of ids holds a live row: always somewhere.
    fn cell_of(&self, old: &[Block], first: usize, block: usize, lane: usize) -> Option<Cell> {
        let (facts, slot) = (&old[block].facts[lane], slot(first + block, lane));
        let cell = self.by_id.position(hash_id(&facts.id), |s| s == slot);
        debug_assert!(cell.is_some(), "live rows are in the table");
        cell
    }

    fn pack(&mut self, old: &[Block], places: &[(usize, usize)]) {
        let mut slab = self.slab(places.len());
        let facts = |&(block, lane): &(usize, usize)| &old[block].facts[lane];
        for part in places.chunk_by(|a, b| facts(a).pinned == facts(b).pinned) {
            for places in part.chunks(BLOCK_ROWS) {
                let base = places.iter().map(|place| facts(place).time).max().unwrap_or(0);
                let mut block = Block::new(self.kernel, padded(self.dims), base, places.len(), &mut slab);
                for &(from, lane) in places {
                    block.push(&old[from].row(lane));
                }
                self.blocks.push(block);
            }
        }
    }

    /// Rewrites everything: drops removed rows, sorts by today's weights, lowers all bounds.
    ///
    /// # Errors
    ///
    /// None in practice; those of [`Arena::from_rows`].
    pub(crate) fn rebuild(&mut self) -> Result<()> {
        let old = std::mem::take(&mut self.blocks);
        let rows: Vec<NewRow<'_>> =
            old.iter().flat_map(|block| block.live().iter().map(|lane| block.row(lane))).collect();
        let generation = self.generation + 1;
        *self = Self::from_rows(self.dims, self.kernel, &rows)?;
        self.generation += generation;
        Ok(())
    }
}

/// What orders a row in its arena, held beside it so that sorting need not fetch every row.
#[derive(Clone, Copy)]
struct Order {
    pinned: bool,
    weight: f64,
    time: i64,
}

impl Order {
    fn of(facts: &Facts) -> Self {
        let weight = weight(facts.importance, facts.confidence, false);
        Self { pinned: facts.pinned, weight, time: facts.time }
    }

    /// Pinned rows last, each part by falling weight, the newer first.
    fn heavier(&self, than: &Self) -> std::cmp::Ordering {
        self.pinned.cmp(&than.pinned).then(than.weight.total_cmp(&self.weight)).then(than.time.cmp(&self.time))
    }
}

fn size_class(rows: usize) -> usize {
    rows.div_ceil(BLOCK_ROWS).next_power_of_two()
}

/// Blocks that the live rows of some blocks will take, pinned ones apart.
fn blocks_needed(blocks: &[Block]) -> usize {
    let live: usize = blocks.iter().map(|block| block.live().count()).sum();
    let pinned: usize = blocks.iter().map(|block| block.live().and(&block.pinned()).count()).sum();
    pinned.div_ceil(BLOCK_ROWS) + (live - pinned).div_ceil(BLOCK_ROWS)
}

fn sorted_places(blocks: &[Block]) -> Vec<(usize, usize)> {
    let places = blocks.iter().enumerate().flat_map(|(b, block)| block.live().iter().map(move |lane| (b, lane)));
    let mut ordered: Vec<_> = places.map(|place| (Order::of(&blocks[place.0].facts[place.1]), place)).collect();
    ordered.sort_by(|(a, _), (b, _)| a.heavier(b));
    ordered.into_iter().map(|(_, place)| place).collect()
}
