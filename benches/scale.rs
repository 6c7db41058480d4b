//! Bars 7 and 8: reopening a gigabyte after a kill, and the memory that a million users take while nobody calls.
//!
//! `cargo bench --bench scale`; `MNEMIC_SCALE_USERS` and `MNEMIC_SCALE_ROWS` make it smaller.

mod common;

use std::path::Path;
use std::process::Command;

use common::data;
use common::seconds;
use mnemic::memory::NewMemory;
use mnemic::{Durability, Query, Store};

const USERS: usize = 1_000_000;
const ROWS: usize = 500_000;
const ROWS_A_USER: usize = 10_000;
const WRITERS: usize = 64;
/// Set for the child that is killed or measured.
const CHILD: &str = "MNEMIC_SCALE_CHILD";

fn size(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[expect(clippy::disallowed_methods, reason = "a bench looks at the disk and at its own memory")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a bench looks at the disk")]
fn bytes_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|e| if e.path().is_dir() { bytes_of(&e.path()) } else { e.metadata().map_or(0, |m| m.len()) }).sum()
}

/// A line of `/proc/self/status` in KiB.
fn status(field: &str) -> u64 {
    let text = read("/proc/self/status");
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
}

/// Fills a gigabyte and is killed in the middle of the next write.
fn fill(path: &Path) -> ! {
    let vectors = data::clustered(ROWS_A_USER, 0).rows;
    let store = Store::open(path).expect("a store");
    for number in 0..size("MNEMIC_SCALE_ROWS", ROWS) / ROWS_A_USER {
        let user = store.user(&format!("user {number}")).expect("a user");
        for batch in vectors.chunks(1000) {
            let one = |vector: &Vec<f32>| NewMemory::note("something worth keeping ".repeat(12)).vector(vector.clone());
            user.remember_all(batch.iter().map(one)).expect("stored");
        }
    }
    std::process::abort()
}

/// Opens, reports its own memory and how long it took, and does nothing else.
fn open(path: &Path) {
    let before = status("VmRSS:");
    let (time, store) = seconds(|| Store::open(path).expect("a store"));
    println!("open {:.1} ms; resident {} MiB, {} MiB of them before", time * 1e3, status("VmRSS:") >> 10, before >> 10);
    drop(store);
}

fn child(mode: &str, path: &Path) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.env(CHILD, mode).arg(path);
    command.status().expect("a child");
}

fn million(path: &Path) {
    let users = size("MNEMIC_SCALE_USERS", USERS);
    let store = Store::builder(path).durability(Durability::Relaxed { every: 1000 }).open().expect("a store");
    let (time, ()) = seconds(|| {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let store = &store;
                scope.spawn(move || {
                    for number in (writer..users).step_by(WRITERS) {
                        let user = store.user(&format!("user {number}")).expect("a user");
                        user.remember(NewMemory::note("likes tea")).expect("stored");
                    }
                });
            }
        });
    });
    println!("{users} users in {time:.0} s");
    store.close().expect("closed");
}

/// What the shard of ten thousand rows takes after maintenance, against vector, text and metadata.
fn disk(path: &Path) {
    const METADATA: usize = 64;
    let text = "something worth keeping ".repeat(12);
    let store = Store::builder(path).shards(1).open().expect("a store");
    let user = store.user("ten thousand").expect("a user");
    for batch in data::clustered(ROWS_A_USER, 0).rows.chunks(1000) {
        let one = |vector: &Vec<f32>| NewMemory::note(text.clone()).vector(vector.clone());
        user.remember_all(batch.iter().map(one)).expect("stored");
    }
    let before = bytes_of(&path.join("shards"));
    store.maintain(std::time::Duration::from_secs(60)).expect("maintained");
    store.close().expect("closed");
    let (bytes, rows) = (bytes_of(&path.join("shards")), ROWS_A_USER as u64);
    let bare = rows * (data::DIMS * size_of::<f32>() + text.len() + METADATA) as u64;
    let ratio = |bytes: u64| bytes as f64 / bare as f64;
    println!(
        "disk of {rows} rows: {:.2} of vector, text and {METADATA} bytes of metadata each; {:.2} before maintenance",
        ratio(bytes),
        ratio(before)
    );
}

fn main() {
    let mode = std::env::var(CHILD).unwrap_or_default();
    let given = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "fill" => fill(Path::new(&given)),
        "open" => return open(Path::new(&given)),
        _ => {}
    }
    let dir = tempfile::tempdir().expect("a directory");
    disk(&dir.path().join("disk"));
    let path = dir.path().join("killed");
    child("fill", &path);
    println!("\nreopen after a kill, {} MB:", bytes_of(&path) / 1_000_000);
    child("open", &path);
    println!("opened after a clean close:");
    child("open", &path);
    let store = Store::open(&path).expect("a store");
    let user = store.user("user 0").expect("a user");
    let query = Query::vector(vec![1.0; data::DIMS]);
    println!("first recall {:.1} ms", seconds(|| user.recall(&query).expect("hits")).0 * 1e3);
    store.close().expect("closed");
    let path = dir.path().join("million");
    million(&path);
    println!("disk {} MB", bytes_of(&path) / 1_000_000);
    child("open", &path);
}
