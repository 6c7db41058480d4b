//! Runs cases of a mode over threads until the count or the time is used up.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mnemic::world::World;
use mnemic::world::testing::SplitMix64;

use crate::check::Check;
use crate::modes::Mode;

/// After so many failures a mode stops: more say nothing new.
const FAILURES_MAX: usize = 10;

/// How much of one mode to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    pub(crate) seed: u64,
    pub(crate) jobs: usize,
    /// Checks, at least; the last case may go a little beyond.
    pub(crate) count: Option<u64>,
    /// Cases, each of one seed.
    pub(crate) cases: Option<u64>,
    pub(crate) seconds: Option<f64>,
    /// Stops at the first failure and prints none: a sabotage has to be caught.
    pub(crate) until_red: bool,
}

/// One seed's worth of work.
pub(crate) struct Case<'a> {
    pub(crate) seed: u64,
    pub(crate) random: SplitMix64,
    run: &'a Running,
    passed: AtomicU64,
}

/// What a mode found.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) mode: Mode,
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) passed: u64,
    pub(crate) failures: Vec<String>,
    pub(crate) seconds: f64,
}

struct Running {
    plan: Plan,
    began: u64,
    next_case: AtomicU64,
    cases: AtomicU64,
    passed: AtomicU64,
    stop: AtomicBool,
    failures: Mutex<Vec<String>>,
}

impl Case<'_> {
    /// Counts a check that held.
    pub(crate) fn pass(&self) {
        self.pass_many(1);
    }

    /// Counts checks that held.
    pub(crate) fn pass_many(&self, checks: u64) {
        self.passed.fetch_add(checks, Ordering::Relaxed);
        self.run.passed.fetch_add(checks, Ordering::Relaxed);
    }

    /// Whether the work is used up, so that a long case should end.
    pub(crate) fn is_over(&self) -> bool {
        self.run.is_over()
    }

    /// Seconds that this mode has, where it is limited by time.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.run.plan.seconds
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }
}

impl Running {
    fn is_over(&self) -> bool {
        let plan = &self.plan;
        // A case given by its seed runs to its end, so that it meets its failure again.
        self.stop.load(Ordering::Relaxed)
            || (plan.cases.is_none() && plan.count.is_some_and(|count| self.passed.load(Ordering::Relaxed) >= count))
            || plan.seconds.is_some_and(|seconds| self.seconds() >= seconds)
    }

    fn seconds(&self) -> f64 {
        (micros() - self.began) as f64 / 1e6
    }

    fn take_case(&self) -> Option<u64> {
        let case = self.next_case.fetch_add(1, Ordering::Relaxed);
        let has_more = self.plan.cases.is_none_or(|cases| case < cases);
        (has_more && (case == 0 || !self.is_over())).then_some(case)
    }

    fn work(&self) {
        while let Some(number) = self.take_case() {
            let seed = case_seed(self.plan.seed, number);
            SEED.set(seed);
            let mut case = Case { seed, random: SplitMix64::new(seed), run: self, passed: AtomicU64::new(0) };
            let outcome = run_contained(|| self.plan.mode.run(&mut case));
            self.cases.fetch_add(1, Ordering::Relaxed);
            if let Err(says) = outcome {
                self.fail(&case, &says);
            }
        }
    }

    fn fail(&self, case: &Case<'_>, says: &str) {
        let mode = self.plan.mode.name();
        let after = case.passed.load(Ordering::Relaxed);
        let text = format!(
            "{mode}: seed {}, after {after} checks of it: {says}\n  again: mnemic-torture {mode} --seed {} --cases 1",
            case.seed, case.seed
        );
        if !self.plan.until_red {
            println!("FAILED {text}");
        }
        let Ok(mut failures) = self.failures.lock() else { return };
        failures.push(text);
        if self.plan.until_red || failures.len() >= FAILURES_MAX {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs a mode to the end of its plan.
pub(crate) fn run(plan: Plan) -> Report {
    let running = Running {
        plan,
        began: micros(),
        next_case: AtomicU64::new(0),
        cases: AtomicU64::new(0),
        passed: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failures: Mutex::default(),
    };
    let jobs = if plan.mode.is_alone() { 1 } else { plan.jobs.max(1) };
    std::thread::scope(|scope| (0..jobs).for_each(|_| _ = scope.spawn(|| running.work())));
    Report {
        mode: plan.mode,
        seed: plan.seed,
        cases: running.cases.load(Ordering::Relaxed),
        passed: running.passed.load(Ordering::Relaxed),
        seconds: running.seconds(),
        failures: running.failures.into_inner().unwrap_or_default(),
    }
}

/// The first case has the run's own seed, so that one case can be named by `--seed`.
fn case_seed(run: u64, case: u64) -> u64 {
    if case == 0 { run } else { SplitMix64::new(run ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64() }
}

fn micros() -> u64 {
    World::system().monotonic_micros()
}

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps what a panic says for the case that it ends; the engine contains some of its own without a word.
pub(crate) fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let says = panic.to_string();
        // A panic inside a panic ends the process, so this is the last that is heard of the case.
        if says.contains("destructor") || says.contains("cannot unwind") {
            eprintln!("FAILED seed {}: {says}, after {:?}", SEED.get(), PANIC.with_borrow(Option::clone));
        }
        PANIC.with_borrow_mut(|last| *last = Some(says));
    }));
}

/// Runs a call; a panic becomes a failure.
pub(crate) fn run_contained<T>(call: impl FnOnce() -> Check<T>) -> Check<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        let says = PANIC.with_borrow_mut(Option::take).unwrap_or_default();
        Err(format!("panic: {says}"))
    })
}
