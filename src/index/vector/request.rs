//! A question to the arena, and its answer.

use super::facts::Facts;
use super::full::FullRows;
use super::legs::Legs;
use crate::policy::score::{ScoreParts, Scorer};

/// The gate that every query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// Whether rows that are not active are kept out.
    pub active_only: bool,
    /// The highest sensitivity that may be seen.
    pub level: u8,
}

impl Gate {
    /// Lets every row through.
    pub const OPEN: Self = Self { active_only: false, level: u8::MAX };
}

/// What to search for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Unit vector of the query; none switches the dense leg off.
    pub query: Option<&'a [f32]>,
    /// The score.
    pub scorer: &'a Scorer,
    /// The other legs.
    pub legs: Option<&'a Legs>,
    /// Status and sensitivity.
    pub gate: Gate,
    /// Any further filter; called only for rows that could be hits, in any order.
    pub filter: Option<&'a (dyn Fn(&Facts) -> bool + Sync)>,
    /// Row numbers that the query contradicts.
    pub contradicted: &'a [u32],
    /// How many hits at most.
    pub k: usize,
    /// The least score of a hit.
    pub min_score: Option<f64>,
    /// Where exact scores come from.
    pub full: &'a dyn FullRows,
}

/// One scored row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Row number.
    pub row: u32,
    /// Id of the memory.
    pub id: [u8; 16],
    /// Version of the record that was scored.
    pub version: u32,
    /// Its additive legs.
    pub additive: f64,
    /// The score and its parts.
    pub parts: ScoreParts,
}

impl Candidate {
    /// Better first.
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.parts.order(&self.id, &other.parts, &other.id)
    }
}

/// The exact answer, and what it cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Best first.
    pub hits: Vec<Candidate>,
    /// Rows in the arena.
    pub total_rows: usize,
    /// Rows in blocks that were looked at.
    pub scanned_rows: usize,
    /// Rows that were scored from their full vectors.
    pub reranked_rows: usize,
}
