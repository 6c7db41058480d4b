use crate::engine::{Ask, Filter, LegSwitches, Statuses};
use crate::error::{Error, Result};
use crate::memory::limits::{CONTRADICTED_MAX, QUERY_BYTES_MAX};
use crate::memory::{MemoryId, Sensitivity, StatusKind, Timestamp, Vector};
use crate::policy::relevance::Shares;
use crate::policy::score::{Curve, Decay};

/// The curve of a query that names none: gentle, for an old memory is often the one that is wanted.
const CURVE_DEFAULT: Curve = Curve::Exponential { lambda: 0.005 };
/// What no age takes away unless said otherwise.
const FLOOR_DEFAULT: f64 = 0.9;
const LIMIT_DEFAULT: usize = 10;

/// What to recall, and how to score it. Every setter states its default.
///
/// ```
/// use mnemic::{memory::Kind, Curve, Filter, Query};
///
/// let query = Query::text("which seat should I book?")
///     .limit(5)
///     .filter(Filter::kind(Kind::Preference))
///     .curve(Curve::HalfLife { days: 90.0 })
///     .floor(0.5);
/// # let _ = query;
/// ```
#[derive(Clone)]
pub struct Query {
    text: Option<String>,
    vector: Option<Vec<f32>>,
    limit: usize,
    at: Option<Timestamp>,
    as_of: Option<Timestamp>,
    filter: Option<Filter>,
    min_score: Option<f64>,
    level: Option<Sensitivity>,
    curve: Curve,
    floor: f64,
    weighted: bool,
    raw_cosine: bool,
    contradicted: Vec<MemoryId>,
    statuses: Option<Vec<StatusKind>>,
    scene: Option<String>,
    legs: LegSwitches,
    shares: Option<Shares>,
    trace: bool,
    approximate: Option<f64>,
}

impl Query {
    /// Searches for a text: by its words, by its meaning (the store's embedder), by the moment and the speaker that it
    /// names, and by the conversation around each turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::empty() }
    }

    /// Searches with a vector of the store's space, of any length but zero.
    pub fn vector(vector: impl Into<Vec<f32>>) -> Self {
        Self { vector: Some(vector.into()), ..Self::empty() }
    }

    /// Adds a vector to a text query: it takes the place of the embedder's.
    pub fn with_vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.vector = Some(vector.into());
        self
    }

    fn empty() -> Self {
        Self {
            text: None,
            vector: None,
            limit: LIMIT_DEFAULT,
            at: None,
            as_of: None,
            filter: None,
            min_score: None,
            level: None,
            curve: CURVE_DEFAULT,
            floor: FLOOR_DEFAULT,
            weighted: true,
            raw_cosine: false,
            contradicted: Vec::new(),
            statuses: None,
            scene: None,
            legs: LegSwitches::ALL,
            shares: None,
            trace: false,
            approximate: None,
        }
    }

    /// At most this many hits. Default: 10. 0 gives none; a huge number gives all.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The time that ages count to. Default: now.
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Recalls only what was known then and held then. Default: what is known now.
    ///
    /// A memory is seen if it was created by `then`, if its time of validity holds `then`, and if it was not yet
    /// superseded or archived (one that was later counts as active). One whose words were changed in place since is
    /// left out, for what it says now was not known ([`Memory::revised_at`](crate::memory::Memory::revised_at)), and
    /// so is one that has been forgotten. Ages count to `then` unless [`at`](Self::at) says otherwise. How rare a word
    /// is counts by what is stored now.
    pub fn as_of(mut self, then: Timestamp) -> Self {
        self.as_of = Some(then);
        self
    }

    /// What a hit must be. Default: anything.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The least final score of a hit. Default: none. Higher is better, always.
    pub fn min_score(mut self, score: f64) -> Self {
        self.min_score = Some(score);
        self
    }

    /// The highest sensitivity that may be seen, at most that of the handle. Default: that of the handle.
    pub fn level(mut self, level: Sensitivity) -> Self {
        self.level = Some(level);
        self
    }

    /// How age lowers a score. Default: exponential, .005 a day.
    pub fn curve(mut self, curve: Curve) -> Self {
        self.curve = curve;
        self
    }

    /// The part of a score that no age takes away, in [0, 1]. Default: .9.
    pub fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    /// Leaves importance, confidence and conflicts out of the score. Default: they count.
    pub fn unweighted(mut self) -> Self {
        self.weighted = false;
        self
    }

    /// Scores by the bare cosine instead of the space's calibration. Default: calibrated.
    pub fn raw_cosine(mut self) -> Self {
        self.raw_cosine = true;
        self
    }

    /// Memories that the conversation contradicts: they weigh half. Default: none.
    pub fn contradicted(mut self, ids: impl IntoIterator<Item = MemoryId>) -> Self {
        self.contradicted = ids.into_iter().collect();
        self
    }

    /// The states that a hit may have. Default: active alone.
    pub fn statuses(mut self, statuses: impl IntoIterator<Item = StatusKind>) -> Self {
        self.statuses = Some(statuses.into_iter().collect());
        self
    }

    /// Where or in what setting the question is asked: memories of that scene count a little more. Default: nowhere.
    pub fn scene(mut self, scene: impl Into<String>) -> Self {
        self.scene = Some(scene.into());
        self
    }

    /// Which legs of a text query count. Default: all of them.
    pub fn legs(mut self, legs: LegSwitches) -> Self {
        self.legs = legs;
        self
    }

    /// What each leg of a text query counts. Default: [`Shares::DEFAULT`]. A query without a text has one leg only, and
    /// takes none.
    pub fn shares(mut self, shares: Shares) -> Self {
        self.shares = Some(shares);
        self
    }

    /// Lets the answer miss some of the true hits: `target_recall` of them, over 0 and at most 1, is enough. Default:
    /// exact.
    ///
    /// Decay, weights and filters stay free, and the scores of the hits are exact. The answer says that it is
    /// approximate, and which recall to expect of it, from measurements on the user's own memories
    /// ([`Recall::approximate`](crate::Recall::approximate)). Where an exact answer is as cheap, as for every user of
    /// under 8,192 memories, it is exact; so is every 16th of the first 512 questions and every 128th later, to learn
    /// from real questions and to check what is said of the others.
    ///
    /// # Cost
    ///
    /// Pays with tens of thousands of memories, slow decay or none, and many questions: users of 32,768 memories and
    /// more get lists of alike memories, in steps of some 25 ms at each approximate question. They take about 200
    /// bytes of the cache a memory, are kept in memory only and built again after loading. What was measured is kept
    /// with the user's next write, or by [`Store::maintain`](crate::Store::maintain).
    pub fn approximate(mut self, target_recall: f64) -> Self {
        self.approximate = Some(target_recall);
        self
    }

    /// Keeps which memories the answer used and why, for [`User::trace`](crate::User::trace) to tell later. Default: a
    /// recall writes nothing.
    ///
    /// Costs a durable commit. The newest [`TRACES_MAX`](crate::memory::limits::TRACES_MAX) of a user are kept; what
    /// is forgotten is taken out of them.
    pub fn trace(mut self, keep: bool) -> Self {
        self.trace = keep;
        self
    }

    /// Checks the query for a handle that sees up to `seen`.
    pub(crate) fn ask(&self, seen: Sensitivity) -> Result<Ask> {
        let text = self.text.as_ref().map(|text| check_text(text)).transpose()?;
        if self.contradicted.len() > CONTRADICTED_MAX {
            return Err(Error::invalid(format!(
                "contradicted: {} ids, at most {CONTRADICTED_MAX}",
                self.contradicted.len()
            )));
        }
        if self.min_score.is_some_and(f64::is_nan) {
            return Err(Error::invalid("min_score: is NaN"));
        }
        if self.approximate.is_some_and(|target| !(target > 0.0 && target <= 1.0)) {
            return Err(Error::invalid("approximate: the target recall must be over 0 and at most 1"));
        }
        if self.statuses.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("statuses: an empty list"));
        }
        if let Some(shares) = &self.shares {
            shares.check()?;
            if text.is_none() {
                return Err(Error::invalid("shares: the query has no text, and so one leg only"));
            }
        }
        let level = self.level.unwrap_or(seen);
        if level > seen {
            return Err(Error::denied(format!("level: {level} asked for, this handle sees up to {seen}")));
        }
        Ok(Ask {
            text,
            vector: self.vector.as_ref().map(|numbers| query_vector(numbers)).transpose()?,
            limit: self.limit,
            at: self.at,
            as_of: self.as_of,
            filter: self.filter.clone(),
            min_score: self.min_score,
            level,
            decay: Decay::new(self.curve, self.floor)?,
            weighted: self.weighted,
            raw_cosine: self.raw_cosine,
            contradicted: self.contradicted.clone(),
            scene: self.scene.clone(),
            legs: self.legs,
            shares: self.shares.unwrap_or(Shares::DEFAULT),
            trace: self.trace,
            approximate: self.approximate,
            statuses: self.statuses.as_ref().map_or(Statuses::ACTIVE, |kinds| Statuses::of(kinds.iter().copied())),
        })
    }
}

fn check_text(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::invalid("query text: empty or only white space"));
    }
    if text.len() > QUERY_BYTES_MAX {
        return Err(Error::invalid(format!("query text: {} bytes, at most {QUERY_BYTES_MAX}", text.len())));
    }
    Ok(text.to_owned())
}

fn query_vector(numbers: &[f32]) -> Result<Vector> {
    Vector::new(numbers).map_err(|error| Error::invalid(format!("query {}", error.message())))
}

impl std::fmt::Debug for Query {
    /// Shows its shape, never what is asked.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query")
            .field("text_bytes", &self.text.as_ref().map(String::len))
            .field("dims", &self.vector.as_ref().map(Vec::len))
            .field("limit", &self.limit)
            .field("filtered", &self.filter.is_some())
            .finish_non_exhaustive()
    }
}
