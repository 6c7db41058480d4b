use std::ops::Deref;

use crate::api::Explanation;
use crate::api::TraceId;
use crate::engine::{EmptyReason, Ranking, Scored};
use crate::memory::{Memory, MemoryId};

/// One memory that a recall found.
#[derive(Debug, Clone)]
pub struct Hit {
    memory: Memory,
    explanation: Explanation,
}

impl Hit {
    /// The memory's id.
    pub fn id(&self) -> MemoryId {
        self.memory.id()
    }

    /// The final score. Higher is better.
    pub fn score(&self) -> f64 {
        self.explanation.score()
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How the score came about, in numbers and, by its `Display`, in words.
    pub fn explain(&self) -> &Explanation {
        &self.explanation
    }

    /// Whether recomputing the score from its parts gives the same bits.
    pub fn verify(&self) -> bool {
        self.explanation.verify() && self.explanation.memory_version() == self.memory.version()
    }
}

/// An id with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdHit {
    /// The memory's id.
    pub id: MemoryId,
    /// The final score.
    pub score: f64,
}

impl IdHit {
    pub(crate) fn of(hit: &Scored) -> Self {
        Self { id: MemoryId::from_bytes(hit.candidate.id), score: hit.candidate.parts.score }
    }
}

/// What a recall found: hits, best first, or the reason why there is none. Reads as a slice of hits, which are whole
/// memories, or [`IdHit`]s where only ids were asked for.
#[derive(Debug, Clone)]
pub struct Recall<H = Hit> {
    hits: Vec<H>,
    reason: Option<EmptyReason>,
    abstained: Option<String>,
    times: Vec<String>,
    damaged: Vec<String>,
    approximate: Option<f64>,
    scanned_rows: usize,
    reranked_rows: usize,
    total_rows: usize,
    pub(crate) trace: Option<TraceId>,
}

impl Recall {
    pub(crate) fn new(ranking: &Ranking, memories: Vec<Memory>) -> Self {
        let hits = memories.into_iter().zip(Explanation::all(ranking));
        Self::of(ranking, hits.map(|(memory, explanation)| Hit { memory, explanation }).collect())
    }
}

impl Recall<IdHit> {
    pub(crate) fn ids(ranking: &Ranking) -> Self {
        Self::of(ranking, ranking.hits.iter().map(IdHit::of).collect())
    }
}

impl<H> Recall<H> {
    fn of(ranking: &Ranking, hits: Vec<H>) -> Self {
        Self {
            hits,
            reason: ranking.reason,
            abstained: ranking.abstained.clone(),
            times: ranking.times.clone(),
            damaged: ranking.damaged.clone(),
            approximate: ranking.approximate,
            scanned_rows: ranking.scanned_rows,
            reranked_rows: ranking.reranked_rows,
            total_rows: ranking.total_rows,
            trace: None,
        }
    }

    /// The hits, best first.
    pub fn hits(&self) -> &[H] {
        &self.hits
    }

    /// Why there is no hit; `None` where there is one.
    pub fn reason(&self) -> Option<EmptyReason> {
        self.reason
    }

    /// Why meaning did not count in a text query, where it did not: no embedder, one that failed, one of another model.
    pub fn dense_abstained(&self) -> Option<&str> {
        self.abstained.as_deref()
    }

    /// The expressions of time in the query that counted.
    pub fn times(&self) -> &[String] {
        &self.times
    }

    /// Damaged values that could not be searched, by name: where there are any, a hit may be missing.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// The part of the true hits that an answer like this one is expected to have, where it is approximate, from
    /// measurements on the user's own memories; `None`: it is exact.
    pub fn approximate(&self) -> Option<f64> {
        self.approximate
    }

    /// The trace that was kept, where the query asked for one and the user is known.
    pub fn trace(&self) -> Option<TraceId> {
        self.trace
    }

    /// Rows whose vectors were looked at. The rest was ruled out by a bound.
    pub fn scanned_rows(&self) -> usize {
        self.scanned_rows
    }

    /// Rows that were scored from their full vectors.
    pub fn reranked_rows(&self) -> usize {
        self.reranked_rows
    }

    /// Rows of the user, whatever their state.
    pub fn total_rows(&self) -> usize {
        self.total_rows
    }
}

impl<H> Deref for Recall<H> {
    type Target = [H];

    fn deref(&self) -> &[H] {
        &self.hits
    }
}

impl<'a, H> IntoIterator for &'a Recall<H> {
    type Item = &'a H;
    type IntoIter = std::slice::Iter<'a, H>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.iter()
    }
}

impl<H> IntoIterator for Recall<H> {
    type Item = H;
    type IntoIter = std::vec::IntoIter<H>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}
