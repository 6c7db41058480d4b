//! What all benches share: data, the naive loop, and ratios measured in one run.
#![allow(dead_code, reason = "each bench uses its part")]

pub(crate) mod data;
pub(crate) mod naive;

use std::time::Instant;

/// Best seconds of each of several routines, run in turns so that all meet the same noise, each after a run
/// that warms its caches.
#[expect(clippy::disallowed_methods, reason = "a bench measures")]
pub(crate) fn in_turns<const N: usize>(rounds: usize, mut routines: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (routine, best) in routines.iter_mut().zip(&mut best) {
            routine();
            let start = Instant::now();
            routine();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

/// Seconds of one call.
#[expect(clippy::disallowed_methods, reason = "a bench measures")]
pub(crate) fn seconds<R>(routine: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let answer = routine();
    (start.elapsed().as_secs_f64(), answer)
}

/// A few samples are enough where the ratios are printed beside them.
pub(crate) fn criterion() -> criterion::Criterion {
    criterion::Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(800))
        .configure_from_args()
}
