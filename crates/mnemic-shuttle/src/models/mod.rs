//! The models, and how they are run.

mod cache;
mod queue;
mod swap;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

/// Every model by name.
pub(crate) const ALL: &[(&str, fn())] =
    &[("commit queue", queue::model), ("user cache", cache::model), ("index swap", swap::model)];

/// Changes of the thread that a schedule of the second kind makes at the worst moments.
const PCT_DEPTH: usize = 3;

/// What a model did.
pub(crate) struct Runs {
    pub(crate) passed: u64,
    pub(crate) failed: bool,
}

/// Half of the schedules at random, half with few changes at chosen moments; stops at the first failure, which shuttle
/// prints with its schedule.
pub(crate) fn run(model: fn(), seed: u64, schedules: u64) -> Runs {
    let passed = Arc::new(AtomicU64::new(0));
    let half = usize::try_from(schedules.div_ceil(2)).unwrap_or(usize::MAX);
    let counted = |passed: &Arc<AtomicU64>| {
        let passed = Arc::clone(passed);
        move || {
            model();
            passed.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (random, few) = (counted(&passed), counted(&passed));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(RandomScheduler::new_from_seed(seed, half), Config::new()).run(random);
        Runner::new(PctScheduler::new_from_seed(seed, PCT_DEPTH, half), Config::new()).run(few);
    }));
    Runs { passed: passed.load(Ordering::Relaxed), failed: outcome.is_err() }
}
