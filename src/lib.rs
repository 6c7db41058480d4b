//! Embedded long-term memory for AI agents.
#![deny(unsafe_code)]

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
    PromptLanguage, Query, Recall, Store, StoreStats, Update, User, UserCursor, UserPage,
};
#[cfg(feature = "builtin-embedder")]
pub use embed::BuiltinEmbedder;
pub use embed::{EmbedError, Embedder, HashedNgrams, Purpose};
pub use engine::{Change, Durability, EmptyReason, Forgotten, LegSwitches, UserStats, WhyNot};
pub use error::{Error, ErrorKind, Result};
pub use index::{Comparison, Filter};
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use index::{Lab, LabAnswer, LabQuery, LabRow, lab_kernels};
pub use policy::score::Curve;
pub use seal::MasterKey;
