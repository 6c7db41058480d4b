//! The dumb twin of the arena: a map of rows, each of which is scored.

use std::collections::BTreeMap;

use super::super::facts::{Facts, LEVELS, STATUS_ACTIVE};
use super::super::request::{Candidate, Request};
use crate::kernel::{Dispatch, Kernel};
use crate::policy::score::ScoreInput;

#[derive(Clone)]
pub(super) struct BruteRow {
    pub(super) facts: Facts,
    pub(super) vector: Option<Vec<f32>>,
}

#[derive(Default)]
pub(super) struct Brute {
    pub(super) rows: BTreeMap<u32, BruteRow>,
}

impl Brute {
    pub(super) fn search(&self, request: &Request<'_>, legs: &BTreeMap<u32, f64>) -> Vec<Candidate> {
        let passing = self.rows.values().filter(|row| passes(&row.facts, request));
        let mut all: Vec<Candidate> = passing.filter_map(|row| score(row, request, legs)).collect();
        all.retain(|c| request.min_score.is_none_or(|min| c.parts.score >= min));
        all.sort_by(Candidate::order);
        all.truncate(request.k);
        all
    }
}

fn passes(facts: &Facts, request: &Request<'_>) -> bool {
    let gate = request.gate;
    let level = usize::from(facts.sensitivity).min(LEVELS - 1) <= usize::from(gate.level);
    let status = !gate.active_only || facts.status == STATUS_ACTIVE;
    level && status && request.filter.is_none_or(|filter| filter(facts))
}

fn score(row: &BruteRow, request: &Request<'_>, legs: &BTreeMap<u32, f64>) -> Option<Candidate> {
    let facts = &row.facts;
    let additive = legs.get(&facts.row).copied().unwrap_or(0.0);
    let scalar = Dispatch::new(Kernel::Scalar).expect("always there");
    let cos = request.query.zip(row.vector.as_deref()).map(|(query, row)| scalar.dot(query, row));
    if cos.is_none() && additive == 0.0 {
        return None;
    }
    let input = ScoreInput {
        cos,
        additive,
        time: facts.time,
        importance: facts.importance,
        confidence: facts.confidence,
        contradicted: request.contradicted.contains(&facts.row),
        pinned: facts.pinned,
        turn: facts.turn,
    };
    let parts = request.scorer.parts(&input);
    Some(Candidate { row: facts.row, id: facts.id, version: facts.version, additive, parts })
}
