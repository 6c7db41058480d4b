use std::fmt;
use std::str::FromStr;

use crate::engine::FoundTrace;
use crate::error::{Error, Result};
use crate::memory::{MemoryId, Timestamp};

/// Names what one recall used, to be told by [`User::trace`](crate::User::trace). Shown as `trace-17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub(crate) u64);

const PREFIX: &str = "trace-";

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl FromStr for TraceId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = text.strip_prefix(PREFIX).and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| Error::invalid("trace: not of the form trace-17"))
    }
}

/// Which memories an answer used, and why these.
///
/// Holds ids, never texts. A memory that is forgotten is taken out of every trace.
#[derive(Clone, PartialEq)]
pub struct Trace {
    /// When it was asked.
    pub at: Timestamp,
    /// The clock that ages counted to.
    pub query_at: Timestamp,
    /// The time that it asked of; `None`: of then.
    pub as_of: Option<Timestamp>,
    /// Whether the answer was a prompt block; then only the memories in it are told.
    pub is_context: bool,
    /// At most so many hits were asked for.
    pub limit: usize,
    /// The filter, in words; `None` without one, and once a memory of the answer was forgotten.
    pub filter: Option<String>,
    /// The memories, best first.
    pub hits: Vec<TracedHit>,
    /// How many more there were, which have been forgotten since.
    pub forgotten: usize,
}

/// A memory that an answer used, with the parts of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TracedHit {
    /// The memory.
    pub id: MemoryId,
    /// Its version then.
    pub version: u32,
    /// Its version now; a higher one means that it was changed since. `None`: it is not there.
    pub version_now: Option<u32>,
    /// Its score.
    pub score: f64,
    /// The exact cosine of query and memory; 0 where it was not compared.
    pub cosine: f64,
    /// What the words gave, weighted by their share.
    pub words: f64,
    /// What the scene gave, weighted by its share.
    pub scene: f64,
    /// What the moment that the question named gave, weighted by its share.
    pub time_match: f64,
    /// What the speaker that the question named gave, weighted by its share.
    pub speaker: f64,
    /// What the turns around it lent.
    pub context: f64,
    /// Relevance before it is cut off at 0.
    pub relevance: f64,
    /// What age left of the score.
    pub retention: f64,
    /// Importance, confidence and conflict together.
    pub weight: f64,
}

impl Trace {
    pub(crate) fn of(found: &FoundTrace) -> Self {
        let stored = &found.stored;
        let hits = stored.hits.iter().zip(&found.present).map(|(hit, version_now)| {
            let [score, cosine, words, scene, time_match, speaker, context, relevance, retention, weight] = hit.parts;
            let (id, version, version_now) = (MemoryId::from_bytes(hit.id), hit.version, *version_now);
            TracedHit {
                id,
                version,
                version_now,
                score,
                cosine,
                words,
                scene,
                time_match,
                speaker,
                context,
                relevance,
                retention,
                weight,
            }
        });
        Self {
            at: Timestamp::from_micros(stored.at),
            query_at: Timestamp::from_micros(stored.query_at),
            as_of: stored.as_of.map(Timestamp::from_micros),
            is_context: stored.context,
            limit: usize::try_from(stored.limit).unwrap_or(usize::MAX),
            filter: (!stored.filter.is_empty()).then(|| stored.filter.clone()),
            hits: hits.collect(),
            forgotten: stored.forgotten as usize,
        }
    }
}

impl std::fmt::Debug for Trace {
    /// The words of a filter are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace")
            .field("at", &self.at)
            .field("query_at", &self.query_at)
            .field("filtered", &self.filter.is_some())
            .field("hits", &self.hits)
            .finish_non_exhaustive()
    }
}
