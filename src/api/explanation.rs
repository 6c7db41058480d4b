use std::fmt;

use crate::engine::{Ranking, RowLegs, Scored};
use crate::memory::{Calibration, Timestamp};
use crate::policy::score::{ScoreInput, ScoreParts, Scorer, age_days};

/// Everything that a score was made of. Recomputing it gives the same bits, on every CPU.
///
/// `score = max(0, relevance) * retention * weight`. The relevance of a vector query is
/// `(cosine - lo) / (hi - lo)`; that of a text query is the sum of its legs (docs/ranking.md). Then
/// `retention = floor + (1 - floor) * exp(-lambda * rate * age_days)` and
/// `weight = max(2^-60, importance * confidence * conflict)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Explanation {
    scorer: Scorer,
    input: ScoreInput,
    parts: ScoreParts,
    calibration: Calibration,
    memory_version: u32,
    legs: RowLegs,
}

impl Explanation {
    pub(crate) fn of(scorer: Scorer, calibration: Calibration, hit: &Scored) -> Self {
        let facts = &hit.facts;
        let parts = hit.candidate.parts;
        let input = ScoreInput {
            cos: hit.compared.then_some(parts.dense_cos),
            additive: hit.candidate.additive,
            time: facts.time,
            importance: facts.importance,
            confidence: facts.confidence,
            contradicted: hit.contradicted,
            pinned: facts.pinned,
            turn: facts.turn,
        };
        Self { scorer, input, parts, calibration, memory_version: facts.version, legs: hit.legs }
    }

    pub(crate) fn all(ranking: &Ranking) -> impl Iterator<Item = Self> {
        let calibration = ranking.calibration;
        ranking
            .scorer
            .into_iter()
            .flat_map(move |scorer| ranking.hits.iter().map(move |hit| Self::of(scorer, calibration, hit)))
    }

    /// The final score.
    pub fn score(&self) -> f64 {
        self.parts.score
    }

    /// The exact cosine of query and memory.
    pub fn cosine(&self) -> f64 {
        self.parts.dense_cos
    }

    /// What the words gave, weighted by their share.
    pub fn words(&self) -> f64 {
        self.legs.lexical
    }

    /// What the moment that the question names gave, weighted by its share.
    pub fn time_match(&self) -> f64 {
        self.legs.time
    }

    /// What the speaker that the question names gave, weighted by its share.
    pub fn speaker(&self) -> f64 {
        self.legs.speaker
    }

    /// What the scene gave, weighted by its share.
    pub fn scene(&self) -> f64 {
        self.legs.scene
    }

    /// What the turns around it lent.
    pub fn context(&self) -> f64 {
        self.legs.context
    }

    /// Relevance before it is cut off at 0.
    pub fn relevance(&self) -> f64 {
        self.parts.relevance_raw
    }

    /// What age left of the score, in [floor, 1].
    pub fn retention(&self) -> f64 {
        self.parts.retention
    }

    /// Importance, confidence and conflict together.
    pub fn weight(&self) -> f64 {
        self.parts.weight
    }

    /// Days from the memory's time to the query's clock; 0 where it lies ahead.
    pub fn age_days(&self) -> f64 {
        age_days(self.scorer.params().now, self.input.time)
    }

    /// The query's clock.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.scorer.params().now)
    }

    /// How cosines were read, and by which version.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// The version of the memory that was scored.
    pub fn memory_version(&self) -> u32 {
        self.memory_version
    }

    /// Whether recomputing the score from its parts gives the same bits.
    pub fn verify(&self) -> bool {
        let again = self.scorer.parts(&self.input);
        let bits = |p: &ScoreParts| [p.score, p.relevance_raw, p.retention, p.weight, p.dense_cos].map(f64::to_bits);
        let sum = self.legs.sum();
        let same_legs = sum.to_bits() == self.input.additive.to_bits() || (sum == 0.0 && self.input.additive == 0.0);
        bits(&again) == bits(&self.parts) && same_legs
    }
}

impl Explanation {
    fn fmt_relevance(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.scorer.params();
        write!(f, "  relevance:")?;
        if self.input.cos.is_some() {
            let (lo, hi) = (params.lo, params.hi);
            write!(f, " {} * (cosine {:.4} - {lo:.4}) / ({hi:.4} - {lo:.4})", params.dense_share, self.cosine())?;
        }
        let legs = &self.legs;
        let named = [
            ("words", legs.lexical),
            ("scene", legs.scene),
            ("time", legs.time),
            ("speaker", legs.speaker),
            ("context", legs.context),
        ];
        for (name, value) in named.iter().filter(|(_, value)| *value != 0.0) {
            write!(f, " + {name} {value:.4}")?;
        }
        let divisor = if self.input.turn { params.z } else { 1.0 };
        if divisor == 1.0 { writeln!(f) } else { writeln!(f, ", all / {divisor}") }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.scorer.params();
        let decay = params.decay;
        let rate = decay.rate(self.input.importance, self.input.pinned);
        writeln!(
            f,
            "score {:.6} = relevance {:.6} x retention {:.6} x weight {:.6}",
            self.score(),
            self.relevance().max(0.0),
            self.retention(),
            self.weight()
        )?;
        self.fmt_relevance(f)?;
        writeln!(
            f,
            "  retention: {:.3} + {:.3} * exp(-{} * {} * {:.3} days){}",
            decay.floor(),
            1.0 - decay.floor(),
            decay.lambda(),
            rate,
            self.age_days(),
            if self.input.pinned { ", pinned" } else { "" }
        )?;
        write!(
            f,
            "  weight: importance {} * confidence {}{}{}",
            self.input.importance,
            self.input.confidence,
            if self.input.contradicted { " * conflict 0.5" } else { "" },
            if params.weighted { "" } else { " (left out of this query)" }
        )
    }
}
