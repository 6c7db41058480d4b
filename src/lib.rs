//! Embedded long-term memory for AI agents.
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
    Builder, Correction, Cursor, Explanation, Hit, IdHit, ListOptions, MemoryPage, Query, Recall, Store, StoreStats,
    Update, User, UserCursor, UserPage,
};
pub use embed::{EmbedError, Embedder, HashedNgrams, Purpose};
pub use engine::{Change, Durability, EmptyReason, Forgotten, UserStats, WhyNot};
pub use error::{Error, ErrorKind, Result};
pub use index::{Comparison, Filter};
pub use policy::score::Curve;
pub use seal::MasterKey;
