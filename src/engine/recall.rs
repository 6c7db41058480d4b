//! Recall: the best memories of one user by the whole formula, and their records.

use crate::codec::table::numbered;
use crate::codec::{Table, UserHash, record};
use crate::engine::bind::Bound;
use crate::engine::core::Core;
use crate::engine::full_vectors::Vectors;
use crate::engine::head::{Head, row_chunk};
use crate::engine::rank::Sources;
use crate::engine::text_legs::{LegSwitches, RowLegs};
use crate::engine::user_index::UserIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Filter;
use crate::index::vector::{Candidate, Facts};
use crate::memory::{Calibration, Memory, MemoryId, Sensitivity, StatusKind, Timestamp, UserId, Vector};
use crate::policy::relevance::Shares;
use crate::policy::score::{Decay, Scorer};
use crate::storage::ReadView;

/// A ranking with the records of its hits, in the same order.
pub(crate) struct Recalled {
    pub(crate) ranking: Ranking,
    pub(crate) memories: Vec<Memory>,
}

/// How often a recall that met commits of the same user begins again.
pub(crate) const ATTEMPTS: u32 = 8;

/// A query, checked as far as that goes without the store.
pub(crate) struct Ask {
    pub(crate) text: Option<String>,
    pub(crate) vector: Option<Vector>,
    pub(crate) limit: usize,
    pub(crate) at: Option<Timestamp>,
    /// Only what was known and held then.
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) filter: Option<Filter>,
    pub(crate) min_score: Option<f64>,
    pub(crate) level: Sensitivity,
    pub(crate) decay: Decay,
    pub(crate) weighted: bool,
    pub(crate) raw_cosine: bool,
    pub(crate) contradicted: Vec<MemoryId>,
    pub(crate) statuses: Statuses,
    pub(crate) scene: Option<String>,
    pub(crate) legs: LegSwitches,
    pub(crate) shares: Shares,
    /// Whether what it used is kept.
    pub(crate) trace: bool,
    /// The part of the true hits that is enough.
    pub(crate) approximate: Option<f64>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EmptyReason {
    /// Nothing that the caller may see is stored for this user.
    NothingStored,
    /// Everything was kept out by its state: superseded, archived, only suspected.
    FilteredByStatus,
    /// Nothing that is stored was known and held at the query's `as_of`.
    NothingKnownThen,
    /// Everything was kept out by the query's filter.
    FilteredByFilter,
    /// Nothing reached the least score.
    BelowThreshold,
    /// No memory has anything to compare with the query: no word of it, and no vector.
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
            Self::NothingKnownThen => "nothing that is stored was known and held then",
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
    pub(crate) legs: RowLegs,
    /// Whether its vector was compared with the query's.
    pub(crate) compared: bool,
    pub(crate) contradicted: bool,
}

/// The scored answer.
#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    pub(crate) hits: Vec<Scored>,
    /// The commit that it is of.
    pub(crate) version: u64,
    pub(crate) scorer: Option<Scorer>,
    pub(crate) calibration: Calibration,
    pub(crate) reason: Option<EmptyReason>,
    /// Why the dense leg abstained.
    pub(crate) abstained: Option<String>,
    /// The expressions of time in the query that counted.
    pub(crate) times: Vec<String>,
    pub(crate) damaged: Vec<String>,
    /// The recall that was measured, where the answer is approximate.
    pub(crate) approximate: Option<f64>,
    pub(crate) scanned_rows: usize,
    pub(crate) reranked_rows: usize,
    pub(crate) total_rows: usize,
}

impl Ranking {
    pub(crate) fn empty(reason: EmptyReason) -> Self {
        Self {
            hits: Vec::new(),
            version: 0,
            scorer: None,
            calibration: Calibration::RAW,
            reason: Some(reason),
            abstained: None,
            times: Vec::new(),
            damaged: Vec::new(),
            approximate: None,
            scanned_rows: 0,
            reranked_rows: 0,
            total_rows: 0,
        }
    }
}

impl Core {
    /// The best hits and their records, of one moment.
    pub(crate) fn recall(&self, user: &UserId, ask: &Ask) -> Result<Recalled> {
        self.check_open()?;
        let (bound, hash) = (self.bind(ask)?, self.user_hash(user));
        for _ in 0..ATTEMPTS {
            if let Some(mut ranking) = self.rank(hash, &bound)?
                && let Some(memories) = self.records_of(hash, &mut ranking)?
            {
                return Ok(Recalled { ranking, memories });
            }
            self.wait_for_commit(hash);
        }
        Err(Error::busy("recall: the user's memories changed faster than they could be read; try again"))
    }

    /// The best hits without their records.
    pub(crate) fn recall_ids(&self, user: &UserId, ask: &Ask) -> Result<Ranking> {
        self.check_open()?;
        let (bound, hash) = (self.bind(ask)?, self.user_hash(user));
        for _ in 0..ATTEMPTS {
            if let Some(ranking) = self.rank(hash, &bound)? {
                return Ok(ranking);
            }
            self.wait_for_commit(hash);
        }
        Err(Error::busy("recall: the user's memories changed faster than they could be read; try again"))
    }

    /// A commit is on disk but not yet in memory: it will be when this returns.
    pub(crate) fn wait_for_commit(&self, user: UserHash) {
        drop(self.shard_of(user).installing.read());
    }

    /// The ranking; `None` where the shard is ahead of the index.
    fn rank(&self, user: UserHash, bound: &Bound<'_>) -> Result<Option<Ranking>> {
        let unknown = || Ranking { abstained: bound.abstained.clone(), ..Ranking::empty(EmptyReason::NothingStored) };
        if bound.text.is_none()
            && let Some(head) = self.head(user)?.filter(|head| self.is_oversized(head))
        {
            return match self.rank_streamed(user, bound) {
                // Not damage: a forgetting has rewritten what was being read. It holds the head until it is done.
                Err(error) if error.kind() == ErrorKind::Corrupt && self.has_moved(user, head.version)? => Ok(None),
                ranked => ranked.map(|ranked| Some(ranked.unwrap_or_else(unknown))),
            };
        }
        let ranked = self.with_index(user, |head, index| {
            let Some(sources) = self.sources(head, index, bound)? else { return Ok(None) };
            let ranking = index.rank(bound, &sources)?;
            sources.vectors.warm();
            Ok(Some(ranking))
        })?;
        Ok(ranked.unwrap_or_else(|| Some(unknown())))
    }

    fn has_moved(&self, user: UserHash, version: u64) -> Result<bool> {
        Ok(self.head(user)?.is_none_or(|head| head.version != version))
    }

    /// What a query reads beside the index; `None` where the shard is ahead of it.
    pub(crate) fn sources<'a>(
        &'a self,
        head: &'a Head,
        index: &'a UserIndex,
        bound: &Bound<'_>,
    ) -> Result<Option<Sources<'a>>> {
        let vectors = Vectors::new(self, head, &index.full, index.space);
        if bound.text.is_none() {
            return Ok(Some(Sources { vectors, words: None }));
        }
        Ok(self.words(head, index)?.map(|words| Sources { vectors, words: Some(words) }))
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
            let row = hit.facts.row;
            let damage = match self.record_of(&head, &view, row) {
                Ok(Some(memory)) if memory.version == hit.facts.version && *memory.id.as_bytes() == hit.facts.id => {
                    records.push(memory);
                    continue;
                }
                Ok(_) => format!("records: row {row} of {user} is missing or stale"),
                Err(error) if error.is_of_a_value() => error.message().to_owned(),
                Err(error) => return Err(error),
            };
            if crate::engine::head::version_in(&view, user)? != Some(ranking.version) {
                return Ok(None);
            }
            lost.push(row);
            ranking.damaged.push(damage);
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
