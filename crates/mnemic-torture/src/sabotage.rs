//! Whether the torture notices an engine that is broken on purpose.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::args::Options;
use crate::modes::Mode;
use crate::runner::{self, Plan};

/// Seconds in which a sabotage must be caught.
const SECONDS: f64 = 60.0;

/// Every sabotage by number, and the mode that must turn red.
const TABLE: &[(u32, &str, Mode)] = &[
    (1, "a shard is never synced", Mode::Crash),
    (2, "KEYRING is never synced", Mode::Crash),
    (3, "tags are not checked", Mode::Flips),
    (4, "commits are acknowledged before they are written", Mode::Kill),
    (5, "a forgetting erases one copy of the slot", Mode::Forget),
    (6, "a forgetting leaves the index", Mode::Model),
    (7, "changes do not ask for the level", Mode::Sensitivity),
    (8, "sums are not checked", Mode::Flips),
    (9, "no tombstone is left", Mode::Forget),
    (10, "a block that closes loses a row", Mode::Model),
    (11, "a renamed file's directory is not synced", Mode::Crash2),
    (12, "a block's bound takes its rows for older", Mode::Model),
    (13, "the index keeps an old vector", Mode::Model),
    (14, "a nonce is used twice", Mode::Keys),
    (15, "a commit that happened is called not committed", Mode::Faults),
    (16, "a full disk stops a forgetting", Mode::Faults),
    (17, "user ids are compared loosely", Mode::Isolation),
    (18, "a vector of zeros is taken", Mode::Vectors),
    (19, "a flush does nothing", Mode::Crash),
    (20, "durable commits are relaxed", Mode::Crash2),
    (21, "panics of damaged pages come out", Mode::Flips),
    (22, "an older copy of a shard is taken", Mode::Cuts),
    (31, "a forgetting leaves the keys of snapshots as they are", Mode::Model),
    (32, "snapshots keep what is forgotten and bring it back", Mode::Forget),
    (33, "the name of a rewritten shard is not synced", Mode::Crash),
    (34, "a restore passes over what is newer", Mode::Model),
    (35, "the log is trimmed without its sum", Mode::Model),
    (41, "receipts are taken without their tag", Mode::Forget),
    (42, "the second copy of the header is not written", Mode::Keys),
    (43, "an import does not ask for tombstones", Mode::Forget),
    (44, "the doctor checks no sum", Mode::Flips),
    (45, "a repair prefers the older record", Mode::Flips),
];

static CURRENT: AtomicU32 = AtomicU32::new(0);

/// What is broken now; 0 for nothing.
pub(crate) fn current() -> u32 {
    CURRENT.load(Ordering::Relaxed)
}

#[cfg(feature = "sabotage")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
pub(crate) fn begin(number: u32) -> Result<(), String> {
    CURRENT.store(number, Ordering::Relaxed);
    mnemic::sabotage::set(number);
    Ok(())
}

#[cfg(not(feature = "sabotage"))]
pub(crate) fn begin(_number: u32) -> Result<(), String> {
    Err("built without the feature `sabotage`".to_owned())
}

/// Runs every sabotage in its mode; each is passed where the mode turns red.
pub(crate) fn table(options: &Options) -> ExitCode {
    let (mut caught, mut missed) = (0, 0);
    for (number, what, mode) in TABLE {
        if let Err(says) = begin(*number) {
            eprintln!("{says}");
            return ExitCode::from(2);
        }
        let plan = Plan {
            mode: *mode,
            seed: options.seed,
            jobs: options.jobs,
            count: None,
            cases: None,
            seconds: Some(SECONDS),
            until_red: true,
        };
        let report = runner::run(plan);
        let says = report.failures.first().map_or("NOT CAUGHT", |says| says.as_str());
        let line: String = says.lines().next().unwrap_or_default().chars().take(150).collect();
        let (mode, seconds) = (mode.name(), report.seconds);
        println!("{number:3} {what:50} {mode:12} {seconds:5.1} s after {:6} checks: {line}", report.passed);
        if report.failures.is_empty() { missed += 1 } else { caught += 1 }
    }
    let _ = begin(0);
    println!("{caught} passed, {missed} failed");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
