//! Bar 5, and how long an insertion can wait for the index.
//!
//! `cargo bench --bench write`, or with `-- bulk` that alone; ratios to raw fdatasync and to one commit a call, measured in the same run.

mod common;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use common::data::{self, DIMS};
use common::seconds;
use mnemic::memory::NewMemory;
use mnemic::{Lab, Store};

const CALLS: usize = 400;

fn note(number: usize, vector: &[f32]) -> NewMemory {
    NewMemory::note(format!("note {number}: {}", "something worth keeping ".repeat(12))).vector(vector)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[expect(clippy::disallowed_methods, reason = "a bench asks the disk itself")]
fn raw_sync(dir: &Path) -> f64 {
    let mut file = File::create(dir.join("raw")).expect("a file");
    let mut once = || {
        file.write_all(&[7; 512]).expect("written");
        file.sync_data().expect("synced");
    };
    median((0..CALLS).map(|_| seconds(&mut once).0).collect())
}

/// Durable writes a second by so many threads, each with a user of its own.
fn rate(store: &Store, threads: usize, calls: usize, vectors: &[Vec<f32>]) -> f64 {
    let (time, ()) = seconds(|| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    let user = store.user(&format!("writer {threads} {thread}")).expect("a user");
                    for call in 0..calls {
                        let number = thread * calls + call;
                        user.remember(note(number, &vectors[number % vectors.len()])).expect("remembered");
                    }
                });
            }
        });
    });
    (threads * calls) as f64 / time
}

fn durable(vectors: &[Vec<f32>]) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(dir.path().join("store")).expect("a store");
    let user = store.user("alone").expect("a user");
    let mut number = 0;
    let mut once = || {
        number += 1;
        user.remember(note(number, &vectors[number % vectors.len()])).expect("remembered");
    };
    let sync = raw_sync(dir.path());
    let alone = median((0..CALLS).map(|_| seconds(&mut once).0).collect());
    println!("\nraw fdatasync: {:.0} us; durable remember, one writer: {:.0} us", sync * 1e6, alone * 1e6);
    println!("remember / fdatasync: {:.2}", alone / sync);
    let each = rate(&store, 1, CALLS, vectors);
    for (threads, calls) in [(16, 100), (64, 50)] {
        let all = rate(&store, threads, calls, vectors);
        println!("{threads} writers: {all:.0} writes/s; a commit a call: {each:.0}/s; ratio {:.1}", all / each);
    }
}

fn bulk(vectors: &[Vec<f32>]) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(dir.path().join("store")).expect("a store");
    let user = store.user("bulk").expect("a user");
    let (time, ()) = seconds(|| {
        for batch in vectors.chunks(1000) {
            let all = user.remember_all(batch.iter().enumerate().map(|(i, vector)| note(i, vector))).expect("stored");
            assert!(all.iter().all(Result::is_ok));
        }
    });
    println!("bulk load in batches of 1,000: {:.0} rows/s", vectors.len() as f64 / time);
}

/// The longest that one insertion into the index takes while it grows.
fn stalls(vectors: &[Vec<f32>], rows: u32) {
    let samples = data::rows(vectors, false);
    let mut lab = Lab::load(DIMS, None, &[]).expect("an empty index");
    let mut times = Vec::with_capacity(rows as usize);
    for number in 0..rows {
        let row = &samples[number as usize % samples.len()];
        times.push(seconds(|| lab.insert(number, row).expect("inserted")).0);
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[(times.len() as f64 * part) as usize] * 1e3;
    println!(
        "index of {rows} rows: insertion {:.2} us in the mean, {:.3} ms at 99.9 %, {:.2} ms at most, {} over 20 ms",
        mean * 1e6,
        at(0.999),
        times[times.len() - 1] * 1e3,
        times.iter().filter(|&&time| time > 0.02).count(),
    );
}

fn main() {
    let vectors = data::clustered(20_000, 0).rows;
    if std::env::args().any(|arg| arg == "bulk") {
        return (0..5).for_each(|_| bulk(&vectors));
    }
    durable(&vectors);
    bulk(&vectors);
    stalls(&vectors, 1_000_000);
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(dir.path().join("store")).expect("a store");
    let user = store.user("criterion").expect("a user");
    let mut number = 0;
    common::criterion().bench_function("remember, durable, one writer", |bench| {
        bench.iter(|| {
            number += 1;
            user.remember(note(number, &vectors[number % vectors.len()]))
        });
    });
}
