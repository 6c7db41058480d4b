//! The exact top-k: blocks in the order of their bounds, then the survivors in f64.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::arena::Arena;
use super::hull::{GridDecay, LogBound};
use super::request::{Candidate, Outcome, Request};
use super::scan::{Survivor, Worker};
use super::top::{Best, SharedFloor};
use crate::error::{Error, Result};
use crate::kernel::PlanedQuery;
use crate::policy::score::ScoreInput;

/// From this many rows on a search is worth more than one thread.
const PARALLEL_ROWS_MIN: usize = 50_000;
const BLOCK_SLACK: f64 = 1.001;
/// Scores under 2^this could round together in f64, so nothing is skipped there.
const EXPONENT_MIN: f64 = -900.0;
/// A score is compared with a bound only with this much between them.
const SCORE_SLACK: f64 = 1.0 - 1e-9;
/// In units of 2^shift; see `EXPONENT_MIN`.
const PROOF_MIN: f64 = 1.0 / (1u128 << 100) as f64;

/// Everything about a query that is worked out once.
pub(super) struct Plan {
    pub(super) planes: Option<PlanedQuery>,
    pub(super) grid: GridDecay,
    pub(super) weighted: bool,
    pub(super) now: i64,
    /// Relevance per unit of cosine, and at cosine 0.
    pub(super) gain: f64,
    pub(super) offset: f64,
    /// What the relevance of turns is divided by; counted as part of their weight.
    pub(super) z: f64,
    /// The whole exponent that bounds are relative to.
    pub(super) shift: f64,
    /// The largest weight times decay of any row, in units of 2^shift.
    pub(super) factor_max: f64,
    /// How many lower bounds prove a floor; 0 for never.
    pub(super) proof_k: usize,
    /// Block and lane of contradicted rows.
    pub(super) contradicted: Vec<(usize, usize)>,
    /// Blocks by falling bound.
    pub(super) order: Vec<(f64, usize)>,
}

impl Plan {
    /// The floor that is there before any row is looked at.
    pub(super) fn first_floor(&self, request: &Request<'_>) -> SharedFloor {
        SharedFloor::new(least_bound(request.min_score, self.shift))
    }

    /// The largest weight times decay under a hull's bound, in units of 2^shift.
    pub(super) fn factor(&self, log: &LogBound) -> f64 {
        let decayed = (1.0 - self.grid.floor) * (log.decayed - self.shift).exp2();
        let factor = if self.grid.floor == 0.0 { decayed } else { self.grid.floor * log.weight.exp2() + decayed };
        factor * BLOCK_SLACK
    }
}

impl Arena {
    /// The `k` best of all rows that pass, exactly as if each had been scored, unless less is asked for.
    ///
    /// # Errors
    ///
    /// `Invalid`: a query of the wrong dims or with a value that is not finite, or legs of another state
    /// of this arena. Those of [`FullRows::row`](super::FullRows::row).
    pub(crate) fn search(&self, request: &Request<'_>) -> Result<Outcome> {
        self.check_request(request)?;
        if request.k == 0 || self.is_empty() {
            return Ok(Outcome { total_rows: self.len(), ..Outcome::default() });
        }
        let plan = self.plan(request);
        match request.approximate {
            Some(target) => self.answer_roughly(request, &plan, target),
            None => self.answer(request, &plan),
        }
    }

    /// The exact answer.
    pub(super) fn answer(&self, request: &Request<'_>, plan: &Plan) -> Result<Outcome> {
        let floor = plan.first_floor(request);
        let (mut survivors, scanned_rows) = self.scan(request, plan, &floor);
        let least = floor.get();
        survivors.retain(|survivor| survivor.up >= least);
        let (hits, reranked_rows) = self.rerank(request, plan, survivors)?;
        Ok(Outcome { hits, total_rows: self.len(), scanned_rows, reranked_rows, approximate: None })
    }

    pub(super) fn check_request(&self, request: &Request<'_>) -> Result<()> {
        if let Some(query) = request.query {
            if query.len() != self.dims() {
                return Err(Error::invalid(format!("query: {} dims, the space has {}", query.len(), self.dims())));
            }
            if !query.iter().all(|x| x.is_finite()) {
                return Err(Error::invalid("query: holds a value that is not finite"));
            }
        }
        if request.legs.is_some_and(|legs| !legs.is_of(self.generation())) {
            return Err(Error::invalid("legs: the index has changed since they were filled"));
        }
        Ok(())
    }

    pub(super) fn plan(&self, request: &Request<'_>) -> Plan {
        let p = request.scorer.params();
        let dense = if request.query.is_some() { p.dense_share / (p.hi - p.lo) } else { 0.0 };
        let mut plan = Plan {
            planes: request.query.map(|query| self.kernel().quantise_query(query)),
            grid: GridDecay::new(&p.decay, p.weighted),
            weighted: p.weighted,
            now: p.now,
            gain: dense,
            offset: -p.lo * dense,
            z: p.z,
            shift: 0.0,
            factor_max: f64::INFINITY,
            proof_k: 0,
            contradicted: request.contradicted.iter().filter_map(|&row| self.place_of(row)).collect(),
            order: Vec::new(),
        };
        self.order_blocks(request, &mut plan);
        if plan.shift >= EXPONENT_MIN && request.k < self.len() {
            plan.proof_k = request.k;
        }
        plan
    }

    fn order_blocks(&self, request: &Request<'_>, plan: &mut Plan) {
        let logs: Vec<LogBound> = self.blocks().iter().map(|block| block.hull.bound(&plan.grid, plan.now)).collect();
        if plan.grid.floor == 0.0 {
            let most = logs.iter().fold(f64::NEG_INFINITY, |most, log| most.max(log.decayed));
            plan.shift = most.ceil().clamp(-1e9, 1e9);
        }
        let mut factor_max = 0.0;
        let bound = |(block, log): (usize, &LogBound)| {
            let (relevance, factor) = (self.relevance_bound(request, plan, block), plan.factor(log));
            factor_max = f64::max(factor_max, factor);
            (coarse(relevance * factor), block)
        };
        let mut order: Vec<_> = logs.iter().enumerate().map(bound).collect();
        plan.factor_max = factor_max;
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        plan.order = order;
    }

    fn relevance_bound(&self, request: &Request<'_>, plan: &Plan, block: usize) -> f64 {
        let others = request.legs.map_or(0.0, |legs| legs.largest(block));
        let norm = f64::from(self.blocks()[block].norm_max);
        let dense = plan.planes.as_ref().map_or(0.0, |p| f64::from(p.norm) * norm * plan.gain + plan.offset);
        dense.max(0.0) + others
    }

    /// Visits blocks until none can hold a hit.
    fn scan(&self, request: &Request<'_>, plan: &Plan, floor: &SharedFloor) -> (Vec<Survivor>, usize) {
        let next = AtomicUsize::new(0);
        let work = |_| {
            let mut worker = Worker::new(self, request, plan, floor);
            while let Some(&(bound, block)) = plan.order.get(next.fetch_add(1, Relaxed)) {
                if bound < f64::from(floor.get()) {
                    break;
                }
                worker.visit(block);
            }
            (worker.survivors, worker.scanned_rows)
        };
        let threads = if self.len() < PARALLEL_ROWS_MIN { 1 } else { rayon::current_num_threads() };
        if threads == 1 {
            return work(0);
        }
        (0..threads).into_par_iter().map(work).reduce(Default::default, |mut all, (survivors, rows)| {
            all.0.extend(survivors);
            (all.0, all.1 + rows)
        })
    }

    /// Scores survivors, likeliest first, until the k-th score beats every bound that is left.
    pub(super) fn rerank(
        &self,
        request: &Request<'_>,
        plan: &Plan,
        mut survivors: Vec<Survivor>,
    ) -> Result<(Vec<Candidate>, usize)> {
        survivors.sort_unstable_by(|a, b| b.up.total_cmp(&a.up));
        let (mut best, mut buffer, mut reranked) = (Best::new(request.k), Vec::new(), 0);
        let unit = (-plan.shift).exp2();
        let min_score = request.min_score.unwrap_or(f64::NEG_INFINITY);
        for survivor in survivors {
            let kth = best.kth_score().map_or(0.0, |kth| kth * unit * SCORE_SLACK);
            if plan.proof_k > 0 && kth > PROOF_MIN && kth > f64::from(survivor.up) {
                break;
            }
            reranked += 1;
            let place = (survivor.block as usize, survivor.lane as usize);
            let candidate = self.score_place(request, &plan.contradicted, place, &mut buffer)?;
            if candidate.parts.score >= min_score {
                best.push(candidate);
            }
        }
        Ok((best.into_sorted(), reranked))
    }

    /// The exact score of one row.
    pub(super) fn score_place(
        &self,
        request: &Request<'_>,
        contradicted: &[(usize, usize)],
        place: (usize, usize),
        buffer: &mut Vec<f32>,
    ) -> Result<Candidate> {
        let facts = &self.blocks()[place.0].facts[place.1];
        let cos = match request.query {
            Some(query) if facts.has_vector => {
                let row = request.full.row(facts.row, buffer)?;
                if row.len() != query.len() {
                    return Err(Error::corrupt(format!("vector of row {}: wrong length", facts.row)));
                }
                Some(self.kernel().dot(query, row))
            }
            _ => None,
        };
        let additive = request.legs.map_or(0.0, |legs| legs.at(place.0, place.1));
        let input = ScoreInput {
            cos,
            additive,
            time: facts.time,
            importance: facts.importance,
            confidence: facts.confidence,
            contradicted: contradicted.contains(&place),
            pinned: facts.pinned,
            turn: facts.turn,
        };
        let parts = request.scorer.parts(&input);
        Ok(Candidate { row: facts.row, id: facts.id, version: facts.version, additive, parts })
    }
}

/// The least score of a hit in the units of the bounds, rounded down.
fn least_bound(min_score: Option<f64>, shift: f64) -> f32 {
    let Some(score) = min_score.filter(|&score| score > EXPONENT_MIN.exp2()) else { return 0.0 };
    let scaled = score * SCORE_SLACK * (-shift).exp2();
    if scaled >= f64::from(f32::MAX) { f32::MAX } else { (scaled as f32).next_down().max(0.0) }
}

/// Rounds a bound up to ten bits, so that blocks that differ by less stay in the order of their addresses.
fn coarse(bound: f64) -> f64 {
    const REST: u32 = (1 << 13) - 1;
    let bits = (bound.min(f64::from(f32::MAX)) as f32 + f32::MIN_POSITIVE).to_bits();
    if bound < f64::from(f32::MAX) / 2.0 { f64::from(f32::from_bits((bits | REST) + 1)) } else { bound }
}
