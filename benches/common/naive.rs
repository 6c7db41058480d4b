//! What everybody writes first: cosine by simsimd, exp by libm, a heap, one thread, ordinary pages.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use mnemic::LabRow;
use simsimd::SpatialSimilarity;

use super::data::{DAY, NOW};

/// Vectors side by side, and what the score needs.
pub(crate) struct Naive {
    vectors: Vec<f32>,
    dims: usize,
    facts: Vec<(f64, i64)>,
}

#[derive(PartialEq)]
struct Ranked(f64, usize);

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl Naive {
    pub(crate) fn new(rows: &[LabRow]) -> Self {
        Self {
            vectors: rows.iter().flat_map(|row| row.vector.iter().copied()).collect(),
            dims: rows.first().map_or(1, |row| row.vector.len()),
            facts: rows.iter().map(|row| (f64::from(row.weight), row.time)).collect(),
        }
    }

    /// The `k` best rows with their scores, best first.
    pub(crate) fn search(&self, query: &[f32], lambda: f64, floor: f64, k: usize) -> Vec<(usize, f64)> {
        let mut heap = BinaryHeap::with_capacity(k + 1);
        for (i, (row, &(weight, time))) in self.vectors.chunks_exact(self.dims).zip(&self.facts).enumerate() {
            let cos = 1.0 - <f32 as SpatialSimilarity>::cos(query, row).unwrap_or(1.0);
            let age = (NOW - time).max(0) as f64 / DAY as f64;
            let score = cos * weight * (floor + (1.0 - floor) * libm::exp(-lambda * age));
            if heap.len() < k {
                heap.push(Reverse(Ranked(score, i)));
            } else if heap.peek().is_some_and(|least: &Reverse<Ranked>| least.0.0 < score) {
                heap.pop();
                heap.push(Reverse(Ranked(score, i)));
            }
        }
        heap.into_sorted_vec().into_iter().map(|Reverse(ranked)| (ranked.1, ranked.0)).collect()
    }
}
