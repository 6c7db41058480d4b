//! NEON, which every `AArch64` CPU has.

use std::arch::aarch64::{
    float64x2_t, int32x4_t, vaddq_f64, vaddq_s32, vaddvq_s32, vcvt_f64_f32, vdupq_n_f64, vdupq_n_s32, vget_high_s16,
    vget_high_u8, vget_low_s16, vget_low_u8, vld1_f32, vld1q_s16, vld1q_u8, vmlal_s16, vmovl_u8, vmulq_f64,
    vreinterpretq_s16_u16, vst1q_f64,
};

use super::quantise::PlanedQuery;
use super::scalar::{DOT_LANES, add_products, sum_lanes};

const STEP: usize = 16;

pub(super) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    for (row, sum) in rows.chunks_exact(query.stride()).zip(out) {
        *sum = scan_row(query.whole(), row).wrapping_sub(query.bias());
    }
}

fn scan_row(query: &[i16], row: &[u8]) -> i32 {
    // SAFETY: NEON is part of the target.
    unsafe {
        let (mut first, mut second) = (vdupq_n_s32(0), vdupq_n_s32(0));
        for (q, x) in query.as_chunks::<STEP>().0.iter().zip(row.as_chunks::<STEP>().0) {
            step(q, x, &mut first, &mut second);
        }
        vaddvq_s32(vaddq_s32(first, second))
    }
}

/// Adds sixteen products. Bytes are unsigned, so they fit the signed 16-bit form unchanged.
#[target_feature(enable = "neon")]
#[inline]
fn step(q: &[i16; STEP], x: &[u8; STEP], first: &mut int32x4_t, second: &mut int32x4_t) {
    // SAFETY: sixteen values are readable at each pointer.
    let (q0, q1, x) = unsafe { (vld1q_s16(q.as_ptr()), vld1q_s16(q.as_ptr().add(8)), vld1q_u8(x.as_ptr())) };
    let x0 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x)));
    let x1 = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(x)));
    *first = vmlal_s16(*first, vget_low_s16(x0), vget_low_s16(q0));
    *second = vmlal_s16(*second, vget_high_s16(x0), vget_high_s16(q0));
    *first = vmlal_s16(*first, vget_low_s16(x1), vget_low_s16(q1));
    *second = vmlal_s16(*second, vget_high_s16(x1), vget_high_s16(q1));
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<DOT_LANES>(), b.as_chunks::<DOT_LANES>());
    let mut lanes = [0.0; DOT_LANES];
    // SAFETY: NEON is part of the target, and `lanes` is four writable pairs.
    unsafe {
        let mut sums = [vdupq_n_f64(0.0); DOT_LANES / 2];
        for (a, b) in a.iter().zip(b) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = vaddq_f64(*sum, product(a, b, 2 * i));
            }
        }
        for (i, &sum) in sums.iter().enumerate() {
            vst1q_f64(lanes.as_mut_ptr().add(2 * i), sum);
        }
    }
    add_products(&mut lanes, a_rest, b_rest);
    sum_lanes(lanes)
}

#[target_feature(enable = "neon")]
#[inline]
fn product(a: &[f32; DOT_LANES], b: &[f32; DOT_LANES], at: usize) -> float64x2_t {
    let (a, b) = (&a[at..at + 2], &b[at..at + 2]);
    // SAFETY: two floats are readable at each pointer.
    let (a, b) = unsafe { (vld1_f32(a.as_ptr()), vld1_f32(b.as_ptr())) };
    vmulq_f64(vcvt_f64_f32(a), vcvt_f64_f32(b))
}
