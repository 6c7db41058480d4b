//! The rows of one user, in blocks and time runs.

use super::approximate::{Alike, Trials};
use super::bits::{BLOCK_ROWS, Bits};
use super::block::Block;
use super::facts::{Facts, NewRow, VectorSource};
use super::legs::{Legs, Sight, Sums};
use super::lookup::{SlotTable, hash_id};
use super::row_table::RowTable;
use super::runs::Run;
use super::sheet::{Column, Sheet};
use crate::error::{Error, Result};
use crate::kernel::{Dispatch, PlanedQuery, Slab, padded};

const BLOCK_BITS: u32 = BLOCK_ROWS.trailing_zeros();
/// Blocks that slots can name, two short of the table's marks.
const BLOCKS_MAX: usize = (u32::MAX >> BLOCK_BITS) as usize;
/// Below this many removed rows a rewrite is not worth it.
const DEAD_ROWS_MIN: usize = 256;
/// More rows than this are rewritten run by run, so that no write waits long.
const REBUILD_ROWS_MAX: usize = 8192;

/// The searchable rows of one user.
///
/// Oldest runs lie first, the open tail last. A slot is a block and a lane in it; merges move slots.
pub(crate) struct Arena {
    pub(super) dims: usize,
    pub(super) kernel: Dispatch,
    pub(super) blocks: Vec<Block>,
    pub(super) runs: Vec<Run>,
    pub(super) has_tail: bool,
    pub(super) by_row: RowTable,
    pub(super) by_id: SlotTable,
    pub(super) live: usize,
    pub(super) dead: usize,
    pub(super) generation: u64,
    pub(super) trials: Trials,
    pub(super) alike: Alike,
}

pub(super) fn slot(block: usize, lane: usize) -> u32 {
    (block << BLOCK_BITS | lane) as u32
}

fn place(slot: u32) -> (usize, usize) {
    ((slot >> BLOCK_BITS) as usize, slot as usize % BLOCK_ROWS)
}

impl Arena {
    /// An empty arena on a given kernel.
    pub(crate) fn with_kernel(dims: usize, kernel: Dispatch) -> Self {
        Self {
            dims,
            kernel,
            blocks: Vec::new(),
            runs: Vec::new(),
            has_tail: false,
            by_row: RowTable::default(),
            by_id: SlotTable::default(),
            live: 0,
            dead: 0,
            generation: 0,
            trials: Trials::default(),
            alike: Alike::default(),
        }
    }

    /// Adds a row to the tail, closing the tail when it is full.
    ///
    /// # Errors
    ///
    /// `Invalid`: wrong dims. `Conflict`: the row number or id is there already. Nothing was changed.
    pub(crate) fn insert(&mut self, row: &NewRow<'_>) -> Result<()> {
        self.check(row)?;
        if !self.has_tail {
            self.open_block(row.facts.time, 0, &mut Slab::new(Sheet::bytes_for(padded(self.dims), 0)))?;
            self.has_tail = true;
        }
        self.push(row);
        let member = self.blocks.last().and_then(|block| block.member(block.len() - 1));
        self.alike.add(member.as_ref());
        if self.blocks.last().is_some_and(Block::is_full) {
            self.close_tail();
        }
        Ok(())
    }

    pub(super) fn check(&self, row: &NewRow<'_>) -> Result<()> {
        self.check_vector(&row.vector)?;
        let facts = &row.facts;
        if self.slot_of(facts.row).is_some() || self.slot_of_id(&facts.id).is_some() {
            return Err(Error::conflict("the row number or id is in the index already"));
        }
        Ok(())
    }

    fn check_vector(&self, vector: &VectorSource<'_>) -> Result<()> {
        let fits = match vector {
            VectorSource::None => true,
            VectorSource::Full(values) => values.len() == self.dims,
            VectorSource::Quantised(bytes, _) => bytes.len() == padded(self.dims),
        };
        if fits { Ok(()) } else { Err(Error::invalid(format!("vector: the space has {} dims", self.dims))) }
    }

    pub(super) fn open_block(&mut self, base: i64, rows: usize, slab: &mut Slab) -> Result<()> {
        if self.blocks.len() >= BLOCKS_MAX {
            return Err(Error::unsupported("one user can't have more than four billion rows"));
        }
        self.generation += 1;
        self.blocks.push(Block::new(self.kernel, padded(self.dims), base, rows, slab));
        Ok(())
    }

    pub(super) fn push(&mut self, row: &NewRow<'_>) {
        let at = self.blocks.len() - 1;
        let slot = slot(at, self.blocks[at].push(row));
        let facts = |slot| {
            let (block, lane) = place(slot);
            &self.blocks[block].facts[lane]
        };
        self.by_row.set(row.facts.row, slot);
        self.by_id.insert(hash_id(&row.facts.id), slot, |s| hash_id(&facts(s).id));
        self.live += 1;
    }

    /// Replaces the facts of a row; its row number and id stay.
    ///
    /// # Errors
    ///
    /// `NotFound`: no such row. `Invalid`: another row number or id.
    pub(crate) fn change_facts(&mut self, row: u32, facts: &Facts) -> Result<()> {
        let (block, lane) = self.find(row)?;
        if facts.row != row || facts.id != self.blocks[block].facts[lane].id {
            return Err(Error::invalid("a change keeps the row number and the id"));
        }
        self.blocks[block].set_facts(lane, facts);
        self.alike.change(self.blocks[block].member(lane).as_ref());
        Ok(())
    }

    /// Gives a row its vector, or another one.
    ///
    /// # Errors
    ///
    /// `NotFound`: no such row. `Invalid`: wrong dims.
    pub(crate) fn set_vector(&mut self, row: u32, vector: &VectorSource<'_>) -> Result<()> {
        self.check_vector(vector)?;
        let (block, lane) = self.find(row)?;
        self.alike.forget(self.blocks[block].member(lane).as_ref());
        self.blocks[block].set_vector(lane, vector);
        self.alike.add(self.blocks[block].member(lane).as_ref());
        Ok(())
    }

    /// Takes a row out and wipes it.
    ///
    /// # Errors
    ///
    /// `NotFound`: no such row.
    pub(crate) fn remove(&mut self, row: u32) -> Result<()> {
        let (block, lane) = self.find(row)?;
        let id = self.blocks[block].facts[lane].id;
        self.by_row.remove(row);
        self.by_id.remove(hash_id(&id), slot(block, lane));
        self.alike.forget(self.blocks[block].member(lane).as_ref());
        self.blocks[block].remove(lane);
        self.live -= 1;
        self.dead += 1;
        let all = self.live + self.dead;
        if all <= REBUILD_ROWS_MAX && self.dead > DEAD_ROWS_MIN && self.dead > self.live {
            return self.rebuild();
        }
        self.count_dead(block, all > REBUILD_ROWS_MAX);
        Ok(())
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Dims of the space.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// Memory held by quantised rows, facts and tables; full vectors count for themselves.
    pub(crate) fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Block::memory).sum();
        let spare = (self.blocks.capacity() - self.blocks.len()) * size_of::<Block>();
        let tables = self.by_row.memory() + self.by_id.memory();
        size_of::<Self>() + blocks + spare + tables + self.alike.bytes() + self.trials.bytes()
    }

    /// Changes when searches have made the arena larger.
    pub(crate) fn growth(&self) -> usize {
        self.alike.grown()
    }

    /// The facts of a row.
    pub(crate) fn facts(&self, row: u32) -> Option<&Facts> {
        self.place_of(row).map(|(block, lane)| &self.blocks[block].facts[lane])
    }

    /// The facts of an id.
    pub(crate) fn facts_by_id(&self, id: &[u8; 16]) -> Option<&Facts> {
        self.slot_of_id(id).map(|slot| self.facts_at(slot))
    }

    /// The facts of all rows, in no promised order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Facts> {
        self.blocks.iter().flat_map(|block| block.live().iter().map(|lane| &block.facts[lane]))
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(crate) fn kernel(&self) -> Dispatch {
        self.kernel
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Block and lane of a row.
    pub(super) fn place_of(&self, row: u32) -> Option<(usize, usize)> {
        self.slot_of(row).map(place)
    }

    fn find(&self, row: u32) -> Result<(usize, usize)> {
        self.place_of(row).ok_or_else(|| Error::not_found(format!("row {row} is not in the index")))
    }

    fn facts_at(&self, slot: u32) -> &Facts {
        let (block, lane) = place(slot);
        &self.blocks[block].facts[lane]
    }

    fn slot_of(&self, row: u32) -> Option<u32> {
        self.by_row.get(row)
    }

    fn slot_of_id(&self, id: &[u8; 16]) -> Option<u32> {
        self.by_id.find(hash_id(id), |slot| self.facts_at(slot).id == *id)
    }
}

/// What the legs of words and context need of the quantised rows.
impl Arena {
    #[cfg(test)]
    /// The quantised form of a row, as it is stored.
    pub(crate) fn quantised(&self, row: u32) -> Option<NewRow<'_>> {
        self.place_of(row).map(|(block, lane)| self.blocks[block].row(lane))
    }

    /// Room for what the other legs add; valid until the next insertion, removal or rebuild.
    pub(crate) fn legs(&self) -> Legs {
        Legs::new(self.generation, self.blocks.len())
    }

    /// Writes to each row that is seen, by its number, what `of` makes of the cosine from its quantised vector: the same
    /// on every CPU; 0 for a row without one. Returns the sums, for [`Legs::keep_sums`].
    pub(crate) fn scan_quantised(
        &self,
        query: Option<&PlanedQuery>,
        sight: &Sight<'_>,
        of: impl Fn(f64) -> f64,
        by_row: &mut [f64],
    ) -> Sums {
        let mut all = Vec::with_capacity(if query.is_some() { self.blocks.len() } else { 0 });
        for block in &self.blocks {
            let mut values = [0.0; BLOCK_ROWS];
            if let Some(query) = query {
                let mut sums = [0; BLOCK_ROWS];
                self.kernel.scan_i8(query, block.rows(), &mut sums[..block.len()]);
                let steps = block.column(Column::Scale).iter().map(|scale| f64::from(*scale) * f64::from(query.scale));
                values
                    .iter_mut()
                    .zip(&sums)
                    .zip(steps)
                    .for_each(|((value, sum), step)| *value = of(f64::from(*sum) * step));
                Bits::first(block.len()).without(&block.with_vector()).iter().for_each(|lane| values[lane] = 0.0);
                all.push(sums);
            }
            sight.show(block, &values, by_row);
        }
        Sums { generation: self.generation, blocks: all }
    }
}
