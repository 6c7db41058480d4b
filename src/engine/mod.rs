//! What does things: commits, reads, recalls, erases.

mod bind;
mod calibrate;
mod change;
mod commit;
mod commit_queue;
mod context;
mod core;
mod forget;
mod forget_user;
mod full_vectors;
mod head;
mod job;
pub(crate) mod kernels;
mod load;
mod load_words;
mod maintain;
mod rank;
mod read;
mod recall;
mod remember;
mod rows;
mod snapshot;
mod spaces;
mod stored_row;
mod stream;
mod text_legs;
mod transaction;
mod trim;
mod user_cell;
mod user_index;
mod user_writer;
mod why_not;
mod words;

pub(crate) use crate::index::Filter;
pub(crate) use crate::policy::upkeep::REWRITE_MIN_BYTES;
pub(crate) use crate::storage::{RESERVE_BYTES, Setup};
pub(crate) use change::{Edit, VectorEdit};
pub(crate) use context::{Block, Item, Layout, pack};
pub use core::Durability;
pub(crate) use core::{Core, Settings};
pub use forget::Forgotten;
pub use maintain::Maintenance;
pub(crate) use read::Listing;
pub use read::{Change, UserStats};
pub use recall::EmptyReason;
pub(crate) use recall::{Ask, Ranking, Recalled, Scored, Statuses};
pub use snapshot::{Restored, Snapshot};
pub use text_legs::LegSwitches;
pub(crate) use text_legs::RowLegs;
pub use why_not::WhyNot;

#[cfg(test)]
mod tests;
