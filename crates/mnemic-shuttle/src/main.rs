//! Models of the library's locks, under schedules that a seed decides.
//!
//! The commit queue and the user cache are the library's own files, compiled here a second time with shuttle's locks in
//! place of the real ones; what they hold is replaced by stand-ins. The swap of an index is a model of the protocol.
//!
//! `mnemic-shuttle [--seed N] [--schedules N]`: prints what each model did and ends with `N passed, N failed`.

extern crate self as parking_lot;

mod engine;
mod locks;
mod models;

pub use locks::{Condvar, Mutex, MutexGuard, RwLock};

use std::process::ExitCode;

/// Stand-ins for what the user cache holds, under the names that it knows them by.
mod codec {
    /// Whose cell it is.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub(crate) struct UserHash(pub(crate) u8);
}

/// One argument behind its name.
fn option(name: &str, default: u64) -> Result<u64, String> {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(default) };
    let value = arguments.get(at + 1).and_then(|value| value.parse().ok());
    value.ok_or_else(|| format!("{name}: needs a number"))
}

fn main() -> ExitCode {
    let (seed, schedules) = match (option("--seed", 1), option("--schedules", 2000)) {
        (Ok(seed), Ok(schedules)) => (seed, schedules),
        (Err(says), _) | (_, Err(says)) => {
            eprintln!("{says}");
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, model) in models::ALL {
        let share = schedules.div_ceil(models::ALL.len() as u64);
        let runs = models::run(*model, seed, share);
        println!("{name:14} seed {seed}, {} schedules, {} failed", runs.passed, u64::from(runs.failed));
        passed += runs.passed;
        failed += u64::from(runs.failed);
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
