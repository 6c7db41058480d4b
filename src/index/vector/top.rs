//! The k best so far: lower bounds while scanning, exact candidates while reranking.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::request::Candidate;

/// Below this a lower bound says nothing: f64 scores could round together there.
const PROOF_MIN: f32 = f32::from_bits((127 - 100) << 23);

/// The largest proven k-th lower bound of all workers. Floats from 0 up order as their bits.
pub(super) struct SharedFloor(AtomicU32);

impl SharedFloor {
    pub(super) fn new(least: f32) -> Self {
        Self(AtomicU32::new(least.to_bits()))
    }

    pub(super) fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    pub(super) fn raise(&self, floor: f32) {
        self.0.fetch_max(floor.to_bits(), Relaxed);
    }
}

/// The k largest lower bounds that one worker saw.
pub(super) struct LowerBounds {
    k: usize,
    heap: BinaryHeap<Reverse<u32>>,
}

impl LowerBounds {
    /// With `k` 0, nothing is ever proven.
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::with_capacity(k) }
    }

    /// Takes a lower bound; returns the k-th when it rose.
    #[inline]
    pub(super) fn push(&mut self, bound: f32) -> Option<f32> {
        if bound < PROOF_MIN || self.k == 0 {
            return None;
        }
        if self.heap.len() < self.k {
            self.heap.push(Reverse(bound.to_bits()));
        } else {
            let mut least = self.heap.peek_mut()?;
            if least.0 >= bound.to_bits() {
                return None;
            }
            least.0 = bound.to_bits();
        }
        (self.heap.len() == self.k).then(|| self.heap.peek().map_or(0.0, |least| f32::from_bits(least.0)))
    }
}

struct Ranked(Candidate);

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

/// The k best exact candidates; the worst of them lies on top of the heap.
pub(super) struct Best {
    k: usize,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        if self.heap.len() < self.k {
            self.heap.push(Ranked(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate.order(&worst.0) == Ordering::Less
        {
            *worst = Ranked(candidate);
        }
    }

    /// The k-th best score, once there are k.
    pub(super) fn kth_score(&self) -> Option<f64> {
        if self.heap.len() < self.k { None } else { self.heap.peek().map(|worst| worst.0.parts.score) }
    }

    pub(super) fn into_sorted(self) -> Vec<Candidate> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}
