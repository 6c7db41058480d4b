//! The arena by itself, for benches and long exactness runs. Never for products.

use super::request::{Gate, Request};
use super::{Arena, Facts, NewRow, RamRows, VectorSource};
use crate::error::{Error, Result};
use crate::kernel::{Dispatch, Kernel};
use crate::policy::score::{Curve, Decay, ScoreParams, Scorer};

/// A row of a [`Lab`].
#[derive(Debug, Clone)]
pub struct LabRow {
    /// A unit vector.
    pub vector: Vec<f32>,
    /// Microseconds.
    pub time: i64,
    /// In [0, 1].
    pub weight: f32,
    /// Whether it never decays.
    pub pinned: bool,
}

/// A question to a [`Lab`].
#[derive(Debug, Clone, Copy)]
pub struct LabQuery<'a> {
    /// A unit vector.
    pub vector: &'a [f32],
    /// Rate per day.
    pub lambda: f64,
    /// What no age takes away.
    pub floor: f64,
    /// Microseconds.
    pub now: i64,
    /// How many hits.
    pub k: usize,
    /// The recall that is enough; exact without.
    pub approximate: Option<f64>,
    /// Only rows with an odd number.
    pub odd_only: bool,
}

/// The answer of a [`Lab`].
#[derive(Debug, Clone, PartialEq)]
pub struct LabAnswer {
    /// Row and score, best first.
    pub hits: Vec<(u32, f64)>,
    /// Rows in blocks that were looked at.
    pub scanned_rows: usize,
    /// Rows that were scored from their full vectors.
    pub reranked_rows: usize,
    /// The recall that was measured, where the answer is approximate.
    pub approximate: Option<f64>,
}

/// An arena with its full vectors.
pub struct Lab {
    arena: Arena,
    full: RamRows,
}

/// The kernels of this machine.
pub fn lab_kernels() -> Vec<&'static str> {
    Kernel::available().map(Kernel::name).collect()
}

impl Lab {
    /// Loads all rows at once, numbered in their order.
    ///
    /// # Errors
    ///
    /// `Invalid`: an unknown kernel, or a row of the wrong dims.
    pub fn load(dims: usize, kernel: Option<&str>, rows: &[LabRow]) -> Result<Self> {
        let kernel = match kernel {
            None => Dispatch::best(),
            Some(name) => name.parse().ok().and_then(Dispatch::new).ok_or_else(|| Error::invalid("no such kernel"))?,
        };
        let mut full = RamRows::new(dims);
        for (i, row) in rows.iter().enumerate() {
            full.insert(i as u32, &row.vector)?;
        }
        let new: Vec<NewRow<'_>> = rows.iter().enumerate().map(|(i, row)| new_row(i as u32, row)).collect();
        Ok(Self { arena: Arena::from_rows(dims, kernel, &new)?, full })
    }

    /// Adds a row with the next number.
    ///
    /// # Errors
    ///
    /// `Invalid`: the wrong dims.
    pub fn insert(&mut self, number: u32, row: &LabRow) -> Result<()> {
        self.arena.insert(&new_row(number, row))?;
        self.full.insert(number, &row.vector)
    }

    /// Never gathers rows in lists: approximate searches go by sketches alone.
    pub fn flatten(&mut self) {
        self.arena.alike.forbid();
    }

    /// Memory held, full vectors apart.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }

    /// The best rows.
    ///
    /// # Errors
    ///
    /// `Invalid`: a query or a decay that makes no sense.
    pub fn search(&self, query: &LabQuery<'_>) -> Result<LabAnswer> {
        let scorer = Scorer::new(ScoreParams {
            decay: Decay::new(Curve::Exponential { lambda: query.lambda }, query.floor)?,
            dense_share: 1.0,
            lo: 0.0,
            hi: 1.0,
            z: 1.0,
            weighted: true,
            now: query.now,
        })?;
        let odd = |facts: &Facts| facts.row % 2 == 1;
        let found = self.arena.search(&Request {
            query: Some(query.vector),
            scorer: &scorer,
            legs: None,
            gate: Gate { active_only: true, level: 1 },
            filter: if query.odd_only { Some(&odd) } else { None },
            contradicted: &[],
            k: query.k,
            min_score: None,
            approximate: query.approximate,
            full: &self.full,
        })?;
        Ok(LabAnswer {
            hits: found.hits.iter().map(|hit| (hit.row, hit.parts.score)).collect(),
            scanned_rows: found.scanned_rows,
            reranked_rows: found.reranked_rows,
            approximate: found.approximate,
        })
    }

    /// Reads the bytes of every quantised row and does nothing with them.
    pub fn read(&self) -> u64 {
        self.arena.blocks().iter().fold(0, |all, block| all ^ self.arena.kernel().read(block.rows()))
    }

    /// Compares the query with every row and does nothing else.
    pub fn scan(&self, query: &[f32]) -> i64 {
        let (kernel, mut sums, mut all) = (self.arena.kernel(), [0; 256], 0);
        let planes = kernel.quantise_query(query);
        for block in self.arena.blocks() {
            kernel.scan_i8(&planes, block.rows(), &mut sums[..block.len()]);
            all += i64::from(sums[0]);
        }
        all
    }
}

fn new_row(number: u32, row: &LabRow) -> NewRow<'_> {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&number.to_be_bytes());
    let facts = Facts {
        id,
        row: number,
        version: 0,
        time: row.time,
        created_at: row.time,
        valid_from: row.time,
        valid_to: i64::MAX,
        importance: row.weight,
        confidence: 1.0,
        kind: 0,
        status: 0,
        sensitivity: 0,
        visibility: 0,
        pinned: row.pinned,
        turn: false,
        space: 1,
        has_vector: true,
    };
    NewRow { facts, vector: VectorSource::Full(&row.vector) }
}
