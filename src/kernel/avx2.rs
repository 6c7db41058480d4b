//! AVX2: bytes widened to 16 bits and multiplied with the whole query.

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _MM_HINT_T0, _mm_add_epi32, _mm_hadd_epi32, _mm_loadu_ps, _mm_loadu_si128, _mm_prefetch,
    _mm_set1_epi32, _mm_storeu_si128, _mm_sub_epi32, _mm256_add_epi32, _mm256_add_pd, _mm256_castsi256_si128,
    _mm256_cvtepu8_epi16, _mm256_cvtps_pd, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_mul_pd, _mm256_setzero_pd, _mm256_setzero_si256, _mm256_storeu_pd,
};

use super::bounds::{self, BoundConsts, BoundRows};
use super::quantise::{self, PlanedQuery, RowScale};
use super::scalar::{self, DOT_LANES, add_products, sum_lanes};

const STEP: usize = 16;
pub(super) const GROUP: usize = 4;
/// Groups between the rows that are read and those that are fetched.
pub(super) const AHEAD: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    let stride = query.stride();
    let (groups, rest) = out.as_chunks_mut::<GROUP>();
    let (head, tail) = rows.split_at(groups.len() * GROUP * stride);
    for (rows, sums) in head.chunks_exact(GROUP * stride).zip(groups) {
        *sums = scan_group(query, rows);
    }
    scalar::scan(query, tail, rest);
}

#[target_feature(enable = "avx2")]
#[inline]
fn scan_group(query: &PlanedQuery, rows: &[u8]) -> [i32; GROUP] {
    let (stride, whole) = (query.stride(), query.whole());
    assert!(rows.len() == GROUP * stride && whole.len() == stride);
    let mut sums = [_mm256_setzero_si256(); GROUP];
    let mut at = 0;
    while at < stride {
        // SAFETY: `whole` holds `stride` values, a multiple of 16, and at < stride.
        let q = unsafe { _mm256_loadu_si256(whole.as_ptr().add(at).cast()) };
        prefetch(rows.as_ptr().wrapping_add(AHEAD * GROUP * stride + at * GROUP));
        for (r, sum) in sums.iter_mut().enumerate() {
            // SAFETY: row r begins at r * stride of four rows of `stride` bytes.
            let x = unsafe { _mm_loadu_si128(rows.as_ptr().add(r * stride + at).cast()) };
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(_mm256_cvtepu8_epi16(x), q));
        }
        at += STEP;
    }
    finish(&sums, query.bias())
}

/// Rows are read several at once, an order that not every CPU's own prefetcher follows; this one is straight.
#[target_feature(enable = "sse")]
#[inline]
pub(super) fn prefetch(at: *const u8) {
    #[allow(unused_unsafe, reason = "older toolchains call this unsafe")]
    // SAFETY: a prefetch never faults, wherever it points.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
}

/// The sum of the lanes of each vector, without the bias.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn finish(v: &[__m256i; GROUP], bias: i32) -> [i32; GROUP] {
    let half = |x: __m256i| _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
    let pair = |i: usize| _mm_hadd_epi32(half(v[i]), half(v[i + 1]));
    let sums: __m128i = _mm_sub_epi32(_mm_hadd_epi32(pair(0), pair(2)), _mm_set1_epi32(bias));
    let mut out = [0; GROUP];
    // SAFETY: `out` is 16 writable bytes.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sums) };
    out
}

/// Two chains of four lanes; one of eight would wait for each addition, so AVX-512 uses this too.
#[target_feature(enable = "avx2")]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<DOT_LANES>(), b.as_chunks::<DOT_LANES>());
    let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    for (a, b) in a.iter().zip(b) {
        // SAFETY: each chunk is eight floats, read as two halves of four.
        let (products_low, products_high) =
            unsafe { (product(a.as_ptr(), b.as_ptr()), product(a.as_ptr().add(4), b.as_ptr().add(4))) };
        low = _mm256_add_pd(low, products_low);
        high = _mm256_add_pd(high, products_high);
    }
    let mut lanes = [0.0; DOT_LANES];
    // SAFETY: `lanes` is eight writable doubles.
    unsafe {
        _mm256_storeu_pd(lanes.as_mut_ptr(), low);
        _mm256_storeu_pd(lanes.as_mut_ptr().add(4), high);
    }
    add_products(&mut lanes, a_rest, b_rest);
    sum_lanes(lanes)
}

/// # Safety
/// Four floats are readable at `a` and at `b`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn product(a: *const f32, b: *const f32) -> __m256d {
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (_mm_loadu_ps(a), _mm_loadu_ps(b)) };
    _mm256_mul_pd(_mm256_cvtps_pd(a), _mm256_cvtps_pd(b))
}

#[target_feature(enable = "avx2")]
pub(super) fn bounds(rows: &BoundRows<'_>, consts: &BoundConsts, up: &mut [f32], down: &mut [f32], marks: &mut [u16]) {
    bounds::bounds(rows, consts, up, down, marks);
}

#[target_feature(enable = "avx2")]
pub(super) fn quantise_row(row: &[f32], out: &mut [u8]) -> RowScale {
    quantise::quantise_row(row, out)
}

#[target_feature(enable = "avx2")]
pub(super) fn quantise_query(query: &[f32]) -> PlanedQuery {
    quantise::quantise_query(query)
}

#[cfg(feature = "testing")]
#[target_feature(enable = "avx2")]
pub(super) fn read(bytes: &[u8]) -> u64 {
    super::roof::read(bytes)
}
