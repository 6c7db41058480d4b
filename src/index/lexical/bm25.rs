use crate::text::Language;

/// The two parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bm25 {
    /// How slowly repetition saturates.
    pub(crate) k1: f64,
    /// How much a long text is held against its terms.
    pub(crate) b: f64,
}

impl Bm25 {
    /// For words between spaces, as in English turns.
    pub(crate) const WORDS: Self = Self { k1: 0.6, b: 0.2 };
    /// For characters and pairs.
    pub(crate) const CHARACTERS: Self = Self { k1: 1.2, b: 0.75 };

    /// The parameters for a query: its language decides, so that nothing stored does.
    pub(crate) const fn of(language: Language) -> Self {
        if language.is_unspaced() { Self::CHARACTERS } else { Self::WORDS }
    }

    /// How rare a term is that `df` of `rows` rows hold.
    pub(super) fn idf(rows: u64, df: u64) -> f64 {
        libm::log(1.0 + (rows as f64 - df as f64 + 0.5) / (df as f64 + 0.5))
    }

    /// The parameters against a mean length.
    pub(super) fn against(self, mean_length: f64) -> Saturation {
        Saturation { base: self.k1 * (1.0 - self.b), slope: self.k1 * self.b / mean_length }
    }
}

/// What a count is weighed against: `base + slope * length`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saturation {
    base: f64,
    slope: f64,
}

impl Saturation {
    /// In [0, 1).
    pub(super) fn of(self, count: u8, length: u32) -> f64 {
        let count = f64::from(count);
        count / (count + (self.base + self.slope * f64::from(length)))
    }
}
