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
            *word = values.iter().enumerate().fold(0, |word, (at, value)| word | u64::from(*value != 0.0) << at);
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
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| 64 * i + w.trailing_zeros() as usize)
        })
    }
}
