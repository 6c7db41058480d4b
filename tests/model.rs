//! Random verbs against a plain model: a map for what is stored, brute force for what is recalled.

mod support;

use std::collections::BTreeMap;

use mnemic::memory::{Evidence, MemoryId, NewMemory, Sensitivity, StatusKind, Timestamp};
use mnemic::world::testing::{RecordingFs, SplitMix64, TestWorld};
use mnemic::{Correction, Curve, ErrorKind, ListOptions, Query, Store, Update, WhyNot};
use support::{builder, id, vector, world_over};

const USERS: [&str; 3] = ["ada", "bob", "ada/"];
const DAY: i64 = Timestamp::DAY_MICROS;

#[derive(Debug, Clone)]
struct Row {
    text: String,
    vector: Vec<f32>,
    importance: f32,
    confidence: f32,
    sensitivity: Sensitivity,
    status: StatusKind,
    pinned: bool,
    created_at: i64,
    time: i64,
    version: u32,
}

type Model = BTreeMap<&'static str, BTreeMap<MemoryId, Row>>;

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

struct Plan {
    query: Vec<f32>,
    lambda: f64,
    floor: f64,
    now: i64,
    level: Sensitivity,
    limit: usize,
    min_score: Option<f64>,
}

impl Plan {
    fn random(random: &mut SplitMix64, now: i64) -> Self {
        let pick = |random: &mut SplitMix64, values: &[f64]| values[random.below(values.len() as u64) as usize];
        Self {
            query: vector(random),
            lambda: pick(random, &[0.0, 0.005, 0.05, 0.3, 2.5]),
            floor: pick(random, &[0.0, 0.5, 0.9]),
            now,
            level: Sensitivity::ALL[random.below(4) as usize],
            limit: [0, 1, 5, 1000][random.below(4) as usize],
            min_score: (random.below(4) == 0).then_some(0.1),
        }
    }

    fn query(&self) -> Query {
        let query = Query::vector(self.query.clone())
            .raw_cosine()
            .curve(Curve::Exponential { lambda: self.lambda })
            .floor(self.floor)
            .at(Timestamp::from_micros(self.now))
            .level(self.level)
            .limit(self.limit);
        self.min_score.into_iter().fold(query, Query::min_score)
    }

    fn score(&self, row: &Row) -> (f64, f64) {
        let cos = dot(&unit(&self.query), &unit(&row.vector));
        let age = self.now.saturating_sub(row.time).max(0) as f64 / 86_400e6;
        let retention = if age <= 0.0 || self.lambda == 0.0 || row.pinned {
            1.0
        } else {
            self.floor + (1.0 - self.floor) * libm::exp(-self.lambda * age)
        };
        let weight = (f64::from(row.importance) * f64::from(row.confidence)).max(1.0 / (1u64 << 60) as f64);
        (cos.max(0.0) * retention * weight, cos)
    }

    fn expected(&self, rows: &BTreeMap<MemoryId, Row>) -> Vec<(MemoryId, f64)> {
        let eligible = rows.iter().filter(|(_, r)| r.status == StatusKind::Active && r.sensitivity <= self.level);
        let mut scored: Vec<_> = eligible.map(|(id, row)| (self.score(row), *id)).collect();
        scored.retain(|((score, _), _)| self.min_score.is_none_or(|least| *score >= least));
        scored.sort_by(|((a, x), i), ((b, y), j)| b.total_cmp(a).then(y.total_cmp(x)).then(i.cmp(j)));
        scored.into_iter().take(self.limit).map(|((score, _), id)| (id, score)).collect()
    }
}

struct Game {
    random: SplitMix64,
    fs: RecordingFs,
    world: TestWorld,
    store: Store,
    model: Model,
    next_id: u64,
    now: i64,
}

impl Game {
    fn new(seed: u64) -> Self {
        let fs = RecordingFs::new();
        let world = world_over(&fs, seed);
        let store = builder(&world).shards(2).open().unwrap();
        let now = 1_800_000_000_000_000;
        world.set_micros(now);
        Self { random: SplitMix64::new(seed), fs, world, store, model: Model::new(), next_id: 1, now }
    }

    fn user(&mut self) -> &'static str {
        USERS[self.random.below(3) as usize]
    }

    fn handle(&self, user: &str) -> mnemic::User {
        self.store.user(user).unwrap().with_level(Sensitivity::Secret)
    }

    fn some_id(&mut self, user: &str) -> Option<MemoryId> {
        let ids: Vec<_> = self.model.get(user)?.keys().copied().collect();
        if ids.is_empty() { None } else { Some(ids[self.random.below(ids.len() as u64) as usize]) }
    }

    fn new_row(&mut self) -> (MemoryId, Row, NewMemory) {
        let number = self.next_id;
        self.next_id += 1;
        let random = &mut self.random;
        let created_at = self.now - DAY * random.below(400) as i64 + DAY * 5;
        let row = Row {
            text: format!("memory {number}"),
            vector: vector(random),
            importance: [1.0, 0.5, 0.01, 0.0][random.below(4) as usize],
            confidence: [1.0, 0.7][random.below(2) as usize],
            sensitivity: Sensitivity::ALL[random.below(4) as usize],
            status: StatusKind::Active,
            pinned: random.below(8) == 0,
            created_at,
            time: created_at,
            version: 1,
        };
        let new = NewMemory::note(row.text.clone())
            .id(id(number))
            .vector(row.vector.clone())
            .importance(row.importance)
            .confidence(row.confidence)
            .sensitivity(row.sensitivity)
            .pinned(row.pinned)
            .created_at(Timestamp::from_micros(created_at));
        (id(number), row, new)
    }

    fn step(&mut self) {
        let user = self.user();
        match self.random.below(100) {
            0..35 => self.remember(user),
            35..45 => self.update(user),
            45..52 => self.correct(user),
            52..58 => self.confirm_or_contradict(user),
            58..64 => self.used(user),
            64..72 => self.forget(user),
            72..74 => self.forget_user(user),
            74..77 => self.reopen(),
            77..80 => self.now += DAY * (self.random.below(30) as i64 - 3),
            _ => self.recall(user),
        }
        self.world.set_micros(self.now);
    }

    fn remember(&mut self, user: &'static str) {
        let count = 1 + self.random.below(8) as usize;
        let rows: Vec<_> = (0..count).map(|_| self.new_row()).collect();
        let news = rows.iter().map(|(_, _, new)| new.clone());
        let outcomes = self.handle(user).remember_all(news).unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        self.model.entry(user).or_default().extend(rows.into_iter().map(|(id, row, _)| (id, row)));
    }

    fn update(&mut self, user: &'static str) {
        let Some(id) = self.some_id(user) else { return };
        let (text, numbers) = (format!("changed {}", self.random.below(1000)), vector(&mut self.random));
        let update = Update::new().text(text.clone()).vector(numbers.clone()).importance(0.9);
        let version = self.handle(user).update(id, update).unwrap();
        let row = self.model.get_mut(user).unwrap().get_mut(&id).unwrap();
        (row.text, row.vector, row.importance, row.version) = (text, numbers, 0.9, row.version + 1);
        assert_eq!(version, row.version);
    }

    fn correct(&mut self, user: &'static str) {
        let Some(old) = self.some_id(user) else { return };
        let numbers = vector(&mut self.random);
        let answer = self.handle(user).correct(old, Correction::new("corrected").vector(numbers.clone()));
        let rows = self.model.get_mut(user).unwrap();
        let before = rows[&old].clone();
        if before.status == StatusKind::Superseded {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Conflict);
            return;
        }
        let row = rows.get_mut(&old).unwrap();
        (row.status, row.version) = (StatusKind::Superseded, row.version + 1);
        let new = Row {
            text: "corrected".into(),
            vector: numbers,
            confidence: 1.0,
            created_at: self.now,
            time: self.now,
            version: 1,
            status: StatusKind::Active,
            ..before
        };
        rows.insert(answer.unwrap(), new);
    }

    fn confirm_or_contradict(&mut self, user: &'static str) {
        let Some(id) = self.some_id(user) else { return };
        let confirm = self.random.below(2) == 0;
        let handle = self.handle(user);
        let version = if confirm { handle.confirm(id) } else { handle.contradict(id) }.unwrap();
        let row = self.model.get_mut(user).unwrap().get_mut(&id).unwrap();
        row.version = version;
        if confirm {
            row.confidence += (1.0 - row.confidence) * 0.5;
            row.time = row.time.max(self.now);
        } else {
            row.confidence *= 0.5;
        }
    }

    fn used(&mut self, user: &'static str) {
        let Some(id) = self.some_id(user) else { return };
        self.handle(user).used([id]).unwrap();
        let row = self.model.get_mut(user).unwrap().get_mut(&id).unwrap();
        (row.time, row.version) = (row.time.max(self.now), row.version + 1);
    }

    fn forget(&mut self, user: &'static str) {
        let Some(id) = self.some_id(user) else { return };
        let handle = self.handle(user);
        assert_eq!(handle.forget(id).unwrap().memories, 1);
        assert_eq!(handle.get(id).unwrap_err().kind(), ErrorKind::NotFound);
        self.model.get_mut(user).unwrap().remove(&id);
    }

    fn forget_user(&mut self, user: &'static str) {
        match self.model.remove(user) {
            Some(rows) => assert_eq!(self.store.forget_user(user).unwrap().memories as usize, rows.len()),
            None => assert_eq!(self.store.forget_user(user).unwrap_err().kind(), ErrorKind::NotFound),
        }
    }

    fn reopen(&mut self) {
        self.store.close().unwrap();
        assert_eq!(self.store.user_count().unwrap_err().kind(), ErrorKind::Closed);
        let seed = self.random.next_u64();
        self.world = world_over(&self.fs, seed);
        self.world.set_micros(self.now);
        // A budget of nothing evicts every index but the one in use.
        let cache = [0, 256 << 20][self.random.below(2) as usize];
        self.store = builder(&self.world).shards(2).cache_bytes(cache).open().unwrap();
    }

    fn recall(&mut self, user: &'static str) {
        let plan = Plan::random(&mut self.random, self.now);
        let empty = BTreeMap::new();
        let rows = self.model.get(user).unwrap_or(&empty);
        let expected = plan.expected(rows);
        let hits = self.handle(user).recall(plan.query()).unwrap();
        let found: Vec<_> = hits.iter().map(|hit| (hit.id(), hit.score())).collect();
        assert_eq!(found, expected);
        assert!(hits.iter().all(mnemic::Hit::verify));
        assert!(hits.iter().all(|hit| hit.memory().text() == rows[&hit.id()].text));
        assert_eq!(hits.reason().is_some(), hits.is_empty());
        if let Some(last) = expected.last() {
            let why = self.handle(user).why_not(last.0, plan.query()).unwrap();
            assert_eq!(why, WhyNot::Hit { rank: expected.len(), score: last.1 });
        }
    }

    fn check_all(&self) {
        for (user, rows) in &self.model {
            let page = self.handle(user).list(ListOptions::new().limit(usize::MAX)).unwrap();
            assert_eq!(page.total, rows.len());
            for memory in page.memories {
                let row = &rows[&memory.id()];
                let found = (memory.text(), memory.version(), memory.status().kind(), memory.confidence());
                assert_eq!(found, (row.text.as_str(), row.version, row.status, row.confidence));
                assert_eq!(memory.created_at().as_micros(), row.created_at);
                assert!(memory.evidence() == Evidence::Stated && !memory.is_pending());
            }
        }
        assert_eq!(self.store.user_count().unwrap() as usize, self.model.len());
    }
}

#[test]
fn random_verbs_do_what_a_map_and_brute_force_do() {
    for seed in 0..60 {
        let mut game = Game::new(seed);
        for _ in 0..60 {
            game.step();
        }
        game.check_all();
        game.reopen();
        game.check_all();
    }
}

#[test]
fn a_user_of_many_blocks_stays_exact_through_changes() {
    let mut game = Game::new(99);
    for _ in 0..250 {
        game.remember("ada");
    }
    for round in 0..40 {
        (0..4).for_each(|_| game.update("ada"));
        game.forget("ada");
        game.correct("ada");
        (0..6).for_each(|_| game.recall("ada"));
        if round % 10 == 9 {
            game.reopen();
        }
    }
    game.check_all();
}

#[test]
fn a_user_larger_than_the_whole_budget_is_searched_exactly_part_by_part() {
    let mut game = Game::new(123);
    for _ in 0..400 {
        game.remember("ada");
    }
    (0..30).for_each(|_| game.update("ada"));
    (0..3).for_each(|_| game.forget("ada"));
    game.store.close().unwrap();
    game.world = world_over(&game.fs, 5);
    game.world.set_micros(game.now);
    game.store = builder(&game.world).shards(2).cache_bytes(100_000).open().unwrap();
    for _ in 0..60 {
        let plan = Plan::random(&mut game.random, game.now);
        let expected = plan.expected(&game.model["ada"]);
        let hits = game.handle("ada").recall(plan.query()).unwrap();
        assert_eq!(hits.iter().map(|hit| (hit.id(), hit.score())).collect::<Vec<_>>(), expected);
    }
    let stats = game.store.stats().unwrap();
    assert!(stats.cache_bytes <= stats.cache_budget_bytes, "{stats:?}");
}
