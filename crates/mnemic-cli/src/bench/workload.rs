//! The workload's files, and rows of our own beside them.

use std::path::{Path, PathBuf};

use mnemic::memory::{MemoryId, NewMemory, Timestamp};
use serde::Deserialize;

use crate::failure::{Failure, Result};

/// A UUID whose low bits are the row.
const ID_BASE: u128 = 0x6d6e_656d_6963_4000_8000_0000_0000_0000;

#[derive(Deserialize)]
struct Header {
    dim: usize,
    users: usize,
    rows_per_user: usize,
    now: i64,
    k: usize,
}

/// A workload. The vectors of the rows are read on demand: only some phases need them.
pub(crate) struct Workload {
    dir: PathBuf,
    header: Header,
    created: Vec<i64>,
    importance: Vec<f32>,
    queries: Vec<f32>,
    query_user: Vec<u32>,
}

/// A row that is not in the files.
pub(crate) struct Extra {
    pub(crate) row: usize,
    pub(crate) user: usize,
    pub(crate) vector: Vec<f32>,
}

impl Workload {
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join("header.json");
        let bytes = std::fs::read(&path).map_err(|error| Failure::file(&path, &error))?;
        let header: Header = serde_json::from_slice(&bytes)?;
        let created = array(dir, "created_at.i64", i64::from_le_bytes)?;
        let importance = array(dir, "importance.f32", f32::from_le_bytes)?;
        let queries = array(dir, "queries.f32", f32::from_le_bytes)?;
        let query_user = array(dir, "query_user.u32", u32::from_le_bytes)?;
        let data = Self { dir: dir.to_owned(), header, created, importance, queries, query_user };
        let fits = data.created.len() == data.rows()
            && data.importance.len() == data.rows()
            && data.queries.len() == data.query_user.len() * data.dims()
            && data.query_count() > 0
            && data.rows() > 0;
        if fits { Ok(data) } else { Err(Failure::usage(format!("{}: arrays and header differ", dir.display()))) }
    }

    pub(crate) fn vectors(&self) -> Result<Vec<f32>> {
        let vectors = array(&self.dir, "vectors.f32", f32::from_le_bytes)?;
        let fits = vectors.len() == self.rows() * self.dims();
        if fits { Ok(vectors) } else { Err(Failure::usage("vectors.f32: its length is not that of the header")) }
    }

    /// The exact answer of each query in a mode, best first.
    pub(crate) fn truth(&self, mode: &str) -> Result<Vec<u32>> {
        let truth = array(&self.dir, &format!("truth_{mode}.u32"), u32::from_le_bytes)?;
        let fits = truth.len() == self.query_count() * self.k();
        if fits { Ok(truth) } else { Err(Failure::usage(format!("truth_{mode}.u32: not of the header's length"))) }
    }

    pub(crate) fn users(&self) -> usize {
        self.header.users
    }

    pub(crate) fn rows_per_user(&self) -> usize {
        self.header.rows_per_user
    }

    pub(crate) fn rows(&self) -> usize {
        self.header.users * self.header.rows_per_user
    }

    pub(crate) fn dims(&self) -> usize {
        self.header.dim
    }

    pub(crate) fn k(&self) -> usize {
        self.header.k
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.header.now)
    }

    pub(crate) fn query_count(&self) -> usize {
        self.query_user.len()
    }

    pub(crate) fn query(&self, number: usize) -> (u32, &[f32]) {
        let dims = self.dims();
        (self.query_user[number], &self.queries[number * dims..(number + 1) * dims])
    }

    /// The users that are asked, each once.
    pub(crate) fn asked_users(&self) -> Vec<u32> {
        let mut users = self.query_user.clone();
        users.sort_unstable();
        users.dedup();
        users
    }

    pub(crate) fn memory(&self, row: usize, vectors: &[f32]) -> NewMemory {
        let (user, dims) = (row / self.rows_per_user(), self.dims());
        NewMemory::note(text(user, row))
            .id(id_of(row))
            .created_at(Timestamp::from_seconds(self.created[row]))
            .importance(self.importance[row])
            .vector(&vectors[row * dims..(row + 1) * dims])
    }

    /// The i-th row added after the load: a fixed pseudo-random direction, far from every other.
    pub(crate) fn extra(&self, i: usize) -> Extra {
        let mut x = 0x0139_408d_cbbf_7a44 ^ (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let vector = std::iter::repeat_with(|| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 40) as f32 / (1u32 << 24) as f32 - 0.5
        });
        Extra { row: self.rows() + i, user: i % self.users(), vector: vector.take(self.dims()).collect() }
    }

    pub(crate) fn extra_memory(&self, extra: &Extra) -> NewMemory {
        NewMemory::note(text(extra.user, extra.row))
            .id(id_of(extra.row))
            .created_at(Timestamp::from_seconds(self.header.now - 60))
            .importance(0.9)
            .vector(extra.vector.as_slice())
    }
}

/// What every text of the user begins with.
pub(crate) fn marker(user: usize) -> String {
    format!("MNEMARK-{user:06}-")
}

pub(crate) fn row_of(id: MemoryId) -> u64 {
    u128::from_be_bytes(*id.as_bytes()) as u64 & (u64::MAX >> 1)
}

fn text(user: usize, row: usize) -> String {
    format!("MNEMARK-{user:06}-{row:08} the user said something worth remembering about topic {}", row % 100)
}

fn id_of(row: usize) -> MemoryId {
    MemoryId::from_u128(ID_BASE | row as u128)
}

fn array<const N: usize, T>(dir: &Path, name: &str, read: fn([u8; N]) -> T) -> Result<Vec<T>> {
    let path = dir.join(name);
    let bytes = std::fs::read(&path).map_err(|error| Failure::file(&path, &error))?;
    Ok(bytes.as_chunks().0.iter().map(|chunk| read(*chunk)).collect())
}
