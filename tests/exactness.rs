//! No difference from brute force: not in ids, not in a bit of a score, on real sentence vectors.
//!
//! The long form: `cargo test --release --all-features --test exactness -- --ignored --nocapture`.

#[path = "../benches/common/data.rs"]
#[expect(dead_code, reason = "benches use the rest")]
mod data;

use data::{DAY, DIMS, NOW};
use mnemic::{Lab, LabQuery, LabRow, lab_kernels};

const LAMBDAS: [f64; 5] = [0.0, 0.005, 0.05, 0.3, 2.5];
const FLOORS: [f64; 3] = [0.0, 0.5, 0.9];
const HITS: usize = 10;

/// Eight lanes, added pairwise: the definition.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut l = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        a.iter().zip(b).zip(&mut l).for_each(|((&a, &b), lane)| *lane += f64::from(a) * f64::from(b));
    }
    ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}

fn brute(rows: &[LabRow], cosines: &[f64], query: &LabQuery<'_>) -> Vec<(u32, u64)> {
    let mut all = Vec::with_capacity(rows.len());
    for (i, (row, &cos)) in rows.iter().zip(cosines).enumerate().filter(|(i, _)| !query.odd_only || i % 2 == 1) {
        let age = (query.now - row.time).max(0) as f64 / DAY as f64;
        let fresh = row.pinned || age <= 0.0 || query.lambda == 0.0;
        let kept = if fresh { 1.0 } else { query.floor + (1.0 - query.floor) * libm::exp(-query.lambda * age) };
        let weight = f64::from(row.weight).max(2f64.powi(-60));
        all.push((cos.max(0.0) * kept * weight, cos, i as u32));
    }
    let order =
        |a: &(f64, f64, u32), b: &(f64, f64, u32)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2));
    if all.len() > HITS {
        all.select_nth_unstable_by(HITS, order);
        all.truncate(HITS);
    }
    all.sort_by(order);
    all.into_iter().map(|(score, _, row)| (row, score.to_bits())).collect()
}

/// Differences, and rows reranked in all.
fn compare(labs: &[Lab], rows: &[LabRow], vectors: &[Vec<f32>]) -> (usize, usize, usize) {
    let (mut asked, mut reranked, mut differences) = (0, 0, 0);
    for (i, vector) in vectors.iter().enumerate() {
        let cosines: Vec<f64> = rows.iter().map(|row| dot(vector, &row.vector)).collect();
        for lambda in LAMBDAS {
            for floor in FLOORS {
                let odd_only = i % 3 == 2;
                let query = LabQuery { vector, lambda, floor, now: NOW, k: HITS, approximate: None, odd_only };
                let wanted = brute(rows, &cosines, &query);
                for lab in labs {
                    let found = lab.search(&query).expect("a valid query");
                    let bits: Vec<_> = found.hits.iter().map(|&(row, score)| (row, score.to_bits())).collect();
                    differences += usize::from(bits != wanted);
                    asked += 1;
                    reranked += found.reranked_rows;
                }
            }
        }
    }
    (asked, differences, reranked)
}

fn check(count: usize, queries: usize) {
    let Some(vectors) = data::real(count, 1996) else {
        println!("the real vectors are not here: left out");
        return;
    };
    let mut rows = data::rows(&vectors.rows, false);
    for (i, row) in rows.iter_mut().enumerate() {
        row.pinned = i % 97 == 5;
        if i % 41 == 7 {
            row.time = NOW + (i as i64 % 500) * DAY / 10;
        }
    }
    let load = |kernel| Lab::load(DIMS, Some(kernel), &rows).expect("valid rows");
    let labs: Vec<Lab> = lab_kernels().into_iter().map(load).collect();
    let step = vectors.queries.len() / queries;
    let asked: Vec<Vec<f32>> = vectors.queries.into_iter().step_by(step).take(queries).collect();
    let (asked, differences, reranked) = compare(&labs, &rows, &asked);
    let mean = reranked as f64 / asked as f64;
    println!("{count} rows, {asked} answers of {:?}: {differences} differ, {mean:.1} rows reranked", lab_kernels());
    assert_eq!(differences, 0);
    assert!(mean <= 70.0, "{mean} rows reranked");
}

#[test]
fn real_vectors_have_no_difference_from_brute_force() {
    check(6_000, 12);
}

#[test]
#[ignore = "minutes long"]
fn all_real_vectors_have_no_difference_from_brute_force() {
    check(75_000, 300);
}
