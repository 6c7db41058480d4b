//! What a user of the library touches.

mod builder;
mod context;
mod correction;
mod explanation;
mod hit;
mod list;
mod query;
mod stats;
mod store;
mod trace;
mod update;
mod user;

pub use builder::Builder;
pub use context::{Context, ContextOptions, Omission, PromptLanguage};
pub use correction::Correction;
pub use explanation::Explanation;
pub use hit::{Hit, IdHit, Recall};
pub use list::{Cursor, ListOptions, MemoryPage, UserCursor, UserPage};
pub use query::Query;
pub use stats::StoreStats;
pub use store::Store;
pub use trace::{Trace, TraceId, TracedHit};
pub use update::Update;
pub use user::User;
