//! How far estimates of a cosine are off, in units of their own spread.

/// The law that shortfalls follow: a normal one, with what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    mean: f64,
    deviation: f64,
}

/// The least chance of missing that is told apart from none.
const REST_MIN: f64 = 1e-12;
const DEVIATION_MIN: f64 = 0.05;

/// Count, mean and sum of squared differences from the mean of some shortfalls (true cosine less estimate, in spreads).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(super) fn of(shortfalls: &[f64]) -> Self {
        let count = shortfalls.len() as f64;
        let mean = shortfalls.iter().sum::<f64>() / count.max(1.0);
        Self { count, mean, squares: shortfalls.iter().map(|&d| (d - mean).powi(2)).sum() }
    }

    /// Those of both together (Chan).
    fn with(&self, other: &Self) -> Self {
        let count = self.count + other.count;
        let (part, apart) = (other.count / count.max(1.0), other.mean - self.mean);
        let squares = self.squares + other.squares + apart.powi(2) * self.count * part;
        Self { count, mean: self.mean + apart * part, squares }
    }

    pub(super) fn to_stored(self) -> [f64; 3] {
        [self.count, self.mean, self.squares]
    }

    /// None where no shortfalls could have them.
    pub(super) fn from_stored([count, mean, squares]: [f64; 3]) -> Option<Self> {
        (count >= 0.0 && squares >= 0.0).then_some(Self { count, mean, squares })
    }
}

impl Law {
    /// The law of some shortfalls; none of fewer than two.
    pub(super) fn of(shortfalls: &Moments) -> Option<Self> {
        if shortfalls.count < 2.0 {
            return None;
        }
        let deviation = (shortfalls.squares / (shortfalls.count - 1.0)).sqrt().max(DEVIATION_MIN);
        Some(Self { mean: shortfalls.mean, deviation })
    }

    /// The law of rows that stand in for questions and of some real ones together, as far as those are known
    /// wide by one standard error more.
    pub(super) fn of_both(sampled: &Moments, asked: &Moments, questions: usize) -> Option<Self> {
        let law = Self::of(&sampled.with(asked))?;
        let wide = if questions == 0 { 1.0 } else { 1.0 + 1.0 / (questions as f64).sqrt() };
        Some(Self { deviation: law.deviation * wide, ..law })
    }

    /// The part of shortfalls that are at most this large.
    pub(super) fn chance(&self, margin: f64) -> f64 {
        0.5 * libm::erfc((self.mean - margin) / (self.deviation * std::f64::consts::SQRT_2))
    }

    /// The margin of a part, and some deviations more.
    pub(super) fn wide_margin(&self, chance: f64, wider: f64) -> f64 {
        self.margin(chance) + wider * self.deviation
    }

    /// The least margin that this part of all shortfalls stays under.
    fn margin(&self, chance: f64) -> f64 {
        let rest = chance.min(1.0 - chance).max(REST_MIN);
        let size = quantile(rest);
        self.mean + self.deviation * if chance < 0.5 { -size } else { size }
    }
}

/// How many deviations are exceeded with this chance of at most one half; off by less than 5e-4 (Hastings).
fn quantile(rest: f64) -> f64 {
    let t = (-2.0 * rest.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_has_the_chance_that_it_was_asked_for() {
        let law = Law::of(&Moments::of(&[-3.0, 0.0, 1.0, 2.0, 5.0])).expect("enough");
        for chance in [0.01, 0.2, 0.5, 0.8, 0.95, 0.99, 0.9999] {
            let seen = law.chance(law.wide_margin(chance, 0.0));
            assert!((seen - chance).abs() < 3e-4, "{chance}: {seen}");
        }
        assert!(law.wide_margin(0.9, 1.0) > law.wide_margin(0.9, 0.0));
        assert!(law.wide_margin(1.0, 0.0).is_finite() && law.chance(law.wide_margin(1.0, 0.0)) > 1.0 - 1e-9);
    }

    #[test]
    fn moments_of_parts_together_are_those_of_the_whole() {
        let all = [0.25, -1.5, 3.0, 0.0, 7.5, -2.0, 0.125];
        for cut in 0..=all.len() {
            let both = Moments::of(&all[..cut]).with(&Moments::of(&all[cut..]));
            let whole = Moments::of(&all);
            let near = both.to_stored().iter().zip(whole.to_stored()).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near, "{both:?} {whole:?}");
        }
        assert_eq!(Moments::of(&[]).with(&Moments::of(&[])), Moments::default());
        assert_eq!(Moments::from_stored([1.0, 0.0, -1.0]), None);
    }

    #[test]
    fn a_law_takes_more_than_one_shortfall() {
        assert_eq!(Law::of(&Moments::of(&[0.5])), None);
        let same = Law::of(&Moments::of(&[0.5, 0.5])).expect("two");
        assert!(same.chance(0.4) < 0.5 && same.chance(0.6) > 0.5);
    }
}
