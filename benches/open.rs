//! Bars 6 and 7: opening, opening after a kill, and the first recall of a user who is not in memory.
//!
//! `cargo bench --bench open`

mod common;

use std::path::Path;

use common::data::{self, DIMS};
use common::seconds;
use mnemic::memory::NewMemory;
use mnemic::{Query, Store};

const ROWS: usize = 10_000;
const ROUNDS: usize = 7;

fn fill(path: &Path, vectors: &[Vec<f32>]) -> Store {
    let store = Store::open(path).expect("a store");
    let user = store.user("ten thousand").expect("a user");
    for batch in vectors.chunks(1000) {
        let one = |vector: &Vec<f32>| NewMemory::note("something worth keeping ".repeat(12)).vector(vector.clone());
        user.remember_all(batch.iter().map(one)).expect("stored");
    }
    store
}

/// What a kill at this moment would leave: the files as they are.
#[expect(clippy::disallowed_methods, reason = "a bench copies files")]
fn copy(from: &Path, to: &Path) -> u64 {
    std::fs::create_dir_all(to).expect("a directory");
    let entries = std::fs::read_dir(from).expect("a directory");
    let each = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            std::fs::copy(entry.path(), target).expect("copied")
        }
    };
    entries.map(each).sum()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] * 1e3
}

fn main() {
    let vectors = data::clustered(ROWS, 1);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    let store = fill(&path, &vectors.rows);
    let killed: Vec<_> = (0..ROUNDS).map(|i| dir.path().join(format!("killed {i}"))).collect();
    let bytes: u64 = killed.iter().map(|to| copy(&path, to)).sum::<u64>() / ROUNDS as u64;
    store.close().expect("closed");
    drop(store);
    let query = Query::vector(vectors.queries[0].clone());
    let (mut opened, mut reopened, mut cold, mut warm) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for killed in &killed {
        let (time, store) = seconds(|| Store::open(&path).expect("a store"));
        opened.push(time);
        let user = store.user("ten thousand").expect("a user");
        cold.push(seconds(|| user.recall(&query).expect("hits")).0);
        warm.push(seconds(|| user.recall(&query).expect("hits")).0);
        store.close().expect("closed");
        drop((user, store));
        let (time, store) = seconds(|| Store::open(killed).expect("a store"));
        reopened.push(time);
        drop(store);
    }
    let (opened, reopened, cold, warm) = (median(opened), median(reopened), median(cold), median(warm));
    println!("\nstore of {ROWS} rows x {DIMS}, {} MB", bytes / 1_000_000);
    println!("open {opened:.1} ms; after a kill {reopened:.1} ms, ratio {:.2}", reopened / opened);
    println!("first recall {cold:.1} ms, next {warm:.3} ms, ratio {:.0}", cold / warm);
    common::criterion().bench_function("open and close", |bench| {
        bench.iter(|| Store::open(&path).and_then(|store| store.close()));
    });
}
