//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Long-term memory for AI agents: remember, recall, correct, forget.
#[derive(Parser)]
#[command(name = "mnemic", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Global {
    /// Directory of the store [default: ./memory; eval: a temporary one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure recall on a labelled set
    Eval(EvalArgs),
    /// Run one phase of the peers' benchmark
    Bench(BenchArgs),
}

#[derive(Args)]
pub(crate) struct EvalArgs {
    /// Directory with memories.jsonl, queries.jsonl and their embeddings
    pub(crate) dir: PathBuf,
    /// What is searched
    #[arg(long, value_enum, default_value_t = Legs::Dense)]
    pub(crate) legs: Legs,
    /// Leave age out of the score
    #[arg(long)]
    pub(crate) no_decay: bool,
    /// Where vectors come from
    #[arg(long, value_enum, default_value_t = EmbedderChoice::Stored)]
    pub(crate) embedder: EmbedderChoice,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Legs {
    Dense,
    Lexical,
    Hybrid,
}

impl std::fmt::Display for Legs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dense => "dense",
            Self::Lexical => "lexical",
            Self::Hybrid => "hybrid",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmbedderChoice {
    /// The hashed n-grams of the library
    Builtin,
    /// The .npy files of the set
    Stored,
}

#[derive(Args)]
pub(crate) struct BenchArgs {
    pub(crate) phase: Phase,
    /// Workload: header.json and its arrays
    pub(crate) data: PathBuf,
    /// Directory of the store under test
    pub(crate) db: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    Build,
    Serve,
    Add,
    Syncs,
    Crash,
    Verify,
    Delete,
}
