//! Approximate recall against exact recall: time, the recall that is said, the true one.
//!
//! `cargo bench --bench approximate`

mod common;

use std::hint::black_box;

use common::data::{self, DIMS, NOW};
use common::{in_turns, seconds};
use mnemic::{Lab, LabAnswer, LabQuery};

const LAMBDAS: [f64; 5] = [0.0, 0.005, 0.05, 0.3, 2.5];
const TARGETS: [f64; 2] = [0.95, 0.99];

/// Questions that are asked before anything is measured, so that lists are built.
const QUESTIONS: usize = 1500;

fn table(title: &str, vectors: &data::Vectors, equal: bool) {
    println!("\n{title}: {} rows x {DIMS}, {} queries, one thread", vectors.rows.len(), vectors.queries.len());
    let rows = data::rows(&vectors.rows, equal);
    let load = || Lab::load(DIMS, None, &rows).expect("valid rows");
    let (lab, mut flat) = (load(), load());
    flat.flatten();
    drop(rows);
    let bytes = lab.bytes();
    for i in 0..QUESTIONS / 10 {
        ask(&flat, &vectors.queries[i % vectors.queries.len()], 0.0, Some(0.95));
    }
    warm_up(&lab, &vectors.queries);
    let more = (lab.bytes() - bytes) / vectors.rows.len();
    println!("sketches and lists: {more} bytes a row, beside {} of the index\n", bytes / vectors.rows.len());
    println!(
        "| lambda | target | said | true | scanned | exact us | sketches us | approximate us | exact / approximate | sketches / approximate |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let lambdas = if equal { &LAMBDAS[..1] } else { &LAMBDAS };
    for &lambda in lambdas {
        for target in TARGETS {
            compare(&lab, &flat, &vectors.queries, lambda, target);
        }
    }
}

fn ask(lab: &Lab, vector: &[f32], lambda: f64, approximate: Option<f64>) -> LabAnswer {
    let query = LabQuery { vector, lambda, floor: 0.0, now: NOW, k: 10, approximate, odd_only: false };
    lab.search(&query).expect("a valid query")
}

/// Asks until everything that is built on the way is there; prints what that took.
fn warm_up(lab: &Lab, queries: &[Vec<f32>]) {
    let turn = |i: usize| seconds(|| ask(lab, &queries[i % queries.len()], 0.0, Some(0.95))).0 * 1e3;
    let times: Vec<f64> = (0..QUESTIONS).map(turn).collect();
    let most = times[1..].iter().fold(0.0, |most, &time| f64::max(most, time));
    println!(
        "first question {:.0} ms, slowest of the others {most:.0} ms, {:.0} ms in all",
        times[0],
        times.iter().sum::<f64>()
    );
}

fn compare(lab: &Lab, flat: &Lab, queries: &[Vec<f32>], lambda: f64, target: f64) {
    let (mut said, mut found, mut scanned, mut answers) = (0.0, 0, 0, 0u32);
    for query in queries {
        let (exact, near) = (ask(lab, query, lambda, None), ask(lab, query, lambda, Some(target)));
        let Some(recall) = near.approximate else { continue };
        said += recall;
        answers += 1;
        scanned += near.scanned_rows;
        found += exact.hits.iter().filter(|hit| near.hits.contains(hit)).count();
    }
    let (mut exact, mut near, mut sketched, mut timed) = (0.0, 0.0, 0.0, 0.0);
    for query in queries.iter().step_by(queries.len().div_ceil(24)) {
        let mut exactly = || _ = black_box(ask(lab, query, lambda, None));
        let mut roughly = || _ = black_box(ask(lab, query, lambda, Some(target)));
        let mut flatly = || _ = black_box(ask(flat, query, lambda, Some(target)));
        let times = in_turns(5, [&mut exactly, &mut roughly, &mut flatly]);
        exact += times[0] * 1e6;
        near += times[1] * 1e6;
        sketched += times[2] * 1e6;
        timed += 1.0;
    }
    println!(
        "| {lambda} | {target} | {:.3} | {:.3} | {} | {:.0} | {:.0} | {:.0} | {:.1} | {:.1} |",
        said / f64::from(answers),
        found as f64 / (10.0 * f64::from(answers)),
        scanned / answers as usize,
        exact / timed,
        sketched / timed,
        near / timed,
        exact / near,
        sketched / near,
    );
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    one.install(|| {
        match data::real(75_000, 1996) {
            Some(mut vectors) => {
                let foreign = vectors.queries.split_off(1000);
                vectors.queries.truncate(480);
                table("real sentences", &vectors, false);
                table("real sentences of one weight", &vectors, true);
                vectors.queries = foreign;
                vectors.queries.truncate(240);
                table("real sentences, questions of another kind", &vectors, false);
            }
            None => println!("\nreal sentences: not here, left out"),
        }
        for rows in [100_000, 300_000, 1_000_000] {
            table("clustered", &data::clustered(rows, 240), false);
        }
    });
}
