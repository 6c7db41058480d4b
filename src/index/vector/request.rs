//! A question to the arena, and its answer.

use super::facts::Facts;
use super::full::FullRows;
use super::legs::Legs;
use crate::policy::score::{ScoreParts, Scorer};

/// The gate that every query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Whether rows that are not active are kept out.
    pub(crate) active_only: bool,
    /// The highest sensitivity that may be seen.
    pub(crate) level: u8,
}

impl Gate {
    /// Lets every row through.
    #[cfg(test)]
    pub(crate) const OPEN: Self = Self { active_only: false, level: u8::MAX };
}

/// What to search for.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    /// Unit vector of the query; none switches the dense leg off.
    pub(crate) query: Option<&'a [f32]>,
    /// The score.
    pub(crate) scorer: &'a Scorer,
    /// The other legs.
    pub(crate) legs: Option<&'a Legs>,
    /// Status and sensitivity.
    pub(crate) gate: Gate,
    /// Any further filter; called only for rows that could be hits, in any order.
    pub(crate) filter: Option<&'a (dyn Fn(&Facts) -> bool + Sync)>,
    /// Row numbers that the query contradicts.
    pub(crate) contradicted: &'a [u32],
    /// How many hits at most.
    pub(crate) k: usize,
    /// The least score of a hit.
    pub(crate) min_score: Option<f64>,
    /// The part of the true hits that is enough, where an answer may be approximate.
    pub(crate) approximate: Option<f64>,
    /// Where exact scores come from.
    pub(crate) full: &'a dyn FullRows,
}

/// One scored row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// Row number.
    pub(crate) row: u32,
    /// Id of the memory.
    pub(crate) id: [u8; 16],
    /// Version of the record that was scored.
    pub(crate) version: u32,
    /// Its additive legs.
    pub(crate) additive: f64,
    /// The score and its parts.
    pub(crate) parts: ScoreParts,
}

impl Candidate {
    /// Better first.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.parts.order(&self.id, &other.parts, &other.id)
    }
}

/// The answer, and what it cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Best first.
    pub(crate) hits: Vec<Candidate>,
    /// Rows in the arena.
    pub(crate) total_rows: usize,
    /// Rows in blocks that were looked at.
    pub(crate) scanned_rows: usize,
    /// Rows that were scored from their full vectors.
    pub(crate) reranked_rows: usize,
    /// The recall that was measured for answers like this one; none where this one is exact.
    pub(crate) approximate: Option<f64>,
}
