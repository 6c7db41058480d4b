//! What can be said on the command line.

mod memory;
mod query;
mod tools;
mod upkeep;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mnemic::memory::Sensitivity;

pub(crate) use memory::{CorrectArgs, MemoryFields, RememberArgs, UpdateArgs};
pub(crate) use query::{ContextArgs, ListArgs, QueryFields, RecallArgs, WhyArgs};
pub(crate) use tools::{BenchArgs, EmbedderChoice, EvalArgs, ExportArgs, ForgetArgs, ImportArgs, Legs, Phase};
pub(crate) use upkeep::{DoctorArgs, MaintainArgs, RestoreArgs, RotateArgs, SnapshotArgs};

/// Long-term memory for AI agents: remember, recall, correct, forget.
#[derive(Parser)]
#[command(
    name = "mnemic",
    version,
    arg_required_else_help = true,
    after_help = "Start with: mnemic demo\n\n\
    Exit codes: 0 done, 1 nothing found, 2 wrong use, 3 refused, 4 damaged, 5 I/O."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Directory of the store [default: ./memory; eval: a temporary one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Whose memories
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The highest sensitivity to see: public, personal, sensitive, secret
    #[arg(long, global = true, default_value_t = Sensitivity::Personal)]
    pub(crate) level: Sensitivity,
    /// Print one JSON document on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Environment variable that holds the store's passphrase
    #[arg(long, global = true, value_name = "VAR")]
    pub(crate) passphrase_env: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the main job on built-in memories; leaves nothing behind
    Demo,
    /// Store a memory, print its id
    Remember(RememberArgs),
    /// Find the best memories for a query
    Recall(RecallArgs),
    /// Pack what a prompt should know into a block, within a budget of tokens
    Context(ContextArgs),
    /// List memories in the order in which they were stored
    List(ListArgs),
    /// Show one memory in full
    Show {
        /// The memory
        id: String,
        /// Show what was done to it
        #[arg(long)]
        history: bool,
    },
    /// Say what keeps a memory from being found
    Why(WhyArgs),
    /// Forget a memory, or everything of a user, for good
    Forget(ForgetArgs),
    /// Check that what a receipt of a forgetting says still holds
    VerifyReceipt {
        /// As `forget` printed it
        receipt: String,
    },
    /// Replace a memory that turned out wrong; the old one stays in the history
    Correct(CorrectArgs),
    /// Change fields of a memory
    Update(UpdateArgs),
    /// The user agreed with a memory
    Confirm {
        /// The memory
        id: String,
    },
    /// Something spoke against a memory
    Contradict {
        /// The memory
        id: String,
    },
    /// Memories went into an answer
    Used {
        /// The memories
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// List the users who have memories
    Users,
    /// Store the memories of a JSONL file
    Import(ImportArgs),
    /// Print every memory as a line of JSON
    Export(ExportArgs),
    /// Embed the memories that have no vector yet
    Embed {
        /// Also those that another model embedded: from now on the built-in one is the store's
        #[arg(long)]
        change_model: bool,
    },
    /// Count what is stored
    Stats,
    /// Copy all memories, to go back to when something was a mistake; or list or delete such copies
    Snapshot(SnapshotArgs),
    /// Go back to a snapshot, with the user or with all of them
    Restore(RestoreArgs),
    /// Give the store a new master key, or a user a new key
    RotateKeys(RotateArgs),
    /// Rewrite files that are mostly free, trim histories, remove what was cut off
    Maintain(MaintainArgs),
    /// Look at every file, page and value, and name what is damaged
    Doctor(DoctorArgs),
    /// Measure recall on a labelled set
    Eval(EvalArgs),
    /// Run one phase of the peers' benchmark
    Bench(BenchArgs),
}
