//! The engine against those who know its insides.

mod attacker;
mod erasure;
mod newer;
mod read_ahead;
mod reindex;
mod stale_row;
mod text_recall;

use std::path::Path;

use crate::engine::{Core, Durability, Settings};
use crate::kernel::Dispatch;
use crate::seal::MasterKey;
use crate::storage::Setup;
use crate::world::testing::{RecordingFs, TestWorld};

/// The store of one shard that lies in `fs`, made where there is none.
fn open(fs: &RecordingFs, seed: u64) -> Core {
    open_in(&TestWorld::with_fs(seed, fs.clone()), 1 << 20)
}

fn open_in(world: &TestWorld, cache_bytes: usize) -> Core {
    let setup = Setup { master: master(), shards: Some(1), create: true, reserve_bytes: 0, suite: None };
    let settings = Settings {
        durability: Durability::Durable,
        cache_bytes,
        kernel: Dispatch::best(),
        embedder: None,
        rewrite_min_bytes: 0,
    };
    Core::open(world.world(), Path::new(PATH), &setup, settings).unwrap()
}

const PATH: &str = "store";

fn master() -> MasterKey {
    MasterKey::callback(|| Ok([7; 32]))
}
