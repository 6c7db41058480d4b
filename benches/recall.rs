//! Bars 1, 2 and 4: recall against the naive loop and against the read roof.
//!
//! `cargo bench --bench recall`; the tables come first, each ratio from runs in turns.

mod common;

use std::hint::black_box;

use common::data::{self, DIMS, NOW};
use common::in_turns;
use common::naive::Naive;
use mnemic::memory::{NewMemory, Timestamp};
use mnemic::{Curve, Lab, LabQuery, LabRow, Query, Store};

struct Case {
    name: &'static str,
    equal: bool,
    lambda: f64,
    floor: f64,
}

const fn case(name: &'static str, equal: bool, lambda: f64, floor: f64) -> Case {
    Case { name, equal, lambda, floor }
}

const CASES: [Case; 7] = [
    case("equal weights, lambda 0", true, 0.0, 0.0),
    case("uniform, lambda 0", false, 0.0, 0.0),
    case("uniform, lambda .005", false, 0.005, 0.0),
    case("uniform, lambda .05", false, 0.05, 0.0),
    case("uniform, lambda .3", false, 0.3, 0.0),
    case("equal, lambda .005, floor .9", true, 0.005, 0.9),
    case("uniform, lambda .005, floor .9", false, 0.005, 0.9),
];

fn ask<'a>(vector: &'a [f32], case: &Case) -> LabQuery<'a> {
    LabQuery { vector, lambda: case.lambda, floor: case.floor, now: NOW, k: 10, approximate: None, odd_only: false }
}

fn scan_table(title: &str, vectors: &data::Vectors) {
    println!("\n{title}: {} rows x {DIMS}, one thread", vectors.rows.len());
    println!("| case | naive us | ours us | naive / ours | roof / ours | scan / roof | scanned | reranked |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let (equal, uniform) = (data::rows(&vectors.rows, true), data::rows(&vectors.rows, false));
    for equal_weights in [true, false] {
        let rows = if equal_weights { &equal } else { &uniform };
        let (lab, naive) = (Lab::load(DIMS, None, rows).expect("valid rows"), Naive::new(rows));
        for case in CASES.iter().filter(|case| case.equal == equal_weights) {
            scan_row(case, &lab, &naive, &vectors.queries, rows.len());
        }
    }
}

fn scan_row(case: &Case, lab: &Lab, naive: &Naive, queries: &[Vec<f32>], rows: usize) {
    let repeats = (50_000 / rows).clamp(2, 25);
    let (mut times, mut scanned, mut reranked) = ([0.0; 4], 0, 0);
    for query in queries {
        let answer = lab.search(&ask(query, case)).expect("a valid query");
        scanned += answer.scanned_rows;
        reranked += answer.reranked_rows;
        let wanted = naive.search(query, case.lambda, case.floor, 10);
        assert!((wanted[0].1 - answer.hits[0].1).abs() < 1e-4, "{wanted:?} {answer:?}");
        let many = |routine: &mut dyn FnMut()| (0..repeats).for_each(|_| routine());
        let best = in_turns(
            9,
            [
                &mut || many(&mut || drop(black_box(naive.search(query, case.lambda, case.floor, 10)))),
                &mut || many(&mut || drop(black_box(lab.search(&ask(query, case))))),
                &mut || many(&mut || _ = black_box(lab.read())),
                &mut || many(&mut || _ = black_box(lab.scan(query))),
            ],
        );
        times.iter_mut().zip(best).for_each(|(sum, time)| *sum += time / repeats as f64);
    }
    let each = 1e6 / queries.len() as f64;
    let all = (queries.len() * rows) as f64;
    println!(
        "| {} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} % | {:.1} |",
        case.name,
        times[0] * each,
        times[1] * each,
        times[0] / times[1],
        times[2] / times[1],
        times[3] / times[2],
        100.0 * scanned as f64 / all,
        reranked as f64 / queries.len() as f64,
    );
}

/// What the public API adds to the search: ids alone, and hits with their records.
fn api_table(vectors: &data::Vectors) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(dir.path().join("store")).expect("a store");
    let user = store.user("someone").expect("a user");
    let rows = data::rows(&vectors.rows, false);
    for batch in rows.chunks(1000) {
        let note = |row: &LabRow| {
            let text = "something worth keeping ".repeat(12);
            let note = NewMemory::note(text).vector(row.vector.clone()).importance(row.weight);
            note.created_at(Timestamp::from_micros(row.time))
        };
        user.remember_all(batch.iter().map(note)).expect("stored");
    }
    let lab = Lab::load(DIMS, None, &rows).expect("valid rows");
    let case = case("", false, 0.05, 0.0);
    let mut sums = [0.0; 3];
    for vector in &vectors.queries {
        let query = Query::vector(vector.clone()).at(Timestamp::from_micros(NOW)).floor(0.0);
        let query = query.curve(Curve::Exponential { lambda: case.lambda }).raw_cosine();
        let times = in_turns(
            101,
            [
                &mut || drop(black_box(lab.search(&ask(vector, &case)))),
                &mut || drop(black_box(user.recall_ids(&query))),
                &mut || drop(black_box(user.recall(&query))),
            ],
        );
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time * 1e6 / vectors.queries.len() as f64);
    }
    let [search, ids, records] = sums;
    println!(
        "| {} | {search:.1} | {ids:.1} | {records:.1} | {:.1} | {:.1} |",
        rows.len(),
        ids - search,
        records - search
    );
}

fn criterion_group() {
    let vectors = data::clustered(10_000, 8);
    let lab = Lab::load(DIMS, None, &data::rows(&vectors.rows, false)).expect("valid rows");
    let mut criterion = common::criterion();
    for case in CASES.iter().filter(|case| !case.equal) {
        let mut at = 0;
        criterion.bench_function(&format!("10,000 rows, {}", case.name), |bench| {
            bench.iter(|| {
                at = (at + 1) % vectors.queries.len();
                lab.search(&ask(&vectors.queries[at], case))
            });
        });
    }
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    one.install(|| {
        for rows in [1000, 10_000, 100_000] {
            scan_table("clustered", &data::clustered(rows, 8));
        }
        match data::real(59_000, 1000) {
            Some(mut vectors) => {
                vectors.queries.truncate(12);
                scan_table("real sentences", &vectors);
            }
            None => println!("\nreal sentences: not here, left out"),
        }
        println!("\nthe public API, uniform weights, lambda .05, floor 0, microseconds");
        println!("| rows | search | recall_ids | recall | ids over search | records over search |");
        println!("| --- | --- | --- | --- | --- | --- |");
        for rows in [1000, 10_000, 100_000] {
            api_table(&data::clustered(rows, 8));
        }
        criterion_group();
    });
}
