//! What the tests share: worlds in memory, a plain model of a store, and what a store really holds.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::path::Path;

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, StatusKind};
use mnemic::world::testing::{RecordingFs, SplitMix64, TestWorld};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{Builder, ListOptions, Result, Store};

pub const DIMS: usize = 16;
pub const PATH: &str = "store";

/// A builder over a file system in memory, with one shard and no reserve.
pub fn builder(world: &TestWorld) -> Builder {
    Store::builder(PATH).world(world.world()).shards(1).reserve_bytes(0)
}

/// A world of its own over `fs`.
pub fn world_over(fs: &RecordingFs, seed: u64) -> TestWorld {
    TestWorld::with_fs(seed, fs.clone())
}

/// A random vector, not normalised.
pub fn vector(random: &mut SplitMix64) -> Vec<f32> {
    (0..DIMS).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).map(|x| if x == 0.0 { 0.5 } else { x }).collect()
}

pub fn id(number: u64) -> MemoryId {
    MemoryId::from_u128(u128::from(number))
}

/// What is comparable of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub text: String,
    pub status: StatusKind,
    pub version: u32,
}

/// User -> id -> memory.
pub type State = BTreeMap<String, BTreeMap<MemoryId, Seen>>;

/// Everything that a store holds, read through its public API.
pub fn state_of(store: &Store) -> Result<State> {
    let mut state = State::new();
    let mut after = None;
    loop {
        let page = store.users(after, 3)?;
        for user in &page.users {
            let handle = store.user(user.as_str())?.with_level(Sensitivity::Secret);
            let memories = handle.list(ListOptions::new().limit(usize::MAX))?;
            assert!(memories.damaged.is_empty(), "{:?}", memories.damaged);
            let seen = memories
                .memories
                .iter()
                .map(|m| (m.id(), Seen { text: m.text().to_owned(), status: m.status().kind(), version: m.version() }));
            state.insert(user.as_str().to_owned(), seen.collect());
        }
        after = page.next;
        if after.is_none() {
            return Ok(state);
        }
    }
}

/// A note with an id and a vector.
pub fn note(number: u64, text: &str, vector: Vec<f32>) -> NewMemory {
    NewMemory::note(text).id(id(number)).vector(vector)
}

/// A file of the store.
pub fn read(fs: &RecordingFs, file: &str) -> Vec<u8> {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::Read).unwrap();
    let mut bytes = vec![0; open.len().unwrap() as usize];
    open.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Replaces the contents of a file of the store.
pub fn write(fs: &RecordingFs, file: &str, bytes: &[u8]) {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::ReadWrite).unwrap();
    open.set_len(bytes.len() as u64).unwrap();
    open.write_at(0, bytes).unwrap();
}
