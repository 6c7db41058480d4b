//! One bit for each row of a block.

/// Rows of a full block.
pub(super) const BLOCK_ROWS: usize = 256;

/// A set of rows of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bits([u64; 4]);

impl Bits {
    /// The lanes whose value is not 0.
    pub(super) fn where_nonzero(values: &[f64]) -> Self {
        let mut bits = Self::default();
        for (word, values) in bits.0.iter_mut().zip(values.chunks(64)) {
            let mut flags = [0; 64];
            flags.iter_mut().zip(values).for_each(|(flag, value)| *flag = u8::from(*value != 0.0));
            *word = flags.as_chunks().0.iter().rev().fold(0, |word, eight| word << 8 | u64::from(packed(*eight)));
        }
        bits
    }

    /// The first `len` rows.
    pub(super) fn first(len: usize) -> Self {
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate() {
            let here = len.saturating_sub(64 * i).min(64);
            *word = if here == 64 { u64::MAX } else { (1 << here) - 1 };
        }
        Self(words)
    }

    /// The marks of a bound pass, sixteen rows each.
    pub(super) fn from_marks(marks: &[u16]) -> Self {
        let mut words = [0; 4];
        for (i, &mark) in marks.iter().enumerate() {
            words[i / 4] |= u64::from(mark) << (16 * (i % 4));
        }
        Self(words)
    }

    pub(super) fn set(&mut self, lane: usize, on: bool) {
        let bit = 1 << (lane % 64);
        if on { self.0[lane / 64] |= bit } else { self.0[lane / 64] &= !bit }
    }

    pub(super) fn has(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The rows in it, ascending.
    pub(super) fn iter(self) -> Lanes {
        Lanes { words: self.0, at: 0 }
    }
}

/// Eight flags of 0 or 1 as bits, the first the lowest: the product moves flag `i` to bit `56 + i`.
fn packed(flags: [u8; 8]) -> u8 {
    (u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The rows of a set.
pub(super) struct Lanes {
    words: [u64; 4],
    at: usize,
}

impl Iterator for Lanes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let mut word = self.words.get_mut(self.at)?;
        while *word == 0 {
            self.at += 1;
            word = self.words.get_mut(self.at)?;
        }
        let lane = 64 * self.at + word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_bits_in_their_order() {
        for nonzero in [vec![], vec![0], vec![7], vec![8, 63, 64, 200], (0..256).collect(), vec![1, 3, 5, 130, 255]] {
            let mut values = [0.0; BLOCK_ROWS];
            nonzero.iter().for_each(|lane| values[*lane] = -0.5);
            let bits = Bits::where_nonzero(&values);
            assert_eq!(bits.iter().collect::<Vec<_>>(), nonzero);
            assert_eq!(bits.count(), nonzero.len());
        }
        assert_eq!(Bits::where_nonzero(&[-0.0, 1.0, f64::MIN_POSITIVE]).iter().collect::<Vec<_>>(), [1, 2]);
    }
}
