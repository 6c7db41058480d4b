//! Reading and nothing else: what a scan is measured against.

const WORDS: usize = 64;

/// Reads all bytes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
pub(super) fn read(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; WORDS];
    let (lines, _) = bytes.as_chunks::<{ WORDS * 8 }>();
    for line in lines {
        let (words, _) = line.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}
