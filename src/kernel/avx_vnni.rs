//! AVX2 with the VEX form of VNNI, for CPUs without AVX-512.

use std::arch::x86_64::{__m256i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_setzero_si256, _mm256_slli_epi32};

use super::avx2::{AHEAD, GROUP, finish, prefetch};
use super::quantise::PlanedQuery;
use super::scalar;

const STEP: usize = 32;

macro_rules! scan {
    ($features:literal, $dpbusd:path) => {
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
            let stride = query.stride();
            let (groups, rest) = out.as_chunks_mut::<GROUP>();
            let (head, tail) = rows.split_at(groups.len() * GROUP * stride);
            for (rows, sums) in head.chunks_exact(GROUP * stride).zip(groups) {
                *sums = scan_group(query, rows);
            }
            scalar::scan(query, tail, rest);
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn scan_group(query: &PlanedQuery, rows: &[u8]) -> [i32; GROUP] {
            let stride = query.stride();
            assert!(rows.len() == GROUP * stride && query.hi().len() == stride && query.lo().len() == stride);
            let mut hi = [_mm256_setzero_si256(); GROUP];
            let mut lo = [_mm256_setzero_si256(); GROUP];
            let mut at = 0;
            while at < stride {
                // SAFETY: both planes hold `stride` bytes, a multiple of 32, and at < stride.
                let (qh, ql) = unsafe { (load(query.hi().as_ptr().add(at)), load(query.lo().as_ptr().add(at))) };
                for half in 0..2 {
                    prefetch(rows.as_ptr().wrapping_add(AHEAD * GROUP * stride + at * GROUP + half * 64));
                }
                for r in 0..GROUP {
                    // SAFETY: row r begins at r * stride of four rows of `stride` bytes.
                    let x = unsafe { load(rows.as_ptr().add(r * stride + at)) };
                    hi[r] = $dpbusd(hi[r], x, qh);
                    lo[r] = $dpbusd(lo[r], x, ql);
                }
                at += STEP;
            }
            for (h, &l) in hi.iter_mut().zip(&lo) {
                *h = _mm256_add_epi32(_mm256_slli_epi32::<8>(*h), l);
            }
            finish(&hi, query.bias())
        }
    };
}

scan!("avx2,avxvnni", std::arch::x86_64::_mm256_dpbusd_avx_epi32);

/// # Safety
/// 32 bytes are readable at `at`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load(at: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// The same body under the EVEX form, which test machines have more often.
#[cfg(test)]
pub(super) mod evex {
    use super::{
        _mm256_add_epi32, _mm256_setzero_si256, _mm256_slli_epi32, AHEAD, GROUP, PlanedQuery, STEP, finish, load,
        prefetch, scalar,
    };
    scan!("avx2,avx512f,avx512vl,avx512vnni", std::arch::x86_64::_mm256_dpbusd_epi32);
}
