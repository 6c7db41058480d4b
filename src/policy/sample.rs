//! Sampling that gives the same sample every time.

/// Pairs of different positions below `len`: all of them where that many are wanted, else random ones of a fixed seed.
pub(crate) struct PairSampler {
    len: u64,
    left: u64,
    all: bool,
    next: (u64, u64),
    state: u64,
}

impl PairSampler {
    pub(crate) fn new(len: usize, wanted: u64) -> Self {
        let len = len as u64;
        let pairs = len * len.saturating_sub(1) / 2;
        Self { len, left: wanted.min(pairs), all: wanted >= pairs, next: (0, 1), state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// A position below `bound` (`SplitMix64`, Steele et al. 2014, reduced by multiplication).
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

impl Iterator for PairSampler {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        if self.all {
            let (a, b) = self.next;
            self.next = if b + 1 < self.len { (a, b + 1) } else { (a + 1, a + 2) };
            return Some((a as usize, b as usize));
        }
        let a = self.below(self.len);
        let b = (a + 1 + self.below(self.len - 1)) % self.len;
        Some((a as usize, b as usize))
    }
}

/// The value below which a share of sorted numbers lies; the nearest rank.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let rank = libm::round(last as f64 * share) as usize;
    sorted.get(rank.min(last)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_are_all_taken_and_many_are_sampled() {
        let all: Vec<_> = PairSampler::new(4, 100).collect();
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        let some: Vec<_> = PairSampler::new(1000, 500).collect();
        assert_eq!(some.len(), 500);
        assert!(some.iter().all(|(a, b)| a != b && *a < 1000 && *b < 1000));
        assert_eq!(some, PairSampler::new(1000, 500).collect::<Vec<_>>());
        assert_eq!(PairSampler::new(1, 5).count() + PairSampler::new(0, 5).count(), 0);
    }
}
