use mnemic::world::testing::SplitMix64;

use super::DIMS;

/// What makes choices: a seed, or the bytes of a fuzzer.
pub(crate) trait Dice {
    /// A number below `bound`; 0 for bound 0.
    fn below(&mut self, bound: u64) -> u64;

    /// A vector, not normalised, never zero.
    fn vector(&mut self) -> Vec<f32> {
        (0..DIMS).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).map(|x| if x == 0.0 { 0.5 } else { x }).collect()
    }
}

impl Dice for SplitMix64 {
    fn below(&mut self, bound: u64) -> u64 {
        SplitMix64::below(self, bound)
    }
}

/// Choices that a fuzzer makes, byte by byte; zeros once they are used up.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    /// Whether no more choices are left.
    pub(crate) fn is_used_up(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }
}

impl Dice for Bytes<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        let low = u64::from(self.next());
        let value = if bound > 256 { low | u64::from(self.next()) << 8 } else { low };
        value.checked_rem(bound).unwrap_or(0)
    }

    fn vector(&mut self) -> Vec<f32> {
        SplitMix64::new(u64::from(self.next())).vector()
    }
}
