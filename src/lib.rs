//! Embedded long-term memory for AI agents: one store is one directory, many users, no server.
//!
//! Open a [`Store`], take a [`User`], [`remember`](User::remember) and [`recall`](User::recall):
//!
//! ```
//! use mnemic::{Query, Store, memory::NewMemory};
//!
//! # fn main() -> mnemic::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("memory");
//! let store = Store::open(&path)?;
//! let ada = store.user("ada")?;
//! ada.remember(NewMemory::preference("Prefers window seats"))?;
//! let hits = ada.recall(Query::text("window or aisle?"))?;
//! assert_eq!(hits[0].memory().text(), "Prefers window seats");
//! # Ok(())
//! # }
//! ```
//!
//! Texts are found by their words in any script; with an [`Embedder`] also by their meaning. Every hit
//! [explains](Hit::explain) its score. What is [forgotten](User::forget) is left under keys that no longer exist.
#![deny(unsafe_code)]

#[macro_use]
#[cfg_attr(not(feature = "sabotage"), doc(hidden))]
pub mod sabotage;

mod api;
mod codec;
mod embed;
mod engine;
mod error;
mod index;
mod kernel;
pub mod memory;
mod policy;
mod seal;
mod storage;
mod text;
#[cfg(not(feature = "testing"))]
mod world;
#[cfg(feature = "testing")]
pub mod world;

pub use api::{
    Builder, Context, ContextOptions, Correction, Cursor, Explanation, Hit, IdHit, ListOptions, MemoryPage, Omission,
    PromptLanguage, Query, Recall, Store, StoreStats, Trace, TraceId, TracedHit, Update, User, UserCursor, UserPage,
};
#[cfg(feature = "builtin-embedder")]
pub use embed::BuiltinEmbedder;
pub use embed::{EmbedError, Embedder, HashedNgrams, Purpose};
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use engine::doors::{PARSERS, READINGS, samples};
pub use engine::{
    Change, Damage, Diagnosis, Durability, EmbedProgress, EmptyReason, Exported, Forgotten, Imported, LegSwitches,
    Maintenance, Receipt, Repaired, Restored, Snapshot, UserStats, Verdict, WhyNot,
};
pub use error::{Error, ErrorKind, Result};
pub use index::{Comparison, Filter};
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use index::{Lab, LabAnswer, LabQuery, LabRow, lab_kernels};
pub use policy::relevance::Shares;
pub use policy::score::Curve;
pub use seal::MasterKey;
