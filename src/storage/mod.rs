//! Shards, the store's directory, and their files. The one room that names redb.

mod backend;
mod directory;
mod fault;
mod read_view;
mod reserve;
mod shard;
mod snapshots;
mod write_set;

pub(crate) use directory::{Directory, Setup};
pub(crate) use read_view::ReadView;
pub(crate) use reserve::BYTES as RESERVE_BYTES;
pub(crate) use shard::{CACHE_BYTES, Look, Rebuilt, Shard, Sync};
pub(crate) use snapshots::{KeyFile, SnapshotReader, SnapshotWriter, Snapshots};
pub(crate) use write_set::{Staged, WriteSet};
