//! Recall by brute force over the formula.

use std::collections::BTreeMap;

use mnemic::memory::{MemoryId, Sensitivity, StatusKind, Timestamp};
use mnemic::{Curve, Hit, Query, Store, WhyNot};

use super::{Dice, Model, Row, pick, vector};
use crate::check::{Check, Say, ensure};

/// Recalls what a user has, as `random` asks for it, and compares it with brute force over the model.
pub(crate) fn check_recall(random: &mut impl Dice, store: &Store, model: &Model, user: &str, now: i64) -> Check {
    let plan = Plan::random(random, now);
    let none = BTreeMap::new();
    let rows = model.get(user).map_or(&none, |state| &state.rows);
    let handle = store.user(user).say("user")?.with_level(Sensitivity::Secret);
    let expected = plan.expected(rows);
    let hits = handle.recall(plan.query()).say("recall")?;
    let found: Vec<_> = hits.iter().map(|hit| (hit.id(), hit.score())).collect();
    ensure!(found == expected, "recall of {user:?} by {plan:?}: {found:?}, should be {expected:?}");
    ensure!(hits.iter().all(Hit::verify), "a hit does not verify");
    ensure!(hits.iter().all(|hit| hit.memory().text() == rows[&hit.id()].text), "a hit has another's text");
    ensure!(hits.reason().is_some() == hits.is_empty(), "reason {:?} for {} hits", hits.reason(), hits.len());
    if let Some((id, score)) = expected.last() {
        let why = handle.why_not(*id, plan.query()).say("why_not")?;
        ensure!(why == WhyNot::Hit { rank: expected.len(), score: *score }, "why_not of the last hit: {why:?}");
    }
    Ok(())
}

/// Unit length, as the store makes it.
fn unit(numbers: &[f32]) -> Vec<f32> {
    let squares: f64 = numbers.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    numbers.iter().map(|&x| (f64::from(x) / squares.sqrt()) as f32).collect()
}

/// Eight lanes, added pairwise: the order that the store promises.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut l = [0.0f64; 8];
    a.iter().zip(b).enumerate().for_each(|(i, (x, y))| l[i % 8] += f64::from(*x) * f64::from(*y));
    ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}

/// How a query asks, and what should answer it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) query: Vec<f32>,
    lambda: f64,
    floor: f64,
    now: i64,
    level: Sensitivity,
    limit: usize,
    min_score: Option<f64>,
}

impl Plan {
    fn random(random: &mut impl Dice, now: i64) -> Self {
        Self {
            query: vector(random),
            lambda: *pick(random, &[0.0, 0.005, 0.05, 0.3, 2.5]),
            floor: *pick(random, &[0.0, 0.5, 0.9]),
            now,
            level: *pick(random, Sensitivity::ALL),
            limit: *pick(random, &[0, 1, 5, 1000]),
            min_score: (random.below(4) == 0).then_some(0.1),
        }
    }

    /// Every memory with a vector, without decay.
    pub(crate) fn everything(query: Vec<f32>, now: i64) -> Self {
        let (lambda, floor, limit) = (0.0, 0.5, usize::MAX);
        Self { query, lambda, floor, now, level: Sensitivity::Secret, limit, min_score: None }
    }

    /// As the store takes it.
    pub(crate) fn query(&self) -> Query {
        let query = Query::vector(self.query.clone())
            .raw_cosine()
            .curve(Curve::Exponential { lambda: self.lambda })
            .floor(self.floor)
            .at(Timestamp::from_micros(self.now))
            .level(self.level)
            .limit(self.limit);
        self.min_score.into_iter().fold(query, Query::min_score)
    }

    fn score(&self, row: &Row, of: &[f32]) -> (f64, f64) {
        let cos = dot(&unit(&self.query), &unit(of));
        let age = self.now.saturating_sub(row.time()).max(0) as f64 / 86_400e6;
        let retention = if age <= 0.0 || self.lambda == 0.0 || row.pinned {
            1.0
        } else {
            self.floor + (1.0 - self.floor) * libm::exp(-self.lambda * age)
        };
        let weight = (f64::from(row.importance) * f64::from(row.confidence)).max(1.0 / (1u64 << 60) as f64);
        (cos.max(0.0) * retention * weight, cos)
    }

    /// Ids and scores, best first.
    pub(crate) fn expected(&self, rows: &BTreeMap<MemoryId, Row>) -> Vec<(MemoryId, f64)> {
        let eligible = rows.iter().filter(|(_, r)| r.status == StatusKind::Active && r.level <= self.level);
        let mut scored: Vec<_> =
            eligible.filter_map(|(id, row)| Some((self.score(row, row.vector.as_ref()?), *id))).collect();
        scored.retain(|((score, _), _)| self.min_score.is_none_or(|least| *score >= least));
        scored.sort_by(|((a, x), i), ((b, y), j)| b.total_cmp(a).then(y.total_cmp(x)).then(i.cmp(j)));
        scored.into_iter().take(self.limit).map(|((score, _), id)| (id, score)).collect()
    }
}
