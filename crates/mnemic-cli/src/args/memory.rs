//! Commands that write one memory.

use clap::Args;
use mnemic::memory::{Evidence, Kind, MetaValue, Sensitivity, Timestamp, Visibility};

use super::values;

#[derive(Args)]
pub(crate) struct RememberArgs {
    /// What is remembered
    pub(crate) text: String,
    /// episode, fact, preference, rejection, goal, task, procedure, action, note
    #[arg(long, default_value_t = Kind::Note)]
    pub(crate) kind: Kind,
    /// What a fact is about, such as user.city
    #[arg(long, value_name = "SUBJECT.ATTRIBUTE", value_parser = values::slot)]
    pub(crate) slot: Option<(String, String)>,
    /// Its language (BCP 47)
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// stated, confirmed, observed, inferred, assumed
    #[arg(long)]
    pub(crate) evidence: Option<Evidence>,
    /// When it came about [default: now]
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) created_at: Option<Timestamp>,
    /// A UUID of your own [default: a new one]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Suspected only: recall passes it over until it is confirmed
    #[arg(long)]
    pub(crate) candidate: bool,
    /// Never fades
    #[arg(long)]
    pub(crate) pinned: bool,
    #[command(flatten)]
    pub(crate) fields: MemoryFields,
}

/// Fields that can be given at first and changed later.
#[derive(Args)]
pub(crate) struct MemoryFields {
    /// The value of its slot
    #[arg(long)]
    pub(crate) value: Option<String>,
    /// A tag; may be repeated
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// Where or in what setting it belongs
    #[arg(long)]
    pub(crate) scene: Option<String>,
    /// Who said it
    #[arg(long)]
    pub(crate) speaker: Option<String>,
    /// How much it matters, 0 to 1
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) importance: Option<f32>,
    /// How sure it is, 0 to 1
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) confidence: Option<f32>,
    /// public, personal, sensitive, secret
    #[arg(long)]
    pub(crate) sensitivity: Option<Sensitivity>,
    /// quote, inform, withhold
    #[arg(long)]
    pub(crate) visibility: Option<Visibility>,
    /// When what it tells happened
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) event_at: Option<Timestamp>,
    /// Since when it holds
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) valid_from: Option<Timestamp>,
    /// Until when it holds
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) valid_to: Option<Timestamp>,
    /// Free metadata, an integer, a float, true or false, else text; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::metadata)]
    pub(crate) metadata: Vec<(String, MetaValue)>,
}

#[derive(Args)]
pub(crate) struct CorrectArgs {
    /// The memory that is wrong
    pub(crate) id: String,
    /// What is right
    pub(crate) text: String,
    /// The right value of its slot
    #[arg(long)]
    pub(crate) value: Option<String>,
    /// When what it tells happened
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    pub(crate) event_at: Option<Timestamp>,
}

#[derive(Args)]
pub(crate) struct UpdateArgs {
    /// The memory
    pub(crate) id: String,
    /// What is remembered
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Take a tag away; may be repeated
    #[arg(long)]
    pub(crate) untag: Vec<String>,
    /// Take an entry of the metadata away; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) without_metadata: Vec<String>,
    /// Never fades, or does
    #[arg(long, value_name = "BOOL")]
    pub(crate) pinned: Option<bool>,
    /// Take it out of recall, and keep it
    #[arg(long, conflicts_with = "unarchive")]
    pub(crate) archive: bool,
    /// Put an archived memory back in use
    #[arg(long)]
    pub(crate) unarchive: bool,
    /// Only if the memory is at this version
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<u32>,
    #[command(flatten)]
    pub(crate) fields: MemoryFields,
}
