//! The ranking of one query over the index of one user.

use crate::engine::bind::Bound;
use crate::engine::full_vectors::Vectors;
use crate::engine::recall::{Ask, EmptyReason, Ranking, Scored, Statuses};
use crate::engine::text_legs::{RowLegs, TextLegs, TextQuery};
use crate::engine::user_index::UserIndex;
use crate::engine::words::Words;
use crate::error::{Error, Result};
use crate::index::vector::{Facts, Gate, Legs, Request};
use crate::memory::{MemoryId, StatusKind, Vector};

/// What a query reads beside the index.
pub(crate) struct Sources<'a> {
    pub(crate) vectors: Vectors<'a>,
    /// For a text query.
    pub(crate) words: Option<&'a Words>,
}

/// A query together with what its legs gave the rows.
pub(crate) struct Prepared<'a> {
    bound: &'a Bound<'a>,
    sources: &'a Sources<'a>,
    contradicted: Vec<u32>,
    text: Option<TextLegs<'a>>,
    legs: Option<Legs>,
}

impl Prepared<'_> {
    /// Whether the query contradicts a row.
    pub(crate) fn contradicts(&self, row: u32) -> bool {
        self.contradicted.contains(&row)
    }

    /// What each leg but the dense one gave a row.
    pub(crate) fn legs_of(&self, facts: &Facts) -> RowLegs {
        self.text.as_ref().map_or_else(RowLegs::default, |text| text.explain(facts))
    }
}

impl UserIndex {
    pub(crate) fn rank(&self, bound: &Bound<'_>, sources: &Sources<'_>) -> Result<Ranking> {
        let ask = bound.ask;
        let prepared = self.prepare(bound, sources)?;
        let outcome = self.with_request(&prepared, ask.limit, |request| self.arena.search(request))?;
        let hits: Vec<Scored> = outcome
            .hits
            .iter()
            .filter_map(|candidate| {
                let facts = *self.arena.facts(candidate.row)?;
                let legs = prepared.legs_of(&facts);
                let compared = facts.has_vector && bound.vector.is_some();
                let contradicted = prepared.contradicts(candidate.row);
                Some(Scored { candidate: *candidate, facts, legs, compared, contradicted })
            })
            .collect();
        let mut damaged = self.damaged.clone();
        damaged.extend(sources.words.iter().flat_map(|words| words.damaged.iter().cloned()));
        Ok(Ranking {
            reason: hits.is_empty().then(|| self.why_empty(bound)),
            hits,
            version: self.version,
            scorer: Some(bound.scorer),
            calibration: bound.calibration,
            abstained: bound.abstained.clone(),
            times: bound.text.iter().flat_map(|text| text.times().map(str::to_owned)).collect(),
            damaged,
            approximate: outcome.approximate,
            scanned_rows: outcome.scanned_rows,
            reranked_rows: outcome.reranked_rows,
            total_rows: outcome.total_rows,
        })
    }

    /// Checks what depends on what is stored, and works out every leg but the dense one.
    pub(crate) fn prepare<'a>(&'a self, bound: &'a Bound<'a>, sources: &'a Sources<'a>) -> Result<Prepared<'a>> {
        if bound.vector.is_some() && self.space.is_some() && self.space != bound.space {
            return Err(Error::busy("recall: the embedding space is changing; try again"));
        }
        if let Some(filter) = &bound.ask.filter {
            filter.check(&self.schema, bound.ask.level)?;
        }
        let text = bound.text.as_ref().zip(sources.words);
        let mut text = text.map(|(query, words)| TextLegs::new(self, words, bound, query));
        let legs = text.as_mut().map(TextLegs::fill);
        Ok(Prepared { bound, sources, contradicted: self.rows_of(&bound.ask.contradicted), text, legs })
    }

    fn rows_of(&self, ids: &[MemoryId]) -> Vec<u32> {
        ids.iter().filter_map(|id| self.arena.facts_by_id(id.as_bytes()).map(|facts| facts.row)).collect()
    }

    /// Runs `run` with the request that the query means.
    pub(crate) fn with_request<R>(&self, prepared: &Prepared<'_>, k: usize, run: impl FnOnce(&Request<'_>) -> R) -> R {
        let ask = prepared.bound.ask;
        let active_only = ask.statuses == Statuses::ACTIVE && ask.as_of.is_none();
        let passes = |facts: &Facts| self.passes(ask, facts);
        let filter: Option<&(dyn Fn(&Facts) -> bool + Sync)> =
            if active_only && ask.filter.is_none() { None } else { Some(&passes) };
        run(&Request {
            // Without a space nothing has a vector to compare.
            query: prepared.bound.vector.as_ref().filter(|_| self.space.is_some()).map(Vector::as_slice),
            scorer: &prepared.bound.scorer,
            legs: prepared.legs.as_ref(),
            gate: Gate { active_only, level: ask.level.code() },
            filter,
            contradicted: &prepared.contradicted,
            k,
            min_score: ask.min_score,
            approximate: ask.approximate,
            full: &prepared.sources.vectors,
        })
    }

    pub(crate) fn passes(&self, ask: &Ask, facts: &Facts) -> bool {
        self.stands(ask, facts)
            && ask.filter.as_ref().is_none_or(|filter| filter.passes(facts, self.attributes(facts.row)))
    }

    /// Whether a memory has a state that the query asks for, and if it asks of another time, was known and held then.
    pub(crate) fn stands(&self, ask: &Ask, facts: &Facts) -> bool {
        let Some(then) = ask.as_of else { return ask.statuses.holds(facts.status) };
        let attributes = self.attributes(facts.row);
        let revised = attributes.and_then(|a| a.revised_at).is_some_and(|at| at > then);
        let then = then.as_micros();
        let ended_later = attributes.and_then(|a| a.ended_at).is_some_and(|at| at.as_micros() > then);
        let status = if ended_later { StatusKind::Active.code() } else { facts.status };
        let known = facts.created_at <= then && !revised;
        known && facts.valid_from <= then && then < facts.valid_to && ask.statuses.holds(status)
    }

    /// The first gate that nothing passed.
    fn why_empty(&self, bound: &Bound<'_>) -> EmptyReason {
        let ask = bound.ask;
        let level = ask.level.code();
        let seen = |test: &dyn Fn(&Facts) -> bool| self.arena.iter().any(|f| f.sensitivity <= level && test(f));
        if !seen(&|_| true) {
            EmptyReason::NothingStored
        } else if ask.limit == 0 {
            EmptyReason::LimitZero
        } else if !seen(&|facts| self.stands(ask, facts)) {
            if ask.as_of.is_some() { EmptyReason::NothingKnownThen } else { EmptyReason::FilteredByStatus }
        } else if !seen(&|facts| self.passes(ask, facts)) {
            EmptyReason::FilteredByFilter
        } else if ask.min_score.is_none() || !self.has_signal(bound) {
            EmptyReason::NoSignal
        } else {
            EmptyReason::BelowThreshold
        }
    }

    fn has_signal(&self, bound: &Bound<'_>) -> bool {
        let level = bound.ask.level.code();
        let compared = |f: &Facts| f.has_vector && f.sensitivity <= level && self.passes(bound.ask, f);
        bound.text.as_ref().is_some_and(TextQuery::has_signal)
            || (bound.vector.is_some() && self.arena.iter().any(compared))
    }
}
