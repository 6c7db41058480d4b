//! Signs of a row against a query of four bits: an estimate of their cosine, the same on every kernel.

use super::dispatch::Dispatch;
#[cfg(target_arch = "x86_64")]
use super::dispatch::Kernel;

/// Rows whose words lie in turns, so that vector lanes are rows.
pub(crate) const SKETCH_GROUP: usize = 8;
const PLANES: usize = 4;
const STEPS_MAX: f32 = 7.0;
const WORD: usize = 64;

/// A query as bit planes of whole steps in [-7, 7], in two's complement.
pub(crate) struct BitQuery {
    planes: Vec<[u64; PLANES]>,
    total: i32,
    step: f32,
    norm: f32,
}

impl BitQuery {
    /// Takes a finite query.
    pub(crate) fn new(query: &[f32], stride: usize) -> Self {
        let largest = query.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let step = largest / STEPS_MAX;
        let inverse = if step > 0.0 { 1.0 / step } else { 0.0 };
        let mut planes = vec![[0; PLANES]; stride.div_ceil(WORD)];
        let mut total = 0;
        for (i, x) in query.iter().enumerate() {
            let steps = (x * inverse).clamp(-STEPS_MAX, STEPS_MAX).round_ties_even() as i32;
            total += steps;
            for (j, plane) in planes[i / WORD].iter_mut().enumerate() {
                *plane |= (steps as u64 >> j & 1) << (i % WORD);
            }
        }
        let norm = query.iter().map(|x| x * x).sum::<f32>().sqrt();
        Self { planes, total, step, norm }
    }

    /// Length of the query.
    pub(crate) fn norm(&self) -> f32 {
        self.norm
    }

    /// Value of one step.
    pub(crate) fn step(&self) -> f32 {
        self.step
    }
}

/// The sum of the query's steps, each with the sign of the row there.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
pub(super) fn scan(query: &BitQuery, words: &[u64], out: &mut [i32]) {
    let (out, _) = out.as_chunks_mut::<SKETCH_GROUP>();
    for (group, out) in words.chunks_exact(query.planes.len() * SKETCH_GROUP).zip(out) {
        let mut counts = [[0u64; SKETCH_GROUP]; PLANES];
        let (lines, _) = group.as_chunks::<SKETCH_GROUP>();
        for (line, planes) in lines.iter().zip(&query.planes) {
            for (counts, plane) in counts.iter_mut().zip(planes) {
                for (count, word) in counts.iter_mut().zip(line) {
                    *count += u64::from((word & plane).count_ones());
                }
            }
        }
        for (i, out) in out.iter_mut().enumerate() {
            let [ones, twos, fours, eights] = counts.map(|count| count[i] as i32);
            *out = 2 * (ones + 2 * twos + 4 * fours - 8 * eights) - query.total;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn scan_avx512(query: &BitQuery, words: &[u64], out: &mut [i32]) {
    scan(query, words, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn scan_popcnt(query: &BitQuery, words: &[u64], out: &mut [i32]) {
    scan(query, words, out);
}

impl Dispatch {
    /// The sum of the query's steps with the signs of each row; `words` holds whole groups.
    pub(crate) fn scan_bits(self, query: &BitQuery, words: &[u64], out: &mut [i32]) {
        #[cfg(target_arch = "x86_64")]
        if matches!(self.kernel(), Kernel::Avx2 | Kernel::AvxVnni | Kernel::Avx512Vnni) {
            use std::arch::is_x86_feature_detected as has;
            if self.kernel() == Kernel::Avx512Vnni && has!("avx512vpopcntdq") && has!("popcnt") {
                // SAFETY: the kernel has the first features, and the last two were just detected.
                return unsafe { scan_avx512(query, words, out) };
            }
            if has!("popcnt") {
                // SAFETY: the kernel has AVX2, and the other one was just detected.
                return unsafe { scan_popcnt(query, words, out) };
            }
        }
        scan(query, words, out);
    }
}
