//! How far estimates of a cosine are off, in units of their own spread.

/// The law that shortfalls follow: a normal one, with what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    mean: f64,
    deviation: f64,
}

/// Bounds of what a margin is looked for in.
const MARGIN_MAX: f64 = 16.0;
const DEVIATION_MIN: f64 = 0.05;
const HALVINGS: usize = 40;

impl Law {
    /// The law of some shortfalls (true cosine less estimate, in spreads), on the safe side by one standard
    /// error; none if there are too few.
    pub(super) fn of(shortfalls: &[f32]) -> Option<Self> {
        let count = shortfalls.len() as f64;
        if shortfalls.len() < 2 {
            return None;
        }
        let mean = shortfalls.iter().map(|&d| f64::from(d)).sum::<f64>() / count;
        let squares = shortfalls.iter().map(|&d| (f64::from(d) - mean).powi(2)).sum::<f64>();
        let deviation = (squares / (count - 1.0)).sqrt().max(DEVIATION_MIN);
        Some(Self { mean, deviation })
    }

    /// The part of shortfalls that are at most this large.
    pub(super) fn chance(&self, margin: f64) -> f64 {
        0.5 * libm::erfc((self.mean - margin) / (self.deviation * std::f64::consts::SQRT_2))
    }

    /// The least margin that this part of all shortfalls stays under.
    pub(super) fn margin(&self, chance: f64) -> f64 {
        let (mut low, mut high) = (-MARGIN_MAX, MARGIN_MAX);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.chance(middle) < chance { low = middle } else { high = middle }
        }
        high
    }
}
