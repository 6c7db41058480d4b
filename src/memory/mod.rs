//! The vocabulary: what a memory is, who owns it, how it is classed, and every limit.

mod id;
mod kind;
pub mod limits;
mod metadata;
mod named;
mod new_memory;
mod record;
mod sensitivity;
mod slot;
mod snapshot_id;
mod source;
mod space;
mod status;
mod time;
mod user_id;
mod vector;
mod verb;

pub use id::MemoryId;
pub use kind::{Evidence, Kind};
pub use metadata::{MetaValue, Metadata};
pub use new_memory::NewMemory;
pub(crate) use new_memory::check;
pub use record::Memory;
pub use sensitivity::{Sensitivity, Visibility};
pub use slot::{Cardinality, Slot};
pub use snapshot_id::SnapshotId;
pub use source::{Source, Trust, Turn};
pub(crate) use space::space_code;
pub use space::{Calibration, Space};
pub use status::{ArchiveReason, Status, StatusKind, SupersedeReason};
pub use time::Timestamp;
pub use user_id::UserId;
pub use vector::Vector;
pub use verb::Verb;
