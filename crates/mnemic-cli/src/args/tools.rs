//! Commands on many memories, and measurements.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct ForgetArgs {
    /// The memory
    #[arg(required_unless_present = "all_of_user", conflicts_with = "all_of_user")]
    pub(crate) id: Option<String>,
    /// Everything of the user
    #[arg(long)]
    pub(crate) all_of_user: bool,
    /// Don't ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// One JSON object a line, with "text" and any field of an export; - is stdin
    pub(crate) file: PathBuf,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// With all that is known of each memory, for `import` to read back without a loss
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Args)]
pub(crate) struct EvalArgs {
    /// Directory with memories.jsonl, queries.jsonl and their embeddings
    pub(crate) dir: PathBuf,
    /// What is searched
    #[arg(long, value_enum, default_value_t = Legs::Hybrid)]
    pub(crate) legs: Legs,
    /// Leave age out of the score
    #[arg(long)]
    pub(crate) no_decay: bool,
    /// Also try other shares and curves, one change at a time
    #[arg(long)]
    pub(crate) sweep: bool,
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
    /// The built-in model
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
    /// Let recalls miss some hits: this part of them is enough [default: exact]
    #[arg(long, value_name = "RECALL")]
    pub(crate) approximate: Option<f64>,
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
