//! Approximate recall against exact recall: time, measured recall, true recall.
//!
//! `cargo bench --bench approximate`

mod common;

use std::hint::black_box;

use common::data::{self, DIMS, NOW};
use common::{in_turns, seconds};
use mnemic::{Lab, LabQuery};

const LAMBDAS: [f64; 5] = [0.0, 0.005, 0.05, 0.3, 2.5];
const TARGETS: [f64; 2] = [0.95, 0.99];

fn table(title: &str, vectors: &data::Vectors) {
    println!("\n{title}: {} rows x {DIMS}, {} queries, one thread", vectors.rows.len(), vectors.queries.len());
    println!("| lambda | target | said | true | exact us | approximate us | exact / approximate | first ms |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let lab = Lab::load(DIMS, None, &data::rows(&vectors.rows, false)).expect("valid rows");
    for lambda in LAMBDAS {
        for target in TARGETS {
            compare(&lab, &vectors.queries, lambda, target);
        }
    }
}

fn compare(lab: &Lab, queries: &[Vec<f32>], lambda: f64, target: f64) {
    let ask = |vector, approximate| {
        let query = LabQuery { vector, lambda, floor: 0.0, now: NOW, k: 10, approximate, odd_only: false };
        lab.search(&query).expect("a valid query")
    };
    let (first, _) = seconds(|| ask(&queries[0], Some(target)));
    let (mut said, mut found) = (None, 0);
    for query in queries {
        let (exact, near) = (ask(query, None), ask(query, Some(target)));
        said = near.approximate;
        found += exact.hits.iter().filter(|hit| near.hits.contains(hit)).count();
    }
    let (mut exact, mut near) = (0.0, 0.0);
    for query in queries.iter().step_by(queries.len().div_ceil(24)) {
        let times =
            in_turns(5, [&mut || _ = black_box(ask(query, None)), &mut || _ = black_box(ask(query, Some(target)))]);
        exact += times[0] * 1e6 / 24.0;
        near += times[1] * 1e6 / 24.0;
    }
    println!(
        "| {lambda} | {target} | {} | {:.3} | {exact:.0} | {near:.0} | {:.1} | {:.0} |",
        said.map_or("exact".to_owned(), |recall| format!("{recall:.3}")),
        found as f64 / (10 * queries.len()) as f64,
        exact / near,
        first * 1e3,
    );
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    one.install(|| {
        match data::real(75_000, 1996) {
            Some(mut vectors) => {
                let foreign = vectors.queries.split_off(1000);
                vectors.queries.truncate(480);
                table("real sentences", &vectors);
                vectors.queries = foreign;
                vectors.queries.truncate(240);
                table("real sentences, questions of another kind", &vectors);
            }
            None => println!("\nreal sentences: not here, left out"),
        }
        table("clustered", &data::clustered(100_000, 240));
    });
}
