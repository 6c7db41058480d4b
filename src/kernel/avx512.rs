//! AVX-512 with VNNI: eight rows a step, so that the query planes stay in registers.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_hadd_epi32, _mm256_permute2x128_si256, _mm256_set1_epi32,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_dpbusd_epi32,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512, _mm512_slli_epi32,
};

use super::bounds::{self, BoundConsts, BoundRows};
use super::quantise::{self, PlanedQuery, RowScale};

const STEP: usize = 64;
const GROUP: usize = 8;

/// Rows of up to this many lines are read in one go, with the query's planes in registers.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    match query.stride() / STEP {
        1 => scan_lines::<1>(query, rows, out),
        2 => scan_lines::<2>(query, rows, out),
        4 => scan_lines::<4>(query, rows, out),
        6 => scan_lines::<6>(query, rows, out),
        8 => scan_lines::<8>(query, rows, out),
        _ => scan_any(query, rows, out),
    }
}

/// Straight through the bytes, the order that every CPU fetches ahead of.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn scan_lines<const LINES: usize>(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    let plane = |bytes: &[u8]| {
        let (lines, _) = bytes.as_chunks::<STEP>();
        // SAFETY: each line is 64 bytes.
        std::array::from_fn::<_, LINES, _>(|i| unsafe { load(lines[i].as_ptr()) })
    };
    let (hi, lo) = (plane(query.hi()), plane(query.lo()));
    let bias = _mm256_set1_epi32(query.bias());
    let (groups, rest) = out.as_chunks_mut::<GROUP>();
    let (head, tail) = rows.split_at(groups.len() * GROUP * LINES * STEP);
    for (rows, sums) in head.chunks_exact(GROUP * LINES * STEP).zip(groups) {
        let mut all = [_mm512_setzero_si512(); GROUP];
        for (r, sum) in all.iter_mut().enumerate() {
            let (mut high, mut low) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            for i in 0..LINES {
                // SAFETY: line i of row r lies inside the group's rows.
                let x = unsafe { load(rows.as_ptr().add((r * LINES + i) * STEP)) };
                high = _mm512_dpbusd_epi32(high, x, hi[i]);
                low = _mm512_dpbusd_epi32(low, x, lo[i]);
            }
            *sum = _mm512_add_epi32(_mm512_slli_epi32::<8>(high), low);
        }
        let found = _mm256_sub_epi32(sum_each(&all), bias);
        // SAFETY: `sums` is 32 writable bytes.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), found) };
    }
    for (row, sum) in tail.chunks_exact(LINES * STEP).zip(rest) {
        *sum = scan_row(query, row);
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
fn scan_any(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    for (row, sum) in rows.chunks_exact(query.stride()).zip(out) {
        *sum = scan_row(query, row);
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
fn scan_row(query: &PlanedQuery, row: &[u8]) -> i32 {
    let mut sums = [_mm512_setzero_si512(); 4];
    let planes = query.hi().chunks_exact(STEP).zip(query.lo().chunks_exact(STEP));
    for (i, (x, (qh, ql))) in row.chunks_exact(STEP).zip(planes).enumerate() {
        // SAFETY: each chunk is 64 bytes.
        let (x, qh, ql) = unsafe { (load(x.as_ptr()), load(qh.as_ptr()), load(ql.as_ptr())) };
        let at = i % 2 * 2;
        sums[at] = _mm512_dpbusd_epi32(sums[at], x, qh);
        sums[at + 1] = _mm512_dpbusd_epi32(sums[at + 1], x, ql);
    }
    let (hi, lo) = (_mm512_add_epi32(sums[0], sums[2]), _mm512_add_epi32(sums[1], sums[3]));
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

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
pub(super) fn quantise_row(row: &[f32], out: &mut [u8]) -> RowScale {
    quantise::quantise_row(row, out)
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
pub(super) fn quantise_query(query: &[f32]) -> PlanedQuery {
    quantise::quantise_query(query)
}

#[cfg(feature = "testing")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
pub(super) fn read(bytes: &[u8]) -> u64 {
    super::roof::read(bytes)
}
