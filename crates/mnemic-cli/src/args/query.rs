//! Commands that read.

use clap::Args;
use mnemic::memory::{Kind, StatusKind, Timestamp};

use super::values;

#[derive(Args)]
pub(crate) struct RecallArgs {
    /// What is asked
    pub(crate) query: String,
    /// Show how each score came about
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) fields: QueryFields,
}

#[derive(Args)]
pub(crate) struct WhyArgs {
    /// The memory, or the trace of an answer, such as trace-17
    pub(crate) id: String,
    /// What is asked; none for a trace
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) fields: QueryFields,
}

#[derive(Args)]
pub(crate) struct ContextArgs {
    /// What is asked
    pub(crate) query: String,
    /// At most this many tokens, all counted
    #[arg(long, default_value_t = 1000, value_name = "TOKENS")]
    pub(crate) budget: usize,
    #[command(flatten)]
    pub(crate) fields: QueryFields,
}

/// How a query is scored and cut.
#[derive(Args)]
pub(crate) struct QueryFields {
    /// At most this many hits
    #[arg(long, default_value_t = 10)]
    pub(crate) limit: usize,
    /// Only of this kind
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
    /// Only with this tag; may be repeated
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// Only said by this speaker
    #[arg(long)]
    pub(crate) speaker: Option<String>,
    /// Only of this scene
    #[arg(long)]
    pub(crate) scene: Option<String>,
    /// The least score of a hit
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) min_score: Option<f64>,
    /// The time that ages count to [default: now]
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) at: Option<Timestamp>,
    /// Only what was known and held then
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) as_of: Option<Timestamp>,
    /// Scores halve in so many days
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true, group = "curve")]
    pub(crate) half_life: Option<f64>,
    /// Scores fall by exp(-RATE) a day [default: 0.005]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, group = "curve")]
    pub(crate) lambda: Option<f64>,
    /// Age does not count
    #[arg(long, group = "curve")]
    pub(crate) no_decay: bool,
    /// Keep which memories the answer used; `mnemic why` tells later
    #[arg(long)]
    pub(crate) trace: bool,
    /// The part of a score that no age takes away, 0 to 1 [default: 0.9]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) floor: Option<f64>,
}

#[derive(Args)]
pub(crate) struct ListArgs {
    /// At most this many
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: usize,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<u32>,
    /// Only of this kind
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
    /// Only with this tag; may be repeated
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// active, candidate, superseded, archived; may be repeated
    #[arg(long)]
    pub(crate) status: Vec<StatusKind>,
}
