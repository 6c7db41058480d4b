//! Random calls against a map and brute force, with closing, power cuts and jumps of the clock.

use std::collections::BTreeMap;

use mnemic::memory::{MemoryId, Sensitivity, StatusKind, Timestamp};
use mnemic::world::testing::{CrashChoice, SplitMix64, TestWorld};
use mnemic::{Curve, Hit, Query, WhyNot};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{Game, Mix, Row, Setting, Upkeep, pick, vector};

/// Calls of one case.
const STEPS: u64 = 60;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let mut setting = Setting::random(&mut case.random);
    setting.every = None;
    let mut game = Game::new(case.seed, setting)?;
    let is_big = case.below(6) == 0;
    if is_big {
        // Enough for blocks that bounds can rule out.
        game.fill("ada", 250 + case.below(600))?;
    }
    let mix = Mix { batch_max: 8, users: 1 + case.below(4) as usize, reopens: true, upkeep: Upkeep::All, round: 0 };
    for number in 0..STEPS {
        step(case, &mut game, mix, is_big).map_err(|says| format!("step {number}: {says}"))?;
        case.pass();
        if case.is_over() {
            return Ok(());
        }
    }
    game.check()
}

fn step(case: &mut Case<'_>, game: &mut Game, mix: Mix, is_big: bool) -> Check {
    match case.below(20) {
        0 => game.now += Timestamp::DAY_MICROS * (case.below(200) as i64 - 60),
        1 if !is_big => cut(case, game)?,
        2..8 => {}
        _ => {
            let mut step = game.next(mix);
            if is_big && step.user() == Some("ada") && matches!(step, crate::work::Step::ForgetUser { .. }) {
                step = crate::work::Step::Flush;
            }
            game.play(&step).map_err(|says| format!("{}: {says}", step.name()))?;
        }
    }
    let mut users: Vec<String> = game.model.keys().cloned().collect();
    users.push("nobody".to_owned());
    let user = pick(&mut case.random, &users).clone();
    recall(case, game, &user)
}

/// A power cut: everything was acknowledged, so everything is there.
fn cut(case: &mut Case<'_>, game: &mut Game) -> Check {
    let choice = CrashChoice::mix(case.random.next_u64(), 6).nth(case.below(6) as usize).unwrap_or(CrashChoice::None);
    let image = game.fs.crash_image(game.fs.op_count(), choice);
    game.world = TestWorld::with_fs(case.random.next_u64(), image.clone());
    game.world.set_micros(game.now);
    let store = game.setting.builder(&game.world).open().say("after a power cut")?;
    // The old handle's files are gone with the power.
    std::mem::forget(std::mem::replace(&mut game.store, store));
    game.fs = image;
    game.check().map_err(|says| format!("after a power cut ({choice:?}): {says}"))
}

fn recall(case: &mut Case<'_>, game: &Game, user: &str) -> Check {
    let plan = Plan::random(&mut case.random, game.now);
    let none = BTreeMap::new();
    let rows = game.model.get(user).map_or(&none, |state| &state.rows);
    let handle = game.store.user(user).say("user")?.with_level(Sensitivity::Secret);
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

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) query: Vec<f32>,
    lambda: f64,
    floor: f64,
    now: i64,
    level: Sensitivity,
    limit: usize,
    min_score: Option<f64>,
}

impl Plan {
    fn random(random: &mut SplitMix64, now: i64) -> Self {
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
    pub(super) fn everything(query: Vec<f32>, now: i64) -> Self {
        let (lambda, floor, limit) = (0.0, 0.5, usize::MAX);
        Self { query, lambda, floor, now, level: Sensitivity::Secret, limit, min_score: None }
    }

    pub(super) fn query(&self) -> Query {
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

    pub(super) fn expected(&self, rows: &BTreeMap<MemoryId, Row>) -> Vec<(MemoryId, f64)> {
        let eligible = rows.iter().filter(|(_, r)| r.status == StatusKind::Active && r.level <= self.level);
        let mut scored: Vec<_> =
            eligible.filter_map(|(id, row)| Some((self.score(row, row.vector.as_ref()?), *id))).collect();
        scored.retain(|((score, _), _)| self.min_score.is_none_or(|least| *score >= least));
        scored.sort_by(|((a, x), i), ((b, y), j)| b.total_cmp(a).then(y.total_cmp(x)).then(i.cmp(j)));
        scored.into_iter().take(self.limit).map(|((score, _), id)| (id, score)).collect()
    }
}
