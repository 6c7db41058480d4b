//! AVX-512 with VNNI: eight rows a step, so that the query planes stay in registers.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_hadd_epi32, _mm256_permute2x128_si256, _mm256_set1_epi32,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_dpbusd_epi32,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512, _mm512_slli_epi32,
};

use super::avx2::prefetch;
use super::bounds::{self, BoundConsts, BoundRows};
use super::quantise::PlanedQuery;

const STEP: usize = 64;
const GROUP: usize = 8;
/// Groups between the rows that are read and those that are fetched.
const AHEAD: usize = 4;

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    let stride = query.stride();
    let (groups, rest) = out.as_chunks_mut::<GROUP>();
    let (head, tail) = rows.split_at(groups.len() * GROUP * stride);
    for (rows, sums) in head.chunks_exact(GROUP * stride).zip(groups) {
        *sums = scan_group(query, rows);
    }
    for (row, sum) in tail.chunks_exact(stride).zip(rest) {
        *sum = scan_row(query, row);
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn scan_group(query: &PlanedQuery, rows: &[u8]) -> [i32; GROUP] {
    let stride = query.stride();
    assert!(rows.len() == GROUP * stride && query.hi().len() == stride && query.lo().len() == stride);
    let mut hi = [_mm512_setzero_si512(); GROUP];
    let mut lo = [_mm512_setzero_si512(); GROUP];
    let mut at = 0;
    while at < stride {
        // SAFETY: both planes hold `stride` bytes, a multiple of 64, and at < stride.
        let (qh, ql) = unsafe { (load(query.hi().as_ptr().add(at)), load(query.lo().as_ptr().add(at))) };
        for r in 0..GROUP {
            // SAFETY: row r begins at r * stride of eight rows of `stride` bytes.
            let x = unsafe { load(rows.as_ptr().add(r * stride + at)) };
            prefetch(rows.as_ptr().wrapping_add(AHEAD * GROUP * stride + at * GROUP + r * STEP));
            hi[r] = _mm512_dpbusd_epi32(hi[r], x, qh);
            lo[r] = _mm512_dpbusd_epi32(lo[r], x, ql);
        }
        at += STEP;
    }
    for (h, &l) in hi.iter_mut().zip(&lo) {
        *h = _mm512_add_epi32(_mm512_slli_epi32::<8>(*h), l);
    }
    let sums = _mm256_sub_epi32(sum_each(&hi), _mm256_set1_epi32(query.bias()));
    let mut out = [0; GROUP];
    // SAFETY: `out` is 32 writable bytes.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sums) };
    out
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
fn scan_row(query: &PlanedQuery, row: &[u8]) -> i32 {
    let (mut hi, mut lo) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let planes = query.hi().chunks_exact(STEP).zip(query.lo().chunks_exact(STEP));
    for (x, (qh, ql)) in row.chunks_exact(STEP).zip(planes) {
        // SAFETY: each chunk is 64 bytes.
        let (x, qh, ql) = unsafe { (load(x.as_ptr()), load(qh.as_ptr()), load(ql.as_ptr())) };
        hi = _mm512_dpbusd_epi32(hi, x, qh);
        lo = _mm512_dpbusd_epi32(lo, x, ql);
    }
    let sum = _mm512_add_epi32(_mm512_slli_epi32::<8>(hi), lo);
    _mm512_reduce_add_epi32(sum).wrapping_sub(query.bias())
}

/// # Safety
/// 64 bytes are readable at `at`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load(at: *const u8) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(at.cast()) }
}

/// Lane i of the result is the sum of the lanes of `v[i]`.
#[target_feature(enable = "avx2,avx512f")]
#[inline]
fn sum_each(v: &[__m512i; GROUP]) -> __m256i {
    let half = |x: __m512i| _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
    let pair = |i: usize| _mm256_hadd_epi32(half(v[i]), half(v[i + 1]));
    let first = _mm256_hadd_epi32(pair(0), pair(2));
    let second = _mm256_hadd_epi32(pair(4), pair(6));
    _mm256_add_epi32(_mm256_permute2x128_si256::<0x20>(first, second), _mm256_permute2x128_si256::<0x31>(first, second))
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
pub(super) fn bounds(rows: &BoundRows<'_>, consts: &BoundConsts, up: &mut [f32], down: &mut [f32], marks: &mut [u16]) {
    bounds::bounds(rows, consts, up, down, marks);
}
