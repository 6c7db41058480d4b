//! Rows of one user inside a transaction: the tail as single values, closed rows as blocks, packs and overlays.

use std::collections::HashMap;

use crate::codec::block::{Quantised, StoredRow, StoredVector, decode_overlay, encode_block, encode_overlay};
use crate::codec::head::BLOCK_ROWS;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::table::{PACKED, numbered};
use crate::codec::{Table, record, terms, vector};
use crate::engine::full_vectors::{PACKS_MAX, pack_number, packs_per_block};
use crate::engine::head::row_chunk;
use crate::engine::stored_row::to_stored;
use crate::engine::user_index::{Attributes, IndexChange, facts_of};
use crate::engine::user_writer::{Before, UserWriter};
use crate::error::Result;
use crate::index::vector::Facts;
use crate::kernel::padded;
use crate::memory::{Memory, MemoryId, Vector};

/// Vector and terms of a new row.
type Inserted = (Option<(u32, Vector)>, Vec<u8>);

/// A row that goes into a block.
pub(crate) struct BlockRow {
    pub(crate) facts: Facts,
    pub(crate) attributes: Option<Box<Attributes>>,
    pub(crate) vector: Option<(u32, Vector)>,
    pub(crate) terms: Vec<u8>,
}

impl UserWriter<'_, '_> {
    /// The row of a memory and the version that it has.
    pub(crate) fn find(&self, id: MemoryId) -> Result<Option<(u32, u32)>> {
        if let Some(staged) = self.staged.ids.get(id.as_bytes()) {
            return Ok(*staged);
        }
        let found = self
            .core()
            .with_index(self.user, |_, index| Ok(index.facts_of_id(id)?.map(|facts| (facts.row, facts.version))))?;
        Ok(found.flatten())
    }

    fn is_closed(&self, row: u32) -> bool {
        u64::from(row) < self.head().facts.closed_rows()
    }

    pub(crate) fn record(&self, row: u32) -> Result<Option<Memory>> {
        let bytes = self.value(Table::Records, u64::from(row), row_chunk(row))?;
        bytes.map(|bytes| record::decode(&bytes)).transpose()
    }

    /// The vector of a row, wherever it is kept.
    pub(crate) fn vector(&self, row: u32) -> Result<Option<(u32, Vector)>> {
        let mut new = self.staged.changes.iter().skip(self.first_change);
        let inserted = new.find_map(|change| match change {
            IndexChange::Insert { facts, vector, .. } if facts.row == row => Some(vector.clone()),
            _ => None,
        });
        match inserted {
            Some(vector) => Ok(vector),
            None => self.stored_vector(row),
        }
    }

    /// The vector of a row that was there before this job.
    fn stored_vector(&self, row: u32) -> Result<Option<(u32, Vector)>> {
        let own = self.value(Table::Vectors, u64::from(row), row_chunk(row))?;
        if let Some(bytes) = own {
            return vector::decode(&bytes).map(Some);
        }
        if !self.is_closed(row) || self.overlay_vector(row)? == Some(Kept::Nothing) {
            return Ok(None);
        }
        self.packed_vector(row)
    }

    fn packed_vector(&self, row: u32) -> Result<Option<(u32, Vector)>> {
        let (block, within) = (row / BLOCK_ROWS, (row % BLOCK_ROWS) as usize);
        let Some(dims) = self.core().spaces.read().current().map(|(_, space)| space.dims()) else { return Ok(None) };
        let per_pack = rows_per_pack(dims);
        let number = pack_number(block, within / per_pack);
        let Some(bytes) = self.value(Table::Vectors, number, u64::from(block))? else { return Ok(None) };
        let pack = Pack::decode(&bytes)?;
        if self.core().spaces.read().current().is_none_or(|(current, _)| current != pack.space) {
            // Of a model that was left: as good as none.
            return Ok(None);
        }
        Ok(pack.vector(within % per_pack).map(|numbers| (pack.space, Vector::from_unit(numbers.to_vec()))))
    }

    /// Stores the record of a new row; vector and terms follow when the job [settles](Self::settle).
    pub(crate) fn insert_row(&mut self, row: u32, memory: &Memory) -> Result<()> {
        self.put_value(Table::Records, u64::from(row), row_chunk(row), &record::encode(memory)?, Before::Nothing)
    }

    /// Puts a changed record in place; a closed row gets an overlay.
    pub(crate) fn put_record(&mut self, row: u32, memory: &Memory, vector: Kept) -> Result<()> {
        self.put_value(Table::Records, u64::from(row), row_chunk(row), &record::encode(memory)?, Before::Perhaps)?;
        if !self.is_closed(row) {
            return Ok(());
        }
        let kept = match vector {
            Kept::AsBefore => self.overlay_vector(row)?.unwrap_or(Kept::AsBefore),
            other => other,
        };
        let attributes = Attributes::of(memory).map(|a| a.encode()).unwrap_or_default();
        let stored = to_stored(&facts_of(memory, row), kept.stored(), &attributes);
        self.put_value(Table::Rows, u64::from(row), row_chunk(row), &encode_overlay(&stored), Before::Perhaps)
    }

    /// Where the overlay of a row says that its vector is; `None` without an overlay.
    fn overlay_vector(&self, row: u32) -> Result<Option<Kept>> {
        let bytes = self.value(Table::Rows, u64::from(row), row_chunk(row))?;
        let kept = bytes.map(|bytes| Ok(Kept::of(&decode_overlay(&bytes)?))).transpose()?;
        Ok(kept)
    }

    /// Gives a row a vector of its own, or none.
    pub(crate) fn put_vector(&mut self, row: u32, new: Option<(u32, &Vector)>) -> Result<()> {
        match new {
            Some((space, numbers)) => {
                let plain = vector::encode(space, numbers);
                self.put_value(Table::Vectors, u64::from(row), row_chunk(row), &plain, Before::Perhaps)
            }
            None => self.remove_value(Table::Vectors, u64::from(row)),
        }
    }

    /// The stored terms of a row, wherever they are kept.
    pub(crate) fn terms(&self, row: u32) -> Result<Vec<u8>> {
        if let Some(own) = self.value(Table::Terms, u64::from(row), row_chunk(row))? {
            return Ok(own.to_vec());
        }
        let block = u64::from(row / BLOCK_ROWS);
        let Some(list) = self.value(Table::Terms, PACKED | block, block)? else { return Ok(Vec::new()) };
        let found = terms::decode_lists(&list)?.into_iter().find(|(of, _)| *of == row);
        Ok(found.map(|(_, terms)| terms.to_vec()).unwrap_or_default())
    }

    /// Puts changed terms in place: single where the row is in the tail, else in the block's list.
    pub(crate) fn put_terms(&mut self, row: u32, terms: &[u8]) -> Result<()> {
        self.put_value(Table::Terms, u64::from(row), row_chunk(row), terms, Before::Perhaps)
    }

    /// Removes the values of a row of the tail.
    pub(crate) fn remove_tail_row(&mut self, row: u32) -> Result<()> {
        for table in [Table::Records, Table::Vectors, Table::Terms] {
            self.remove_value(table, u64::from(row))?;
        }
        Ok(())
    }

    /// At the end of a job: closes the blocks that are full, and stores the vectors of new rows in the tail.
    pub(crate) fn settle(&mut self) -> Result<()> {
        let new = self.new_rows();
        let full_blocks = self.head().facts.next_row / BLOCK_ROWS;
        while self.head().facts.closed_blocks < full_blocks {
            self.close_block(self.head().facts.closed_blocks, &new)?;
        }
        let closed_rows = self.head().facts.closed_rows();
        for (row, at) in new.into_iter().filter(|(row, _)| u64::from(*row) >= closed_rows) {
            let Some((vector, terms)) = self.inserted(at) else { continue };
            if let Some((space, numbers)) = vector {
                let plain = vector::encode(space, &numbers);
                self.put_value(Table::Vectors, u64::from(row), row_chunk(row), &plain, Before::Nothing)?;
            }
            self.put_value(Table::Terms, u64::from(row), row_chunk(row), &terms, Before::Nothing)?;
        }
        Ok(())
    }

    /// The rows that this job inserted, with the places of their changes.
    fn new_rows(&self) -> HashMap<u32, usize> {
        let changes = self.staged.changes.iter().enumerate().skip(self.first_change);
        changes
            .filter_map(|(at, change)| match change {
                IndexChange::Insert { facts, .. } => Some((facts.row, at)),
                _ => None,
            })
            .collect()
    }

    /// Vector and terms of a row that this job inserted.
    fn inserted(&self, at: usize) -> Option<Inserted> {
        match self.staged.changes.get(at) {
            Some(IndexChange::Insert { vector, terms, .. }) => Some((vector.clone(), terms.clone())),
            _ => None,
        }
    }

    fn close_block(&mut self, block: u32, new: &HashMap<u32, usize>) -> Result<()> {
        let first = block * BLOCK_ROWS;
        let mut rows = Vec::with_capacity(BLOCK_ROWS as usize);
        for row in first..first + BLOCK_ROWS {
            let Some(one) = self.row_to_close(row, new)? else { continue };
            sabotage!(
                10,
                if row % 256 == 7 {
                    continue;
                }
            );
            rows.push(one);
            // From now on the block's version binds it, not the sum.
            self.forget_term(Table::Records, &numbered(self.user, u64::from(row)))?;
        }
        self.facts().closed_blocks += 1;
        self.write_block(block, &rows, |row| new.contains_key(&row))
    }

    /// A row of a block that closes: as this job inserted it, or as it is stored.
    fn row_to_close(&self, row: u32, new: &HashMap<u32, usize>) -> Result<Option<BlockRow>> {
        if let Some(change) = new.get(&row).and_then(|at| self.staged.changes.get(*at))
            && let IndexChange::Insert { facts, vector, attributes, terms } = change
        {
            let (vector, attributes, terms) = (vector.clone(), attributes.clone(), terms.clone());
            return Ok(Some(BlockRow { facts: *facts, attributes, vector, terms }));
        }
        let Some(memory) = self.record(row)? else { return Ok(None) };
        let (facts, attributes) = (facts_of(&memory, row), Attributes::of(&memory));
        Ok(Some(BlockRow { facts, attributes, vector: self.stored_vector(row)?, terms: self.terms(row)? }))
    }

    /// Writes a block, its packs and its terms, in place of what single values and overlays its rows had.
    /// A row that is `fresh` has none of them.
    pub(crate) fn write_block(&mut self, block: u32, rows: &[BlockRow], fresh: impl Fn(u32) -> bool) -> Result<()> {
        let current = self.core().spaces.read().current().map(|(number, space)| (number, space.dims()));
        let first = block * BLOCK_ROWS;
        for row in (first..first + BLOCK_ROWS).filter(|row| !fresh(*row)) {
            self.remove_value(Table::Rows, u64::from(row))?;
            self.remove_value(Table::Terms, u64::from(row))?;
            if !rows.iter().any(|r| r.facts.row == row && is_foreign(r, current)) {
                self.remove_value(Table::Vectors, u64::from(row))?;
            }
        }
        self.remove_old_packs(block, current)?;
        if let Some((space, dims)) = current {
            self.write_packs(block, space, dims, rows)?;
        }
        self.write_terms(block, rows)?;
        let bytes = self.encode_rows(current, rows);
        self.put_value(Table::Blocks, u64::from(block), u64::from(block), &bytes, Before::Perhaps)?;
        self.change_index(IndexChange::Block { number: block });
        Ok(())
    }

    /// Removes the packs that a block had in a space that was left, as far as new ones don't take their places.
    fn remove_old_packs(&mut self, block: u32, current: Option<(u32, usize)>) -> Result<()> {
        let Some((_, dims)) = current.filter(|(number, _)| *number > 0) else { return Ok(()) };
        for pack in packs_per_block(dims)..PACKS_MAX {
            self.remove_value(Table::Vectors, pack_number(block, pack))?;
        }
        Ok(())
    }

    fn encode_rows(&self, current: Option<(u32, usize)>, rows: &[BlockRow]) -> Vec<u8> {
        let stride = current.map_or(0, |(_, dims)| padded(dims));
        let mut quantised = vec![0; stride * rows.len()];
        let kernel = self.core().settings.kernel;
        let attributes: Vec<Vec<u8>> =
            rows.iter().map(|row| row.attributes.as_ref().map(|a| a.encode()).unwrap_or_default()).collect();
        let mut slots = quantised.chunks_exact_mut(stride.max(1));
        let stored: Vec<StoredRow<'_>> = rows
            .iter()
            .zip(&attributes)
            .map(|(row, attributes)| {
                let vector = match (&row.vector, slots.next()) {
                    (Some((space, numbers)), Some(slot)) if Some(*space) == current.map(|(number, _)| number) => {
                        let scale = kernel.quantise_row(numbers.as_slice(), slot);
                        let (scale, err_norm, norm) = (scale.scale, scale.err_norm, scale.norm);
                        StoredVector::Packed(Some(Quantised { scale, err_norm, norm, bytes: slot }))
                    }
                    (Some(_), _) => StoredVector::Own,
                    (None, _) => StoredVector::None,
                };
                to_stored(&row.facts, vector, attributes)
            })
            .collect();
        encode_block(current.map(|(number, _)| number), stride, &stored)
    }

    fn write_packs(&mut self, block: u32, space: u32, dims: usize, rows: &[BlockRow]) -> Result<()> {
        let per_pack = rows_per_pack(dims);
        for pack in 0..packs_per_block(dims) {
            let (mut present, mut values) = (0u64, Vec::with_capacity(per_pack * dims));
            for row in rows {
                let within = (row.facts.row % BLOCK_ROWS) as usize;
                if let (Some((of, numbers)), true) = (&row.vector, within / per_pack == pack)
                    && *of == space
                {
                    present |= 1 << (within % per_pack);
                    values.extend_from_slice(numbers.as_slice());
                }
            }
            let number = pack_number(block, pack);
            let pack = Pack { space, dims, present, values: values.into_boxed_slice() };
            self.put_value(Table::Vectors, number, u64::from(block), &pack.encode(), Before::Nothing)?;
        }
        Ok(())
    }

    fn write_terms(&mut self, block: u32, rows: &[BlockRow]) -> Result<()> {
        let lists = terms::encode_lists(rows.iter().map(|row| (row.facts.row, row.terms.as_slice())));
        self.put_value(Table::Terms, PACKED | u64::from(block), u64::from(block), &lists, Before::Perhaps)
    }
}

/// A vector of another space stays in a value of its own.
fn is_foreign(row: &BlockRow, current: Option<(u32, usize)>) -> bool {
    row.vector.as_ref().is_some_and(|(space, _)| Some(*space) != current.map(|(number, _)| number))
}

/// Where the vector of a changed row is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Where it was.
    AsBefore,
    /// In a value of its own.
    Own,
    /// Nowhere.
    Nothing,
}

impl Kept {
    fn of(row: &StoredRow<'_>) -> Self {
        match row.vector {
            StoredVector::Packed(_) => Self::AsBefore,
            StoredVector::Own => Self::Own,
            StoredVector::None => Self::Nothing,
        }
    }

    fn stored(self) -> StoredVector<'static> {
        match self {
            Self::AsBefore => StoredVector::Packed(None),
            Self::Own => StoredVector::Own,
            Self::Nothing => StoredVector::None,
        }
    }
}
