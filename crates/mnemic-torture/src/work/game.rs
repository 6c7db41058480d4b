use mnemic::world::testing::{RecordingFs, START_MICROS, SplitMix64, TestWorld};
use mnemic::{Builder, Durability, Result, Store};

use super::{Answer, Mix, Model, Step, generate, model, observe};
use crate::check::{Check, Say, ensure};

/// Where the stores of all modes lie.
pub(crate) const PATH: &str = "home/store";

/// How the store of a case is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) shards: u32,
    pub(crate) every: Option<u32>,
    pub(crate) cache_bytes: usize,
    pub(crate) reserve_bytes: u64,
}

impl Setting {
    /// One to three shards, sometimes relaxed, sometimes with next to no cache.
    pub(crate) fn random(random: &mut SplitMix64) -> Self {
        Self {
            shards: 1 + random.below(3) as u32,
            every: (random.below(3) == 0).then(|| 2 + random.below(4) as u32),
            cache_bytes: if random.below(4) == 0 { 0 } else { 256 << 20 },
            reserve_bytes: 0,
        }
    }

    /// A durable store of so many shards.
    pub(crate) const fn durable(shards: u32) -> Self {
        Self { shards, every: None, cache_bytes: 256 << 20, reserve_bytes: 0 }
    }

    /// A builder over the files of `fs`.
    pub(crate) fn builder(&self, world: &TestWorld) -> Builder {
        let durability = self.every.map_or(Durability::Durable, |every| Durability::Relaxed { every });
        Store::builder(PATH)
            .world(world.world())
            .shards(self.shards)
            .reserve_bytes(self.reserve_bytes)
            .cache_bytes(self.cache_bytes)
            .rewrite_min_bytes(0)
            .durability(durability)
    }

    /// Opens the store that lies in `fs`.
    pub(crate) fn open(&self, fs: &RecordingFs, seed: u64) -> Result<Store> {
        self.builder(&TestWorld::with_fs(seed, fs.clone())).open()
    }
}

/// A store in memory that is worked on, and the model that follows it.
pub(crate) struct Game {
    pub(crate) random: SplitMix64,
    pub(crate) fs: RecordingFs,
    pub(crate) world: TestWorld,
    pub(crate) setting: Setting,
    pub(crate) store: Store,
    pub(crate) model: Model,
    pub(crate) now: i64,
    pub(crate) next_id: u64,
}

impl Game {
    /// An empty store.
    pub(crate) fn new(seed: u64, setting: Setting) -> Check<Self> {
        Self::over(RecordingFs::new(), seed, setting)
    }

    /// A store made in `fs`.
    pub(crate) fn over(fs: RecordingFs, seed: u64, setting: Setting) -> Check<Self> {
        let world = TestWorld::with_fs(seed, fs.clone());
        let store = setting.builder(&world).open().say("creation")?;
        let random = SplitMix64::new(seed ^ 0x6a3e);
        Ok(Self { random, fs, world, setting, store, model: Model::new(), now: START_MICROS, next_id: 0 })
    }

    /// The next call by the seed.
    pub(crate) fn next(&mut self, mix: Mix) -> Step {
        generate(&mut self.random, mix, &self.model, &mut self.next_id, self.now)
    }

    /// Makes a call and holds its outcome and the model against each other.
    pub(crate) fn play(&mut self, step: &Step) -> Check<Answer> {
        self.now += 1_000_000;
        self.world.set_micros(self.now);
        let outcome = match step {
            Step::Reopen => self.reopen().map(|()| Answer::default()),
            step => step.call(&self.store),
        };
        step.check(&self.model, &outcome)?;
        let answer = outcome.unwrap_or_default();
        model::advance(&mut self.model, step, &answer, self.now);
        Ok(answer)
    }

    /// Makes `count` calls of the seed's choice.
    pub(crate) fn play_random(&mut self, mix: Mix, count: usize) -> Check {
        for _ in 0..count {
            let step = self.next(mix);
            self.play(&step)?;
        }
        Ok(())
    }

    /// Gives `user` so many memories at once.
    pub(crate) fn fill(&mut self, user: &str, count: u64) -> Check {
        let step = super::generate::some_rows(&mut self.random, user, count, &mut self.next_id, self.now);
        self.play(&step).map(drop)
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.close()?;
        let seed = self.random.next_u64();
        self.world = TestWorld::with_fs(seed, self.fs.clone());
        self.world.set_micros(self.now);
        self.store = self.setting.builder(&self.world).open()?;
        Ok(())
    }

    /// The store shows what the model says.
    pub(crate) fn check(&self) -> Check {
        check_store(&self.store, &self.model)
    }
}

/// A store shows what the model says, in records, index and log.
pub(crate) fn check_store(store: &Store, model: &Model) -> Check {
    let (expected, found) = (observe::shown_by(model), observe::found_of(store)?);
    ensure!(found == expected, "{}", observe::show_difference(&expected, &found));
    observe::check_deeply(store, model)
}
