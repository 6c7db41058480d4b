//! Recall: the best memories of one user by the whole formula, and their records.

use crate::codec::table::numbered;
use crate::codec::{Table, UserHash, record};
use crate::embed::Purpose;
use crate::engine::core::Core;
use crate::engine::head::{Head, row_chunk};
use crate::engine::user_index::UserIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Filter;
use crate::index::vector::{Candidate, Facts, Gate, Request};
use crate::memory::{Calibration, Memory, MemoryId, Sensitivity, StatusKind, Timestamp, UserId, Vector};
use crate::policy::score::{Decay, ScoreParams, Scorer};
use crate::storage::ReadView;

/// The share of the dense leg while it is the only one: its scale then is the score's.
const DENSE_SHARE: f64 = 1.0;
/// How often a recall that met commits of the same user begins again.
const ATTEMPTS: u32 = 8;

/// A query, checked as far as that goes without the store.
pub(crate) struct Ask {
    pub(crate) text: Option<String>,
    pub(crate) vector: Option<Vector>,
    pub(crate) limit: usize,
    pub(crate) at: Option<Timestamp>,
    pub(crate) filter: Option<Filter>,
    pub(crate) min_score: Option<f64>,
    pub(crate) level: Sensitivity,
    pub(crate) decay: Decay,
    pub(crate) weighted: bool,
    pub(crate) raw_cosine: bool,
    pub(crate) contradicted: Vec<MemoryId>,
    pub(crate) statuses: Statuses,
}

/// A set of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Statuses(u8);

impl Statuses {
    pub(crate) const ACTIVE: Self = Self(1);
    pub(crate) const ALL: Self = Self(0b1111);

    pub(crate) fn of(kinds: impl IntoIterator<Item = StatusKind>) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | 1 << kind.code()))
    }

    pub(crate) fn holds(self, code: u8) -> bool {
        self.0 >> code & 1 == 1
    }
}

/// Why an answer is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmptyReason {
    /// Nothing that the caller may see is stored for this user.
    NothingStored,
    /// Everything was kept out by its state: superseded, archived, only suspected.
    FilteredByStatus,
    /// Everything was kept out by the query's filter.
    FilteredByFilter,
    /// Nothing reached the least score.
    BelowThreshold,
    /// No memory has anything to compare with the query: vectors are pending.
    NoSignal,
    /// The query asked for no hit.
    LimitZero,
}

impl EmptyReason {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NothingStored => "nothing is stored",
            Self::FilteredByStatus => "every memory is superseded, archived or only suspected",
            Self::FilteredByFilter => "no memory passes the filter",
            Self::BelowThreshold => "no memory reaches the least score",
            Self::NoSignal => "no memory has anything to compare with the query",
            Self::LimitZero => "the limit is 0",
        }
    }
}

impl std::fmt::Display for EmptyReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One hit: how it was scored, from which facts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) candidate: Candidate,
    pub(crate) facts: Facts,
    pub(crate) contradicted: bool,
}

/// The scored answer.
#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    pub(crate) hits: Vec<Scored>,
    pub(crate) scorer: Option<Scorer>,
    pub(crate) calibration: Calibration,
    pub(crate) reason: Option<EmptyReason>,
    pub(crate) damaged: Vec<String>,
    pub(crate) scanned_rows: usize,
    pub(crate) reranked_rows: usize,
    pub(crate) total_rows: usize,
}

impl Ranking {
    fn empty(reason: EmptyReason) -> Self {
        Self {
            hits: Vec::new(),
            scorer: None,
            calibration: Calibration::RAW,
            reason: Some(reason),
            damaged: Vec::new(),
            scanned_rows: 0,
            reranked_rows: 0,
            total_rows: 0,
        }
    }
}

/// A query in the terms of the store: its vector, its scorer.
pub(crate) struct Bound<'a> {
    pub(crate) ask: &'a Ask,
    pub(crate) vector: Vector,
    pub(crate) space: u32,
    pub(crate) calibration: Calibration,
    pub(crate) scorer: Scorer,
}

impl Core {
    /// The best hits and their records, of one moment.
    pub(crate) fn recall(&self, user: &UserId, ask: &Ask) -> Result<(Ranking, Vec<Memory>)> {
        self.check_open()?;
        let Some(bound) = self.bind(ask)? else { return Ok((Ranking::empty(EmptyReason::NothingStored), Vec::new())) };
        let hash = self.user_hash(user);
        for _ in 0..ATTEMPTS {
            let mut ranking = self.rank(hash, &bound)?;
            if let Some(records) = self.records_of(hash, &mut ranking)? {
                return Ok((ranking, records));
            }
            // A commit is on disk but not yet in memory: it will be once this lock is free.
            drop(self.shard_of(hash).installing.read());
        }
        Err(Error::busy("recall: the user's memories changed faster than they could be read; try again"))
    }

    /// The best hits without their records.
    pub(crate) fn recall_ids(&self, user: &UserId, ask: &Ask) -> Result<Ranking> {
        self.check_open()?;
        match self.bind(ask)? {
            Some(bound) => self.rank(self.user_hash(user), &bound),
            None => Ok(Ranking::empty(EmptyReason::NothingStored)),
        }
    }

    /// Finds the query's vector and scorer; `None` where the store has no vector at all yet.
    pub(crate) fn bind<'a>(&self, ask: &'a Ask) -> Result<Option<Bound<'a>>> {
        let vector = match (&ask.vector, &ask.text) {
            (Some(vector), _) => vector.clone(),
            (None, Some(text)) => self.embed_query(text)?,
            (None, None) => return Err(Error::invalid("query: neither text nor vector")),
        };
        let spaces = self.spaces.read();
        let Some((space, current)) = spaces.current() else { return Ok(None) };
        if current.dims() != vector.dims() {
            return Err(Error::invalid(format!(
                "query vector: {} numbers, the store's space {:?} has {}",
                vector.dims(),
                current.model(),
                current.dims()
            )));
        }
        let calibration = if ask.raw_cosine { Calibration::RAW } else { current.calibration() };
        let scorer = Scorer::new(ScoreParams {
            decay: ask.decay,
            dense_share: DENSE_SHARE,
            lo: calibration.lo(),
            hi: calibration.hi(),
            z: 1.0,
            weighted: ask.weighted,
            now: ask.at.unwrap_or_else(|| self.now()).as_micros(),
        })?;
        Ok(Some(Bound { ask, vector, space, calibration, scorer }))
    }

    fn embed_query(&self, text: &str) -> Result<Vector> {
        let embedder = self.settings.embedder.as_ref();
        let embedder =
            embedder.ok_or_else(|| Error::unsupported("query text: the store was opened without an embedder"))?;
        self.spaces.read().check_embedder()?;
        let answer = embedder.embed(&[text], Purpose::Query);
        let mut vectors =
            answer.map_err(|error| Error::unsupported(format!("query text: {error}")).with_source(error))?;
        match (vectors.pop(), vectors.is_empty()) {
            (Some(numbers), true) => Vector::new(&numbers),
            _ => Err(Error::unsupported("query text: the embedder did not give one vector for one text")),
        }
    }

    fn rank(&self, user: UserHash, bound: &Bound<'_>) -> Result<Ranking> {
        let ranked = self.with_index(user, |_, index| index.rank(bound))?;
        Ok(ranked.unwrap_or_else(|| Ranking::empty(EmptyReason::NothingStored)))
    }

    /// The records of the hits; `None` where the shard is ahead of the index.
    fn records_of(&self, user: UserHash, ranking: &mut Ranking) -> Result<Option<Vec<Memory>>> {
        let mut records = Vec::with_capacity(ranking.hits.len());
        if ranking.hits.is_empty() {
            return Ok(Some(records));
        }
        let Some(head) = self.head(user)? else { return Ok(None) };
        let view = self.read(user)?;
        let mut lost = Vec::new();
        for hit in &ranking.hits {
            match self.record_of(&head, &view, hit.facts.row) {
                Ok(Some(memory)) if memory.version == hit.facts.version && *memory.id.as_bytes() == hit.facts.id => {
                    records.push(memory);
                }
                Ok(_) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    if crate::engine::head::version_in(&view, user)? != Some(head.version) {
                        return Ok(None);
                    }
                    lost.push(hit.facts.row);
                    ranking.damaged.push(error.message().to_owned());
                }
                Err(error) => return Err(error),
            }
        }
        ranking.hits.retain(|hit| !lost.contains(&hit.facts.row));
        Ok(Some(records))
    }

    /// The record of a row, in a view of which the head may be older than the view.
    pub(crate) fn record_of(&self, head: &Head, view: &ReadView, row: u32) -> Result<Option<Memory>> {
        let key = numbered(head.user, u64::from(row));
        let chunk = head.chunk_key(self, view, row_chunk(row))?;
        view.get_with(Table::Records, &key, |bytes| {
            record::decode(&head.open_value(self, Table::Records, &key, &chunk, bytes)?)
        })
    }
}

impl UserIndex {
    /// The ranking of one query over this index.
    fn rank(&self, bound: &Bound<'_>) -> Result<Ranking> {
        let ask = bound.ask;
        self.check(bound)?;
        let contradicted = self.rows_of(&ask.contradicted);
        let outcome = self.with_request(bound, &contradicted, ask.limit, |request| self.arena.search(request))?;
        let hits: Vec<Scored> = outcome
            .hits
            .iter()
            .filter_map(|candidate| {
                let facts = *self.arena.facts(candidate.row)?;
                Some(Scored { candidate: *candidate, facts, contradicted: contradicted.contains(&candidate.row) })
            })
            .collect();
        Ok(Ranking {
            reason: hits.is_empty().then(|| self.why_empty(ask)),
            hits,
            scorer: Some(bound.scorer),
            calibration: bound.calibration,
            damaged: self.damaged.clone(),
            scanned_rows: outcome.scanned_rows,
            reranked_rows: outcome.reranked_rows,
            total_rows: outcome.total_rows,
        })
    }

    /// Checks what depends on what is stored.
    pub(crate) fn check(&self, bound: &Bound<'_>) -> Result<()> {
        if self.space.is_some_and(|space| space != bound.space) {
            return Err(Error::busy("recall: the embedding space is changing; try again"));
        }
        bound.ask.filter.as_ref().map_or(Ok(()), |filter| filter.check(&self.schema, bound.ask.level))
    }

    pub(crate) fn rows_of(&self, ids: &[MemoryId]) -> Vec<u32> {
        ids.iter().filter_map(|id| self.arena.facts_by_id(id.as_bytes()).map(|facts| facts.row)).collect()
    }

    /// Runs `run` with the request that the query means.
    pub(crate) fn with_request<R>(
        &self,
        bound: &Bound<'_>,
        contradicted: &[u32],
        k: usize,
        run: impl FnOnce(&Request<'_>) -> R,
    ) -> R {
        let ask = bound.ask;
        let active_only = ask.statuses == Statuses::ACTIVE;
        let passes = |facts: &Facts| self.passes(ask, facts);
        let filter: Option<&(dyn Fn(&Facts) -> bool + Sync)> =
            if active_only && ask.filter.is_none() { None } else { Some(&passes) };
        run(&Request {
            query: Some(bound.vector.as_slice()),
            scorer: &bound.scorer,
            legs: None,
            gate: Gate { active_only, level: ask.level.code() },
            filter,
            contradicted,
            k,
            min_score: ask.min_score,
            approximate: None,
            full: &self.full,
        })
    }

    pub(crate) fn passes(&self, ask: &Ask, facts: &Facts) -> bool {
        ask.statuses.holds(facts.status)
            && ask.filter.as_ref().is_none_or(|filter| filter.passes(facts, self.attributes(facts.row)))
    }

    /// The first gate that nothing passed.
    fn why_empty(&self, ask: &Ask) -> EmptyReason {
        let level = ask.level.code();
        let seen = |test: &dyn Fn(&Facts) -> bool| self.arena.iter().any(|f| f.sensitivity <= level && test(f));
        if !seen(&|_| true) {
            EmptyReason::NothingStored
        } else if ask.limit == 0 {
            EmptyReason::LimitZero
        } else if !seen(&|facts| ask.statuses.holds(facts.status)) {
            EmptyReason::FilteredByStatus
        } else if !seen(&|facts| self.passes(ask, facts)) {
            EmptyReason::FilteredByFilter
        } else if !seen(&|facts| facts.has_vector && self.passes(ask, facts)) {
            EmptyReason::NoSignal
        } else {
            EmptyReason::BelowThreshold
        }
    }
}
