//! Why a memory was not among the hits.

use crate::engine::core::Core;
use crate::engine::recall::{Ask, Bound};
use crate::engine::user_index::UserIndex;
use crate::error::Result;
use crate::memory::{MemoryId, Sensitivity, StatusKind, UserId};

/// The first gate that kept a memory from being a hit, or the rank that it has.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum WhyNot {
    /// No memory with this id can be seen by this handle.
    NotStored,
    /// Its state is not one that the query asks for.
    Status(StatusKind),
    /// It lies above the level of the query.
    Sensitivity(Sensitivity),
    /// The query's filter keeps it out.
    Filter,
    /// It has nothing to compare with the query: its vector is pending.
    NoSignal,
    /// Its score is below the query's least.
    BelowThreshold {
        /// Its score.
        score: f64,
        /// The least.
        min_score: f64,
    },
    /// Others are better.
    Beaten {
        /// Its rank, 1 the best.
        rank: usize,
        /// Its score.
        score: f64,
        /// The score of the last hit.
        last_score: f64,
    },
    /// It is a hit.
    Hit {
        /// Its rank, 1 the best.
        rank: usize,
        /// Its score.
        score: f64,
    },
}

impl std::fmt::Display for WhyNot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStored => f.write_str("no such memory is stored"),
            Self::Status(status) => write!(f, "kept out by its status: {status}"),
            Self::Sensitivity(level) => write!(f, "kept out by its sensitivity: {level}"),
            Self::Filter => f.write_str("kept out by the filter"),
            Self::NoSignal => f.write_str("nothing to compare with the query: its vector is pending"),
            Self::BelowThreshold { score, min_score } => {
                write!(f, "score {score:.6} is below the least, {min_score:.6}")
            }
            Self::Beaten { rank, score, last_score } => {
                write!(f, "beaten: rank {rank} with score {score:.6}; the last hit has {last_score:.6}")
            }
            Self::Hit { rank, score } => write!(f, "it is a hit: rank {rank} with score {score:.6}"),
        }
    }
}

impl Core {
    /// `seen` is the highest level that the asking handle may see at all.
    pub(crate) fn why_not(&self, user: &UserId, id: MemoryId, seen: Sensitivity, ask: &Ask) -> Result<WhyNot> {
        self.check_open()?;
        let hash = self.user_hash(user);
        let bound = self.bind(ask)?;
        let answer = self.with_index(hash, |_, index| index.why_not(id, seen, ask, bound.as_ref()))?;
        Ok(answer.unwrap_or(WhyNot::NotStored))
    }
}

impl UserIndex {
    fn why_not(&self, id: MemoryId, seen: Sensitivity, ask: &Ask, bound: Option<&Bound<'_>>) -> Result<WhyNot> {
        let Some(facts) = self.arena.facts_by_id(id.as_bytes()).filter(|facts| facts.sensitivity <= seen.code()) else {
            return Ok(WhyNot::NotStored);
        };
        if let Some(level) = Sensitivity::from_code(facts.sensitivity).filter(|level| *level > ask.level) {
            return Ok(WhyNot::Sensitivity(level));
        }
        if let Some(status) = StatusKind::from_code(facts.status).filter(|_| !ask.statuses.holds(facts.status)) {
            return Ok(WhyNot::Status(status));
        }
        if !self.passes(ask, facts) {
            return Ok(WhyNot::Filter);
        }
        let Some(bound) = bound else { return Ok(WhyNot::NoSignal) };
        self.check(bound)?;
        self.place_among(facts.row, bound)
    }

    fn place_among(&self, row: u32, bound: &Bound<'_>) -> Result<WhyNot> {
        let contradicted = self.rows_of(&bound.ask.contradicted);
        let limit = bound.ask.limit;
        self.with_request(bound, &contradicted, limit, |request| {
            let open = crate::index::vector::Request { min_score: None, ..*request };
            if !self.arena.is_eligible(row, &open) {
                return Ok(WhyNot::NoSignal);
            }
            let Some(candidate) = self.arena.score_row(row, &open)? else { return Ok(WhyNot::NotStored) };
            let score = candidate.parts.score;
            if let Some(min_score) = bound.ask.min_score.filter(|least| score < *least) {
                return Ok(WhyNot::BelowThreshold { score, min_score });
            }
            let rank = self.arena.rank(row, request)?.map_or(1, |better| better + 1);
            if rank <= limit {
                return Ok(WhyNot::Hit { rank, score });
            }
            let hits = self.arena.search(request)?.hits;
            let last_score = hits.last().map_or(f64::INFINITY, |last| last.parts.score);
            Ok(WhyNot::Beaten { rank, score, last_score })
        })
    }
}
