//! Lists from where a query stands: how near their hits may be.

/// A list as one query sees it.
///
/// Hits lie nearer than their centre. By how much was seen to grow with their own nearness, and with how far
/// list and query spread away from the centre: measured in these two, one law holds for near and far hits.
#[derive(Debug, Clone, Copy)]
pub(in crate::index::vector) struct Sight {
    pub(super) centre: f64,
    pub(super) spread: f64,
}

/// What a list had to reach to be looked into: a dot product of its rows, less the margin.
#[derive(Debug, Clone, Copy)]
pub(in crate::index::vector) struct Entry {
    least: f64,
    spread: f64,
}

impl Sight {
    /// How much nearer than the centre a hit is.
    pub(super) fn shortfall(&self, dot: f64) -> Option<f64> {
        (dot > 0.0).then(|| (1.0 - self.centre / dot) / self.spread)
    }

    /// The largest dot product of a row that isn't nearer than by this margin.
    pub(super) fn reach(&self, margin: f64) -> f64 {
        let rest = 1.0 - margin * self.spread;
        if rest > 0.0 { (self.centre / rest).max(0.0) } else { f64::INFINITY }
    }

    /// The entry of rows that need this dot product.
    pub(super) fn entry(&self, needed: f64, margin: f64) -> Entry {
        Entry { least: needed * (1.0 - margin * self.spread), spread: self.spread }
    }
}

impl Entry {
    /// The largest shortfall with which the list of a hit would still have been looked into.
    pub(in crate::index::vector) fn allowed(&self, dot: f64) -> f64 {
        if self.least <= 0.0 { f64::INFINITY } else { (1.0 - self.least / dot.max(f64::MIN_POSITIVE)) / self.spread }
    }
}
