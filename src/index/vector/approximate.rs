//! Approximate answers, for those who ask for them: sketches choose candidates, the rest is exact.
//!
//! How many candidates a recall needs is measured, on the user's own rows, for each kind of question.

use parking_lot::Mutex;

use super::arena::Arena;
use super::bits::Bits;
use super::block::Block;
use super::request::{Gate, Request};
use super::scan::{Survivor, Worker};
use super::search::Plan;
use super::top::SharedFloor;
use crate::kernel::BitQuery;

/// Smaller users are answered exactly.
const ROWS_MIN: usize = 8192;
/// Rows of the user that stand in for queries.
const SAMPLE: usize = 128;
/// How far from a row a query is put, as a part of its length.
const NOISE: f32 = 0.3;
/// Hits that a measurement counts.
const HITS: usize = 10;
/// Past this part of all rows an exact answer is as cheap.
const CANDIDATES_PART: usize = 16;
/// Kinds of questions whose measurements are kept.
const TRIALS_MAX: usize = 16;

/// How an approximate answer will be had, and how good such answers were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    pub(super) candidates: usize,
    pub(super) recall: f64,
}

/// What changes how well sketches choose: decay and weights.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    lambda: u64,
    floor: u64,
    by_importance: bool,
    weighted: bool,
    dense: bool,
}

/// The ranks that true hits had among the estimates, ascending.
struct Trial {
    shape: Shape,
    rows: usize,
    ranks: Vec<u32>,
}

/// Measurements so far, the latest last.
#[derive(Default)]
pub(super) struct Trials(Mutex<Vec<Trial>>);

impl Trial {
    /// The least number of candidates that gave the target, if any did.
    fn guess(&self, target: f64, rows: usize) -> Option<Guess> {
        let wanted = (target.clamp(0.0, 1.0) * self.ranks.len() as f64).ceil() as usize;
        let candidates = *self.ranks.get(wanted.checked_sub(1)?)? as usize;
        let found = self.ranks.partition_point(|&rank| rank as usize <= candidates);
        let recall = found as f64 / self.ranks.len() as f64;
        (candidates < rows / CANDIDATES_PART).then_some(Guess { candidates, recall })
    }
}

/// The best estimates so far.
struct Candidates {
    most: usize,
    found: Vec<Survivor>,
    threshold: f32,
}

impl Candidates {
    fn push(&mut self, candidate: Survivor) {
        self.found.push(candidate);
        if self.found.len() >= 2 * self.most + 64 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.found.len() > self.most {
            self.found.select_nth_unstable_by(self.most, |a, b| b.up.total_cmp(&a.up));
            self.threshold = self.threshold.max(self.found[self.most].up);
            self.found.truncate(self.most);
        }
    }
}

/// A query near a row: real queries are less like any row than rows are like each other.
fn near(mut row: Vec<f32>) -> Vec<f32> {
    let size = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    let each = NOISE * size * (3.0 / row.len() as f32).sqrt();
    let mut state = 0x9e37_79b9u32;
    for x in &mut row {
        state = (state ^ x.to_bits()).wrapping_mul(0x85eb_ca6b).rotate_left(13);
        *x += each * (state as i32 as f32 / i32::MAX as f32);
    }
    row
}

impl Arena {
    /// How to answer approximately; none where an exact answer is better.
    pub(super) fn guess(&self, request: &Request<'_>, plan: &Plan, target: f64) -> Option<Guess> {
        if self.len() < ROWS_MIN || plan.planes.is_none() || request.k >= self.len() / CANDIDATES_PART {
            return None;
        }
        let decay = &request.scorer.params().decay;
        let shape = Shape {
            lambda: decay.lambda().to_bits(),
            floor: decay.floor().to_bits(),
            by_importance: decay.is_by_importance(),
            weighted: plan.weighted,
            dense: request.legs.is_none(),
        };
        let mut trials = self.trials.0.lock();
        trials.retain(|trial| trial.shape != shape || self.len() <= trial.rows + trial.rows / 2);
        if trials.iter().all(|trial| trial.shape != shape) {
            if trials.len() >= TRIALS_MAX {
                trials.remove(0);
            }
            trials.push(Trial { shape, rows: self.len(), ranks: self.ranks(request) });
        }
        let mut guess = trials.iter().find(|trial| trial.shape == shape)?.guess(target, self.len())?;
        guess.candidates = guess.candidates.max(1) * request.k.div_ceil(HITS);
        Some(guess)
    }

    /// Where the estimates rank the true hits of sampled rows, each row asking for its neighbours.
    fn ranks(&self, request: &Request<'_>) -> Vec<u32> {
        let sampled = |(index, block): (usize, &Block)| {
            block.live().and(&block.with_vector()).iter().map(move |lane| (index, lane)).collect::<Vec<_>>()
        };
        let places: Vec<_> = self.blocks().iter().enumerate().flat_map(sampled).collect();
        let mut ranks = Vec::with_capacity(SAMPLE * HITS);
        for &(block, lane) in places.iter().step_by((places.len() / SAMPLE).max(1)) {
            let block = &self.blocks()[block];
            let (row, query) = (block.facts[lane].row, near(block.unquantised(lane, self.dims())));
            let other = |facts: &super::Facts| facts.row != row;
            let open = Gate { level: u8::MAX, ..request.gate };
            let asked = Request {
                query: Some(&query),
                legs: None,
                gate: open,
                filter: Some(&other),
                contradicted: &[],
                k: HITS,
                min_score: None,
                approximate: None,
                ..*request
            };
            let plan = self.plan(&asked);
            let Ok(truth) = self.answer(&asked, &plan, None) else { continue };
            let estimates = self.estimates(&asked, &plan);
            for hit in &truth.hits {
                let Some((block, lane)) = self.place_of(hit.row) else { continue };
                let own = estimates[block][lane];
                ranks.push(estimates.iter().flatten().filter(|&&estimate| estimate >= own).count() as u32);
            }
        }
        ranks.sort_unstable();
        ranks
    }

    /// The estimate of every row, block by block; below all others where a row does not pass.
    fn estimates(&self, request: &Request<'_>, plan: &Plan) -> Vec<Vec<f32>> {
        let floor = SharedFloor::new(0.0);
        let mut worker = Worker::new(self, request, plan, &floor);
        let query = BitQuery::new(request.query.unwrap_or_default(), crate::kernel::padded(self.dims()));
        let each = |index| {
            let (passing, estimates) = worker.estimate(index, &query, 0.0);
            let mut all = vec![f32::NEG_INFINITY; self.blocks()[index].len()];
            passing.iter().for_each(|lane| all[lane] = estimates[lane]);
            all
        };
        (0..self.blocks().len()).map(each).collect()
    }

    /// Chooses candidates by their sketches and bounds them by their quantised rows.
    pub(super) fn scan_candidates(
        &self,
        request: &Request<'_>,
        plan: &Plan,
        floor: &SharedFloor,
        most: usize,
    ) -> (Vec<Survivor>, usize) {
        let mut worker = Worker::new(self, request, plan, floor);
        let query = BitQuery::new(request.query.unwrap_or_default(), crate::kernel::padded(self.dims()));
        let most = most.min(self.len());
        let mut best = Candidates { most, found: Vec::with_capacity(2 * most + 64), threshold: floor.get() };
        for &(bound, block) in &plan.order {
            if bound < f64::from(best.threshold) {
                break;
            }
            let (passing, estimates) = worker.estimate(block, &query, best.threshold);
            for lane in passing.iter() {
                best.push(Survivor { up: estimates[lane], block: block as u32, lane: lane as u32 });
            }
        }
        best.cut();
        best.found.sort_unstable_by_key(|candidate| (candidate.block, candidate.lane));
        for part in best.found.chunk_by(|a, b| a.block == b.block) {
            let mut some = Bits::default();
            part.iter().for_each(|candidate| some.set(candidate.lane as usize, true));
            worker.visit_some(part[0].block as usize, some);
        }
        (worker.survivors, worker.scanned_rows)
    }
}
