use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::modes::Mode;

/// Crashes, faults, damage and random work against the mnemic engine.
#[derive(Debug, Parser)]
#[command(name = "mnemic-torture", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Every mode, one after the other.
    All(Options),
    /// Every sabotage, each in the mode that must catch it (needs the feature `sabotage`).
    Sabotage(Options),
    /// The process that mode `kill` kills.
    #[command(hide = true)]
    Child { path: PathBuf, seed: u64, round: u64, sabotage: u32 },
    #[command(flatten)]
    One(One),
}

macro_rules! commands {
    ($($mode:ident => $about:literal;)+) => {
        /// One mode.
        #[derive(Debug, Subcommand)]
        pub(crate) enum One {
            $(#[doc = $about] $mode(Options),)+
        }

        impl One {
            /// The mode and its options.
            pub(crate) fn parts(self) -> (Mode, Options) {
                match self {
                    $(Self::$mode(options) => (Mode::$mode, options),)+
                }
            }
        }

        /// Every mode.
        pub(crate) const MODES: &[Mode] = &[$(Mode::$mode),+];
    };
}

commands! {
    Crash => "A power cut at each operation";
    Crash2 => "A power cut while recovering from one, and in what follows";
    Kill => "A real kill -9 of a child process";
    Faults => "The n-th call fails, for every n";
    Flips => "Bit flips, replayed values, swaps between users";
    Cuts => "Files cut, padded, zeroed, swapped, or older";
    Model => "Random calls against a map and brute force";
    Threads => "Real threads: every view is a prefix";
    Soak => "Long work: memory, files and handles stay bounded";
    Forget => "A forgetting, cut off at each operation, and replayed files after it";
    Keys => "Wrong, missing and swapped keys; nonces are never used twice";
    Isolation => "Users whose ids look alike";
    Sensitivity => "Nothing above the caller's level is told";
    Parsers => "Bytes from outside";
    Vectors => "Odd vectors";
}

/// How much, and from which seed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// Decides everything.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Seconds in all; `all` shares them evenly.
    #[arg(long, conflicts_with = "count")]
    pub(crate) secs: Option<f64>,
    /// Checks of each mode, or `table`: the short form of the plan.
    #[arg(long)]
    pub(crate) count: Option<String>,
    /// Cases of each mode, each of one seed: what a failure says, to meet it again.
    #[arg(long)]
    pub(crate) cases: Option<u64>,
    /// Threads over cases.
    #[arg(long, default_value_t = 2)]
    pub(crate) jobs: usize,
    /// Where to write the results too.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Breaks the engine by number first (needs the feature `sabotage`).
    #[arg(long)]
    pub(crate) sabotage: Option<u32>,
}
