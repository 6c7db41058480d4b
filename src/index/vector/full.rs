//! The full vectors that exact scores come from.

use std::collections::HashMap;

use zeroize::Zeroize;

use crate::error::{Error, Result};

/// Where full vectors are read from.
pub(crate) trait FullRows: Sync {
    /// The vector of a row, in place or copied into `buffer`.
    ///
    /// # Errors
    ///
    /// `Io` or `Corrupt` when it can't be read; the search then fails as a whole.
    fn row<'a>(&'a self, row: u32, buffer: &'a mut Vec<f32>) -> Result<&'a [f32]>;
}

const CHUNK_ROWS: u32 = 16;

struct Chunk {
    present: u16,
    values: Box<[f32]>,
}

impl Drop for Chunk {
    /// A vector can be turned back into text.
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

/// Full vectors in memory, in chunks of sixteen rows.
pub(crate) struct RamRows {
    dims: usize,
    chunks: HashMap<u32, Chunk>,
}

impl RamRows {
    /// None yet.
    pub(crate) fn new(dims: usize) -> Self {
        Self { dims, chunks: HashMap::new() }
    }

    /// Keeps the vector of a row.
    ///
    /// # Errors
    ///
    /// `Invalid`: the wrong number of dims.
    pub(crate) fn insert(&mut self, row: u32, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dims {
            return Err(Error::invalid(format!("vector: {} dims, the space has {}", vector.len(), self.dims)));
        }
        let len = self.dims * CHUNK_ROWS as usize;
        let new = || Chunk { present: 0, values: vec![0.0; len].into_boxed_slice() };
        let chunk = self.chunks.entry(row / CHUNK_ROWS).or_insert_with(new);
        let lane = row % CHUNK_ROWS;
        chunk.present |= 1 << lane;
        chunk.values[lane as usize * self.dims..][..self.dims].copy_from_slice(vector);
        Ok(())
    }

    /// Wipes the vector of a row.
    pub(crate) fn remove(&mut self, row: u32) {
        let Some(chunk) = self.chunks.get_mut(&(row / CHUNK_ROWS)) else { return };
        let lane = row % CHUNK_ROWS;
        chunk.present &= !(1 << lane);
        chunk.values[lane as usize * self.dims..][..self.dims].fill(0.0);
        if chunk.present == 0 {
            self.chunks.remove(&(row / CHUNK_ROWS));
        }
    }

    /// The vector of a row.
    pub(crate) fn get(&self, row: u32) -> Option<&[f32]> {
        let chunk = self.chunks.get(&(row / CHUNK_ROWS))?;
        let lane = row % CHUNK_ROWS;
        (chunk.present >> lane & 1 == 1).then(|| &chunk.values[lane as usize * self.dims..][..self.dims])
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        let chunk = self.dims * CHUNK_ROWS as usize * size_of::<f32>();
        self.chunks.len() * chunk + self.chunks.capacity() * (size_of::<Chunk>() + size_of::<u32>() + 1)
    }
}

impl FullRows for RamRows {
    fn row<'a>(&'a self, row: u32, _buffer: &'a mut Vec<f32>) -> Result<&'a [f32]> {
        self.get(row).ok_or_else(|| Error::corrupt(format!("vector of row {row} is missing")))
    }
}
