//! The modes: what each does to a store, and what must hold.

mod crash;
mod crash_twice;
mod damage;
mod faults;
mod forget;
mod isolation;
mod keys;
mod kill;
mod model;
mod parsers;
mod sensitivity;
mod soak;
mod threads;
mod vectors;

use clap::ValueEnum;

use crate::check::Check;
use crate::runner::Case;

pub(crate) use damage::{read_file, write_file};
pub(crate) use kill::child;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// A power cut at each operation.
    Crash,
    /// A power cut while recovering from one, and in a forgetting after it.
    Crash2,
    /// A real kill -9 of a child process.
    Kill,
    /// The n-th call fails, for every n.
    Faults,
    /// Bit flips, replayed values, swaps between users.
    Flips,
    /// Files cut, padded, zeroed, swapped, or older.
    Cuts,
    /// Random calls against a map and brute force.
    Model,
    /// Real threads: every view is a prefix.
    Threads,
    /// Long work: memory, files and handles stay bounded.
    Soak,
    /// A forgetting, cut off at each operation, and replayed files after it.
    Forget,
    /// Wrong, missing and swapped keys; nonces are never used twice.
    Keys,
    /// Users whose ids look alike.
    Isolation,
    /// Nothing above the caller's level is told.
    Sensitivity,
    /// Bytes from outside.
    Parsers,
    /// Odd vectors.
    Vectors,
}

impl Mode {
    /// As it is given on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Crash2 => "crash2",
            Self::Kill => "kill",
            Self::Faults => "faults",
            Self::Flips => "flips",
            Self::Cuts => "cuts",
            Self::Model => "model",
            Self::Threads => "threads",
            Self::Soak => "soak",
            Self::Forget => "forget",
            Self::Keys => "keys",
            Self::Isolation => "isolation",
            Self::Sensitivity => "sensitivity",
            Self::Parsers => "parsers",
            Self::Vectors => "vectors",
        }
    }

    /// Checks of the short form of the torture plan; none for the one that is measured in time.
    pub(crate) fn table_count(self) -> Option<u64> {
        Some(match self {
            Self::Crash => 150_000,
            Self::Crash2 => 15_000,
            Self::Kill => 1_000,
            Self::Faults | Self::Flips => 60_000,
            Self::Cuts => 8_000,
            Self::Model => 2_000 * 60,
            Self::Threads => 300_000,
            Self::Soak => return None,
            Self::Forget => 500,
            Self::Keys => 3_000,
            Self::Isolation => 20_000,
            Self::Sensitivity => 10_000,
            Self::Parsers => 3_000_000,
            Self::Vectors => 5_000,
        })
    }

    /// Whether it uses threads of its own.
    pub(crate) fn is_alone(self) -> bool {
        matches!(self, Self::Threads | Self::Soak)
    }

    /// Runs one case.
    pub(crate) fn run(self, case: &mut Case<'_>) -> Check {
        match self {
            Self::Crash => crash::run(case),
            Self::Crash2 => crash_twice::run(case),
            Self::Kill => kill::run(case),
            Self::Faults => faults::run(case),
            Self::Flips => damage::flips(case),
            Self::Cuts => damage::cuts(case),
            Self::Model => model::run(case),
            Self::Threads => threads::run(case),
            Self::Soak => soak::run(case),
            Self::Forget => forget::run(case),
            Self::Keys => keys::run(case),
            Self::Isolation => isolation::run(case),
            Self::Sensitivity => sensitivity::run(case),
            Self::Parsers => parsers::run(case),
            Self::Vectors => vectors::run(case),
        }
    }
}
