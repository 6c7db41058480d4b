//! Why a memory was not among the hits.

use crate::engine::bind::Bound;
use crate::engine::core::Core;
use crate::engine::rank::Sources;
use crate::engine::recall::{ATTEMPTS, Ask};
use crate::engine::user_index::UserIndex;
use crate::error::{Error, Result};
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
    /// It was not known, not in use or not valid at the query's `as_of`.
    NotThen,
    /// The query's filter keeps it out.
    Filter,
    /// It has nothing to compare with the query: none of its words, and no vector.
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
            Self::NotThen => f.write_str("not known, not in use or not valid at that time"),
            Self::Filter => f.write_str("kept out by the filter"),
            Self::NoSignal => f.write_str("nothing to compare with the query: no word of it, and no vector"),
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
        let (bound, hash) = (self.bind(ask)?, self.user_hash(user));
        for _ in 0..ATTEMPTS {
            let answer = self.with_index(hash, |head, index| match self.sources(head, index, &bound)? {
                Some(sources) => index.why_not(id, seen, &bound, &sources).map(Some),
                None => Ok(None),
            })?;
            match answer {
                None => return Ok(WhyNot::NotStored),
                Some(Some(why)) => return Ok(why),
                Some(None) => self.wait_for_commit(hash),
            }
        }
        Err(Error::busy("why_not: the user's memories changed faster than they could be read; try again"))
    }
}

impl UserIndex {
    fn why_not(&self, id: MemoryId, seen: Sensitivity, bound: &Bound<'_>, sources: &Sources<'_>) -> Result<WhyNot> {
        let ask = bound.ask;
        let Some(facts) = self.arena.facts_by_id(id.as_bytes()).filter(|facts| facts.sensitivity <= seen.code()) else {
            return Ok(WhyNot::NotStored);
        };
        if let Some(level) = Sensitivity::from_code(facts.sensitivity).filter(|level| *level > ask.level) {
            return Ok(WhyNot::Sensitivity(level));
        }
        if !self.stands(ask, facts) {
            let status = StatusKind::from_code(facts.status).filter(|_| ask.as_of.is_none());
            return Ok(status.map_or(WhyNot::NotThen, WhyNot::Status));
        }
        if !self.passes(ask, facts) {
            return Ok(WhyNot::Filter);
        }
        self.place_among(facts.row, bound, sources)
    }

    fn place_among(&self, row: u32, bound: &Bound<'_>, sources: &Sources<'_>) -> Result<WhyNot> {
        let prepared = self.prepare(bound, sources)?;
        let limit = bound.ask.limit;
        self.with_request(&prepared, limit, |request| {
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
