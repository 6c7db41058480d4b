//! A world for tests: settable clock, seeded randomness, files that remember what was synced.

mod random;
mod recording;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

pub use random::{SeededRandom, SplitMix64};
pub use recording::{CrashChoice, Data, Entry, FaultKind, NodeId, NodeKind, Op, RecordingFs, Repeat};

use super::{Clock, JoinHandle, Process, SystemProcess, World};
use crate::error::Result;

/// The instant at which a test world begins: 2026-01-01 UTC.
pub const START_MICROS: i64 = 1_767_225_600_000_000;

/// The handles by which a test steers a [`World`]. Clones share all state.
#[derive(Clone)]
pub struct TestWorld {
    clock: Arc<ManualClock>,
    random: Arc<SeededRandom>,
    process: Arc<TestProcess>,
    fs: RecordingFs,
    world: World,
}

impl TestWorld {
    /// A world with an empty file system; the seed decides its randomness.
    pub fn new(seed: u64) -> Self {
        Self::with_fs(seed, RecordingFs::new())
    }

    /// A world on the given files, for example on what a crash left.
    pub fn with_fs(seed: u64, fs: RecordingFs) -> Self {
        let clock = Arc::new(ManualClock::default());
        let random = Arc::new(SeededRandom::new(seed));
        let process = Arc::new(TestProcess(AtomicU32::new(1)));
        let world = World::new(clock.clone(), random.clone(), process.clone(), Arc::new(fs.clone()));
        Self { clock, random, process, fs, world }
    }

    /// The world to hand to the library.
    pub fn world(&self) -> World {
        self.world.clone()
    }

    /// The files.
    pub fn fs(&self) -> &RecordingFs {
        &self.fs
    }

    /// The randomness.
    pub fn random(&self) -> &SeededRandom {
        &self.random
    }

    /// Sets the clock, also backwards. The monotonic clock is not touched.
    pub fn set_micros(&self, micros: i64) {
        self.clock.now.store(micros, Ordering::Relaxed);
    }

    /// Moves both clocks forward.
    pub fn advance_micros(&self, micros: u32) {
        self.clock.now.fetch_add(i64::from(micros), Ordering::Relaxed);
        self.clock.monotonic.fetch_add(u64::from(micros), Ordering::Relaxed);
    }

    /// Sets the process number, as in a forked child.
    pub fn set_process_id(&self, id: u32) {
        self.process.0.store(id, Ordering::Relaxed);
    }
}

struct ManualClock {
    now: AtomicI64,
    monotonic: AtomicU64,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self { now: AtomicI64::new(START_MICROS), monotonic: AtomicU64::new(0) }
    }
}

impl Clock for ManualClock {
    fn now_micros(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    fn monotonic_micros(&self) -> u64 {
        self.monotonic.load(Ordering::Relaxed)
    }
}

struct TestProcess(AtomicU32);

impl Process for TestProcess {
    fn id(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn variable(&self, name: &str) -> Option<String> {
        SystemProcess.variable(name)
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<JoinHandle> {
        SystemProcess.spawn(name, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(seed: u64) -> Vec<[u8; 16]> {
        let test = TestWorld::new(seed);
        (0..100).map(|_| test.world().new_id().unwrap()).collect()
    }

    #[test]
    fn one_seed_gives_one_run() {
        assert_eq!(trace(7), trace(7));
        assert_ne!(trace(7), trace(8));
    }

    #[test]
    fn the_handles_steer_the_world() {
        let test = TestWorld::new(0);
        test.set_micros(5);
        test.advance_micros(10);
        test.set_process_id(99);
        let world = test.world();
        assert_eq!((world.now_micros(), world.monotonic_micros(), world.process_id()), (15, 10, 99));
        let thread = world.spawn("writer", {
            let test = test.clone();
            move || test.set_micros(77)
        });
        thread.unwrap().join().unwrap();
        assert_eq!(world.now_micros(), 77);
    }
}
