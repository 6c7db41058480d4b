//! Approximate answers, for those who ask for them: estimates rule rows out, the rest is exact.
//!
//! A row is left out where its estimate is further under the floor than estimates are likely to be.

use parking_lot::Mutex;

use super::arena::Arena;
use super::bits::BLOCK_ROWS;
use super::block::Block;
use super::law::Law;
use super::request::{Candidate, Request};
use super::scan::{Survivor, Worker};
use super::search::Plan;
use super::top::SharedFloor;
use crate::kernel::{BitQuery, Dispatch, padded};

/// Smaller users are answered exactly.
const ROWS_MIN: usize = 8192;
/// Past this part of all rows an exact answer is as cheap.
const HITS_PART: usize = 16;
/// Rows that stand in for queries.
const QUERIES: usize = 48;
/// How far from a row a query is put, as a part of its length.
const NOISE: f32 = 0.3;
/// Blocks that each of them is compared with, and rows in those that are nearest.
const BLOCKS: usize = 16;
const NEAREST: usize = 16;

/// How an approximate answer will be had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Spreads that an estimate may be under the floor.
    pub(super) margin: f64,
    /// How estimates are off.
    pub(super) law: Law,
}

/// What was measured so far.
#[derive(Default)]
pub(super) struct Trials(Mutex<Option<(usize, Law)>>);

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

/// By how many spreads the cosines of a block's rows are over their estimates, with the cosines.
fn shortfalls(kernel: Dispatch, dims: usize, block: &Block, query: &[f32]) -> Vec<(f32, f32)> {
    let (planes, bits) = (kernel.quantise_query(query), BitQuery::new(query, padded(dims)));
    let (mut sums, mut estimates) = ([0; BLOCK_ROWS], [0; BLOCK_ROWS]);
    let sketch = block.sketch(dims);
    kernel.scan_i8(&planes, block.rows(), &mut sums[..block.len()]);
    kernel.scan_bits(&bits, sketch.words(), &mut estimates);
    let one = |lane: usize| {
        let cosine = sums[lane] as f32 * planes.scale * block.scale(lane);
        let estimate = estimates[lane] as f32 * bits.step() * sketch.factors()[lane];
        (cosine, (cosine - estimate) / (sketch.spreads()[lane] * bits.norm()).max(f32::MIN_POSITIVE))
    };
    block.live().and(&block.with_vector()).iter().map(one).collect()
}

impl Arena {
    /// How to answer approximately; none where an exact answer is better.
    pub(super) fn aim(&self, request: &Request<'_>, plan: &Plan, target: f64) -> Option<Aim> {
        let dense = plan.planes.is_some() && plan.gain > 0.0;
        if self.len() < ROWS_MIN || !dense || plan.proof_k == 0 || request.k >= self.len() / HITS_PART {
            return None;
        }
        let mut known = self.trials.0.lock();
        if known.is_none_or(|(rows, _)| self.len() > rows + rows / 2) {
            *known = self.measure().map(|law| (self.len(), law));
        }
        let (_, law) = (*known)?;
        Some(Aim { margin: law.margin(target), law })
    }

    /// The law of estimates for rows near to queries that are near to other rows.
    fn measure(&self) -> Option<Law> {
        let mut all = Vec::with_capacity(QUERIES * NEAREST);
        let count = self.blocks().len();
        let step = |part: usize, parts: usize| (part * count / parts) % count;
        for i in 0..QUERIES {
            let block = &self.blocks()[step(i, QUERIES)];
            let Some(lane) = block.live().and(&block.with_vector()).iter().next() else { continue };
            let query = near(block.unquantised(lane, self.dims()));
            let blocks = (0..BLOCKS).map(|j| &self.blocks()[step(i + j * QUERIES + QUERIES / 2, BLOCKS * QUERIES)]);
            let mut found: Vec<_> =
                blocks.flat_map(|block| shortfalls(self.kernel(), self.dims(), block, &query)).collect();
            found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            all.extend(found.iter().take(NEAREST).map(|&(_, shortfall)| shortfall));
        }
        Law::of(&all)
    }

    /// Visits blocks until none can hold a hit, and of their rows those that are likely to be one.
    pub(super) fn scan_likely(&self, request: &Request<'_>, plan: &Plan, floor: &SharedFloor, aim: &Aim) -> (Vec<Survivor>, usize) {
        let mut worker = Worker::new(self, request, plan, floor);
        let query = BitQuery::new(request.query.unwrap_or_default(), padded(self.dims()));
        let reach = (aim.margin as f32) * query.norm();
        for &(bound, block) in &plan.order {
            if bound < f64::from(floor.get()) {
                break;
            }
            worker.visit_likely(block, &query, reach);
        }
        (worker.survivors, worker.scanned_rows)
    }

    /// The chance that hits like these were found, each from the floor that it met.
    pub(super) fn recall_of(&self, plan: &Plan, query: &[f32], aim: &Aim, hits: &[(Candidate, Survivor)]) -> f64 {
        let unit = plan.shift.exp2();
        let norm = f64::from(query.iter().map(|x| x * x).sum::<f32>().sqrt());
        let chance = |(hit, survivor): &(Candidate, Survivor)| {
            let (block, lane) = survivor.place();
            let spread = f64::from(self.blocks()[block].sketch(self.dims()).spreads()[lane]) * norm;
            let seen = f64::from(survivor.seen) * unit;
            let parts = &hit.parts;
            if seen <= 0.0 || spread <= 0.0 || parts.score <= 0.0 {
                return 1.0;
            }
            let room = parts.relevance_raw * (1.0 - seen / parts.score) / (plan.gain * spread);
            aim.law.chance(aim.margin + room)
        };
        if hits.is_empty() { 1.0 } else { hits.iter().map(chance).sum::<f64>() / hits.len() as f64 }
    }
}
