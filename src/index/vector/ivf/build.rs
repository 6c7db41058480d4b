//! How lists come to be: a bit of the work with each question that could use them.

use super::centroids::{Centroids, Groups, Sampled};
use super::growth::{Growth, Ready};
use super::lists::Lists;
use crate::index::vector::arena::Arena;
use crate::index::vector::asked::{Asked, AskedBefore};
use crate::index::vector::bits::BLOCK_ROWS;
use crate::index::vector::law::{Law, Moments};
use crate::index::vector::measure::near;
use crate::kernel::PlanedQuery;
use crate::policy::score::weight;

/// Rows of a list, and how many lists there may be.
const LIST_ROWS: usize = 512;
const LISTS: (usize, usize) = (32, 1024);
/// Sampled rows for each list, all that are sampled at most, and rounds of k-means.
const SAMPLE: usize = 16;
const SAMPLE_MAX: usize = 8192;
const ROUNDS: usize = 5;
/// Comparisons of a row with a centre, or with a query, that one step may make.
const STEP: usize = 1_000_000;
/// What a row costs beside its comparisons.
const ROW_COST: usize = 150;
/// Rows that weigh alike to this part of the largest weight are filled in any order.
const WEIGHT_STEPS: usize = 256;
/// Rows that stand in for queries, and hits of each.
const QUERIES: usize = 32;
const HITS: usize = 10;

impl Growth {
    /// Samples the rows that centres start from.
    pub(in crate::index::vector) fn start(arena: &Arena) -> Self {
        let count = (arena.len() / LIST_ROWS).clamp(LISTS.0, LISTS.1);
        let each = (arena.len() / SAMPLE_MAX.min(count * SAMPLE)).max(1);
        let sampled = |row: u32| {
            let (block, lane) = arena.place_of(row)?;
            let vector = arena.blocks()[block].unquantised(lane, arena.dims());
            let planes = arena.kernel().quantise_query(&vector);
            Some(Sampled { row, vector, planes })
        };
        let rows = arena.iter().filter(|facts| facts.has_vector).map(|facts| facts.row);
        let sample: Vec<_> = rows.step_by(each).filter_map(sampled).collect();
        if sample.len() < count {
            return Self::Useless;
        }
        let first = sample.iter().step_by(sample.len() / count).take(count);
        let centroids = Centroids::start(arena.kernel(), arena.dims(), first);
        Self::Training { sample, centroids, groups: Groups::default(), rounds: 0 }
    }

    /// One bounded step.
    pub(in crate::index::vector) fn step(self, arena: &Arena) -> Self {
        match self {
            Self::Training { sample, centroids, groups, rounds } => train(arena, sample, centroids, groups, rounds),
            Self::Filling { mut rows, mut lists } => {
                let rest = rows.len().saturating_sub(STEP / (lists.all().len() + ROW_COST));
                rows.drain(rest..).rev().for_each(|row| fill(&mut lists, arena, row));
                if rest > 0 {
                    return Self::Filling { rows, lists };
                }
                Self::Weighing { lists, asked: 0, shortfalls: Vec::new() }
            }
            Self::Weighing { lists, asked, mut shortfalls } => {
                let end = QUERIES.min(asked + (STEP / arena.len().max(1)).max(1));
                (asked..end).for_each(|i| shortfalls.extend(hits_of(arena, &lists, i)));
                if end < QUERIES {
                    return Self::Weighing { lists, asked: end, shortfalls };
                }
                let sampled = Moments::of(&shortfalls);
                let Some(law) = Law::of(&sampled) else { return Self::Useless };
                Self::Ready(Ready { lists, law, sampled, rows: arena.len(), changed: 0 })
            }
            Self::Ready(ready) if ready.is_stale() => Self::start(arena),
            done => done,
        }
    }
}

fn train(arena: &Arena, sample: Vec<Sampled>, mut centroids: Centroids, mut groups: Groups, rounds: usize) -> Growth {
    let end = sample.len().min(groups.count + STEP / centroids.len().max(1));
    centroids.gather(&sample[groups.count..end], &mut groups);
    if end < sample.len() {
        return Growth::Training { sample, centroids, groups, rounds };
    }
    centroids.improve(&sample, groups);
    if rounds + 1 < ROUNDS {
        return Growth::Training { sample, centroids, groups: Groups::default(), rounds: rounds + 1 };
    }
    let lists = Lists::new(arena.kernel(), arena.dims(), centroids);
    Growth::Filling { rows: lightest_first(arena), lists }
}

/// All rows with a vector, the heaviest last, so that the parts of a list are filled by falling weight.
fn lightest_first(arena: &Arena) -> Vec<u32> {
    let mut steps = vec![Vec::new(); WEIGHT_STEPS + 1];
    for facts in arena.iter().filter(|facts| facts.has_vector) {
        let weight = weight(facts.importance, facts.confidence, false);
        let step = if facts.pinned { 0.0 } else { weight * WEIGHT_STEPS as f64 };
        steps[(step as usize).min(WEIGHT_STEPS)].push(facts.row);
    }
    steps.concat()
}

fn fill(lists: &mut Lists, arena: &Arena, row: u32) {
    let Some((block, lane)) = arena.place_of(row) else { return };
    if let Some(member) = arena.blocks()[block].member(lane) {
        lists.insert(&member);
    }
}

/// How far the nearest rows of a query near the i-th sampled row are over what their centres say.
fn hits_of(arena: &Arena, lists: &Lists, i: usize) -> Vec<f64> {
    let block = &arena.blocks()[(2 * i + 1) * arena.blocks().len() / (2 * QUERIES)];
    let Some(lane) = block.live().and(&block.with_vector()).iter().next() else { return Vec::new() };
    let own = block.facts[lane].row;
    let query = near(block.unquantised(lane, arena.dims()));
    let norm = query.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    let planes = arena.kernel().quantise_query(&query);
    let mut nearest = Vec::with_capacity(2 * BLOCK_ROWS);
    let mut sums = [0; BLOCK_ROWS];
    for (at, block) in arena.blocks().iter().enumerate() {
        arena.kernel().scan_i8(&planes, block.rows(), &mut sums[..block.len()]);
        let cosine = |lane| sums[lane] as f32 * planes.scale * block.scale(lane);
        let lanes = block.live().and(&block.with_vector()).iter().filter(|&lane| block.facts[lane].row != own);
        nearest.extend(lanes.map(|lane| (cosine(lane), at, lane)));
        if nearest.len() >= BLOCK_ROWS {
            nearest.select_nth_unstable_by(HITS, |a, b| b.0.total_cmp(&a.0));
            nearest.truncate(HITS);
        }
    }
    nearest.truncate(HITS);
    lists.shortfalls(arena, &planes, norm, nearest.into_iter())
}

impl Ready {
    /// Learns how far the hits of real questions lie from their centres.
    pub(in crate::index::vector) fn learn(&mut self, arena: &Arena, asked: &AskedBefore) {
        let of = |asked: &Asked| {
            let norm = asked.query.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            let (planes, hits) = asked.hits(arena);
            self.lists.shortfalls(arena, &planes, norm, hits)
        };
        let seen: Vec<f64> = asked.iter().flat_map(of).collect();
        self.law = Law::of_both(&self.sampled, &Moments::of(&seen), asked.len()).unwrap_or(self.law);
    }
}

impl Lists {
    /// How far hits, given with their dot products, are nearer than their centres.
    fn shortfalls(
        &self,
        arena: &Arena,
        planes: &PlanedQuery,
        norm: f32,
        hits: impl Iterator<Item = (f32, usize, usize)>,
    ) -> Vec<f64> {
        let dots = self.dots(planes);
        let shortfall = |(dot, block, lane): (f32, usize, usize)| {
            let member = arena.blocks()[block].member(lane)?;
            let (part, _) = self.find(&member)?;
            let at = self.part(part).list;
            self.all()[at].sight(dots[at], norm, arena.dims()).shortfall(f64::from(dot))
        };
        hits.filter_map(shortfall).collect()
    }
}
