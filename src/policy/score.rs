//! The score of a memory, as a pure function: recall and its verification call this one.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// Microseconds in a day.
pub(crate) const DAY_MICROS: f64 = 86_400e6;
/// No weight is below this, so that no memory is unreachable.
pub(crate) const WEIGHT_MIN: f64 = 1.0 / (1u64 << 60) as f64;
/// What a contradicted memory keeps of its weight.
pub(crate) const CONFLICT_FACTOR: f64 = 0.5;
/// The smallest importance that slows forgetting down.
const IMPORTANCE_MIN: f64 = 1.0 / 16.0;
/// The narrowest calibration.
const SPREAD_MIN: f64 = 0.05;

/// How age lowers a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// It doesn't.
    None,
    /// exp(-lambda * days).
    Exponential {
        /// Rate per day.
        lambda: f64,
    },
    /// Halves every so many days.
    HalfLife {
        /// Days; over 0.
        days: f64,
    },
    /// Exponential, divided by the importance of the memory.
    Ebbinghaus {
        /// Rate per day at importance 1.
        lambda: f64,
    },
}

/// A validated curve with its floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decay {
    lambda: f64,
    floor: f64,
    by_importance: bool,
}

impl Decay {
    /// Checks the curve and its floor.
    ///
    /// # Errors
    ///
    /// `Invalid`: a rate or half-life that is negative, NaN or infinite, a half-life of 0, a floor
    /// outside [0, 1].
    pub(crate) fn new(curve: Curve, floor: f64) -> Result<Self> {
        let lambda = match curve {
            Curve::None => 0.0,
            Curve::Exponential { lambda } | Curve::Ebbinghaus { lambda } => lambda,
            Curve::HalfLife { days } if days > 0.0 && days.is_finite() => std::f64::consts::LN_2 / days,
            Curve::HalfLife { .. } => return Err(Error::invalid("half-life: must be finite and over 0 days")),
        };
        if !lambda.is_finite() || lambda < 0.0 {
            return Err(Error::invalid("decay rate: must be finite and not negative"));
        }
        if !(0.0..=1.0).contains(&floor) {
            return Err(Error::invalid("retention floor: must be in [0, 1]"));
        }
        Ok(Self { lambda: lambda + 0.0, floor, by_importance: matches!(curve, Curve::Ebbinghaus { .. }) })
    }

    /// Rate per day at c = 1.
    pub(crate) fn lambda(&self) -> f64 {
        self.lambda
    }

    /// What no age takes away.
    pub(crate) fn floor(&self) -> f64 {
        self.floor
    }

    /// Whether importance slows the decay.
    pub(crate) fn is_by_importance(&self) -> bool {
        self.by_importance
    }

    /// The factor c of one memory's rate.
    pub(crate) fn rate(&self, importance: f32, pinned: bool) -> f64 {
        match (pinned, self.by_importance) {
            (true, _) => 0.0,
            (false, true) => importance_rate(importance),
            (false, false) => 1.0,
        }
    }

    /// The factor in [floor, 1] that age leaves of a score.
    pub(crate) fn retention(&self, age_days: f64, rate: f64) -> f64 {
        if age_days <= 0.0 || rate == 0.0 || self.lambda == 0.0 {
            return 1.0;
        }
        self.floor + (1.0 - self.floor) * libm::exp(-self.lambda * rate * age_days)
    }
}

/// How many times faster than at importance 1 the Ebbinghaus curve forgets.
pub(crate) fn importance_rate(importance: f32) -> f64 {
    1.0 / f64::from(importance).max(IMPORTANCE_MIN)
}

/// Days from `time` to `now`, both in microseconds; 0 when `time` lies ahead.
pub(crate) fn age_days(now: i64, time: i64) -> f64 {
    now.saturating_sub(time).max(0) as f64 / DAY_MICROS
}

/// The weight of a memory.
pub(crate) fn weight(importance: f32, confidence: f32, contradicted: bool) -> f64 {
    let conflict = if contradicted { CONFLICT_FACTOR } else { 1.0 };
    (f64::from(importance) * f64::from(confidence) * conflict).max(WEIGHT_MIN)
}

/// Everything about a query that the score depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreParams {
    /// Decay curve and floor.
    pub(crate) decay: Decay,
    /// Share of the dense leg.
    pub(crate) dense_share: f64,
    /// Cosine that counts 0.
    pub(crate) lo: f64,
    /// Cosine that counts 1.
    pub(crate) hi: f64,
    /// Divisor of the relevance of turns: 1.9 for a text query, else 1.
    pub(crate) z: f64,
    /// Whether importance, confidence and conflicts count.
    pub(crate) weighted: bool,
    /// The query's clock, in microseconds.
    pub(crate) now: i64,
}

/// Everything about a memory that its score depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreInput {
    /// Exact cosine with the query; none while the vector is pending or the dense leg is off.
    pub(crate) cos: Option<f64>,
    /// Sum of the other legs and of the context.
    pub(crate) additive: f64,
    /// Effective time, in microseconds.
    pub(crate) time: i64,
    /// In [0, 1].
    pub(crate) importance: f32,
    /// In [0, 1].
    pub(crate) confidence: f32,
    /// Whether the query contradicts it.
    pub(crate) contradicted: bool,
    /// Whether it never decays.
    pub(crate) pinned: bool,
    /// Whether it is a turn of a conversation.
    pub(crate) turn: bool,
}

/// A score and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreParts {
    /// Cosine with the query; 0 without one.
    pub(crate) dense_cos: f64,
    /// Relevance before it is cut off at 0.
    pub(crate) relevance_raw: f64,
    /// What age leaves.
    pub(crate) retention: f64,
    /// Importance, confidence and conflict.
    pub(crate) weight: f64,
    /// The product.
    pub(crate) score: f64,
}

impl ScoreParts {
    /// Better first: by score, then by relevance before the cut, then by id.
    pub(crate) fn order(&self, id: &[u8; 16], other: &Self, other_id: &[u8; 16]) -> Ordering {
        let score = other.score.total_cmp(&self.score);
        score.then(other.relevance_raw.total_cmp(&self.relevance_raw)).then(id.cmp(other_id))
    }
}

/// Scores memories for one query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scorer {
    params: ScoreParams,
}

impl Scorer {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// `Invalid`: a share that is negative or not finite, a calibration narrower than 0.05, a divisor
    /// that is not over 0.
    pub(crate) fn new(params: ScoreParams) -> Result<Self> {
        let ScoreParams { dense_share, lo, hi, z, .. } = params;
        if !dense_share.is_finite() || dense_share < 0.0 {
            return Err(Error::invalid("dense share: must be finite and not negative"));
        }
        if !(lo.is_finite() && hi.is_finite() && hi - lo >= SPREAD_MIN - 1e-12) {
            return Err(Error::invalid("calibration: hi - lo must be at least 0.05"));
        }
        if !z.is_finite() || z < 1.0 {
            return Err(Error::invalid("relevance divisor: must be finite and at least 1"));
        }
        Ok(Self { params })
    }

    /// What it was made with.
    pub(crate) fn params(&self) -> &ScoreParams {
        &self.params
    }

    /// The score of one memory.
    pub(crate) fn parts(&self, m: &ScoreInput) -> ScoreParts {
        let p = &self.params;
        let dense = m.cos.map_or(0.0, |cos| p.dense_share * ((cos - p.lo) / (p.hi - p.lo)));
        let relevance_raw = (dense + m.additive) / if m.turn { p.z } else { 1.0 };
        let retention = p.decay.retention(age_days(p.now, m.time), p.decay.rate(m.importance, m.pinned));
        let weight = if p.weighted { weight(m.importance, m.confidence, m.contradicted) } else { 1.0 };
        let relevance = if relevance_raw > 0.0 { relevance_raw } else { 0.0 };
        let score = relevance * retention * weight;
        ScoreParts { dense_cos: m.cos.unwrap_or(0.0), relevance_raw, retention, weight, score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn params(curve: Curve, floor: f64) -> ScoreParams {
        let decay = Decay::new(curve, floor).expect("a valid curve");
        ScoreParams { decay, dense_share: 0.5, lo: 0.1, hi: 0.6, z: 1.0, weighted: true, now: 100 * DAY }
    }

    fn input() -> ScoreInput {
        ScoreInput {
            cos: Some(0.6),
            additive: 0.25,
            time: 90 * DAY,
            importance: 0.5,
            confidence: 1.0,
            contradicted: false,
            pinned: false,
            turn: false,
        }
    }

    fn score(curve: Curve, floor: f64, m: &ScoreInput) -> ScoreParts {
        Scorer::new(params(curve, floor)).expect("valid").parts(m)
    }

    #[test]
    fn the_parts_multiply_to_the_score() {
        let parts = score(Curve::HalfLife { days: 10.0 }, 0.5, &input());
        assert_eq!(parts.relevance_raw, 0.75);
        assert_eq!(parts.weight, 0.5);
        assert!((parts.retention - 0.75).abs() < 1e-15);
        assert_eq!(parts.score, parts.relevance_raw * parts.retention * parts.weight);
    }

    #[test]
    fn pinned_and_future_memories_keep_all() {
        let curve = Curve::Exponential { lambda: 2.5 };
        assert_eq!(score(curve, 0.0, &ScoreInput { pinned: true, time: i64::MIN, ..input() }).retention, 1.0);
        assert_eq!(score(curve, 0.0, &ScoreInput { time: i64::MAX, ..input() }).retention, 1.0);
        assert_eq!(score(Curve::Exponential { lambda: f64::MAX }, 0.0, &input()).retention, 0.0);
    }

    #[test]
    fn importance_slows_only_ebbinghaus() {
        let slow = score(Curve::Ebbinghaus { lambda: 0.1 }, 0.0, &ScoreInput { importance: 1.0, ..input() });
        let fast = score(Curve::Ebbinghaus { lambda: 0.1 }, 0.0, &ScoreInput { importance: 0.0, ..input() });
        assert_eq!(slow.retention, libm::exp(-0.1 * 10.0));
        assert_eq!(fast.retention, libm::exp(-0.1 * 16.0 * 10.0));
        assert_eq!(fast.weight, WEIGHT_MIN);
    }

    #[test]
    fn conflict_halves_and_negative_relevance_scores_zero() {
        let parts = score(Curve::None, 0.9, &ScoreInput { contradicted: true, ..input() });
        assert_eq!(parts.weight, 0.25);
        let parts = score(Curve::None, 0.9, &ScoreInput { cos: Some(-1.0), ..input() });
        assert!(parts.relevance_raw < 0.0 && parts.score.to_bits() == 0);
        let parts = score(Curve::None, 0.9, &ScoreInput { cos: None, ..input() });
        assert_eq!((parts.relevance_raw, parts.dense_cos), (0.25, 0.0));
    }

    #[test]
    fn nonsense_is_refused() {
        let bad = [-1.0, f64::NAN, f64::INFINITY];
        for x in bad {
            assert!(Decay::new(Curve::Exponential { lambda: x }, 0.9).is_err());
            assert!(Decay::new(Curve::Ebbinghaus { lambda: x }, 0.9).is_err());
            assert!(Decay::new(Curve::HalfLife { days: x }, 0.9).is_err());
            assert!(Decay::new(Curve::None, x).is_err());
            assert!(Scorer::new(ScoreParams { dense_share: x, ..params(Curve::None, 0.0) }).is_err());
            assert!(Scorer::new(ScoreParams { z: x, ..params(Curve::None, 0.0) }).is_err());
        }
        assert!(Decay::new(Curve::HalfLife { days: 0.0 }, 0.9).is_err());
        assert!(Decay::new(Curve::HalfLife { days: f64::from_bits(1) }, 0.9).is_err());
        assert!(Scorer::new(ScoreParams { lo: 0.58, ..params(Curve::None, 0.0) }).is_err());
    }

    #[test]
    fn ties_go_to_relevance_then_to_id() {
        let low = score(Curve::None, 0.0, &ScoreInput { cos: Some(-0.9), ..input() });
        let lower = score(Curve::None, 0.0, &ScoreInput { cos: Some(-1.0), ..input() });
        assert_eq!(low.order(&[2; 16], &lower, &[1; 16]), Ordering::Less);
        assert_eq!(low.order(&[2; 16], &low, &[1; 16]), Ordering::Greater);
    }
}
