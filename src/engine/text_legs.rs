//! What a text query adds to each row beside its vector: words, moment, speaker, scene, and its neighbours' share.

use std::collections::HashMap;

use crate::engine::bind::Bound;
use crate::engine::recall::Ask;
use crate::engine::user_index::UserIndex;
use crate::engine::words::Words;
use crate::index::lexical::{Bm25, Scores};
use crate::index::vector::{Facts, Gate, Legs as ArenaLegs};
use crate::memory::Timestamp;
use crate::policy::relevance::{Legs, Shares, add_context};
use crate::text::QueryWords;
use crate::text::time::{TimeExpression, question_times, time_match};

/// Which legs of a text query count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "five switches, each on its own")]
pub struct LegSwitches {
    /// The meaning, by vectors.
    pub dense: bool,
    /// The words.
    pub words: bool,
    /// The moment that the question names.
    pub time: bool,
    /// The speaker that the question names.
    pub speaker: bool,
    /// What the turns before and after, and the rest of the conversation, lend.
    pub context: bool,
}

impl LegSwitches {
    /// Every leg: the default of a text query.
    pub const ALL: Self = Self { dense: true, words: true, time: true, speaker: true, context: true };
    /// The meaning alone.
    pub const DENSE: Self = Self { words: false, time: false, speaker: false, context: false, ..Self::ALL };
    /// The words alone.
    pub const WORDS: Self = Self { dense: false, time: false, speaker: false, context: false, ..Self::ALL };
}

/// The analysed text of a query.
pub(crate) struct TextQuery {
    words: QueryWords,
    times: Vec<TimeExpression>,
    switches: LegSwitches,
}

impl TextQuery {
    pub(crate) fn new(text: &str, now: Timestamp, switches: LegSwitches) -> Self {
        let times = if switches.time { question_times(text, now.as_micros()) } else { Vec::new() };
        Self { words: QueryWords::of(text), times, switches }
    }

    /// The expressions of time that count.
    pub(crate) fn times(&self) -> impl Iterator<Item = &str> {
        self.times.iter().map(|time| time.text.as_str())
    }

    /// Whether any leg but the dense one can say anything.
    pub(crate) fn has_signal(&self) -> bool {
        (self.switches.words && !self.words.terms.is_empty()) || !self.times.is_empty()
    }
}

/// What a leg gave a row, weighted by its share.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct RowLegs {
    pub(crate) lexical: f64,
    pub(crate) scene: f64,
    pub(crate) time: f64,
    pub(crate) speaker: f64,
    pub(crate) context: f64,
}

impl RowLegs {
    /// The sum, in the order written.
    pub(crate) fn sum(&self) -> f64 {
        self.lexical + self.scene + self.time + self.speaker + self.context
    }
}

/// The legs of one query over one index.
pub(crate) struct TextLegs<'a> {
    index: &'a UserIndex,
    words: &'a Words,
    ask: &'a Ask,
    query: &'a TextQuery,
    scores: Scores,
    context: Vec<f64>,
    shares: Shares,
}

impl<'a> TextLegs<'a> {
    pub(crate) fn new(index: &'a UserIndex, words: &'a Words, bound: &'a Bound<'_>, query: &'a TextQuery) -> Self {
        let ask = bound.ask;
        let bm25 = Bm25::of(query.words.language);
        let scores = if query.switches.words {
            words.lexical.score(&query.words.terms, ask.level, bm25)
        } else {
            Scores::default()
        };
        let mut legs = Self { index, words, ask, query, scores, context: Vec::new(), shares: ask.shares };
        if query.switches.context && words.has_turns() {
            legs.fill_context(bound);
        }
        legs
    }

    /// Rows that this query may see lend to each other; what the filter hides still does, for it hides nothing secret.
    fn sees(&self, facts: &Facts) -> bool {
        facts.sensitivity <= self.ask.level.code() && self.index.stands(self.ask, facts)
    }

    fn fill_context(&mut self, bound: &Bound<'_>) {
        let dense = self.quantised(bound);
        let base = |row: u32| {
            let facts = self.index.arena.facts(row).filter(|facts| self.sees(facts))?;
            let dense = dense.get(facts.row as usize).copied().unwrap_or(0.0);
            Some(self.shares.base(dense, self.scores.get(row)))
        };
        let mut context = vec![0.0; self.index.next_row as usize];
        add_context(&self.shares, &self.words.layout(), base, |row, sum| {
            if let Some(slot) = context.get_mut(row as usize) {
                *slot = sum;
            }
        });
        self.context = context;
    }

    /// The calibrated similarity of the quantised rows: the same numbers on every CPU.
    fn quantised(&self, bound: &Bound<'_>) -> Vec<f64> {
        let Some(vector) = &bound.vector else { return Vec::new() };
        let (lo, hi) = (bound.calibration.lo(), bound.calibration.hi());
        let planes = self.index.arena.kernel().quantise_query(vector.as_slice());
        let mut dense = vec![0.0; self.index.next_row as usize];
        let gate = Gate { active_only: false, level: self.ask.level.code() };
        self.index.arena.scan_quantised(&planes, gate, |facts, cos| {
            if let Some(slot) = dense.get_mut(facts.row as usize) {
                *slot = (cos - lo) / (hi - lo);
            }
        });
        dense
    }

    /// What each leg gives a row.
    pub(crate) fn of(&self, facts: &Facts, speaks: bool) -> RowLegs {
        let attributes = self.index.attributes(facts.row);
        let legs = Legs {
            dense: 0.0,
            lexical: self.scores.get(facts.row),
            scene: f64::from(u8::from(
                self.ask.scene.is_some() && attributes.and_then(|a| a.scene.as_ref()) == self.ask.scene.as_ref(),
            )),
            time: self.time(facts),
            speaker: f64::from(u8::from(speaks)),
        };
        RowLegs {
            lexical: self.shares.words * legs.lexical,
            scene: self.shares.scene * legs.scene,
            time: self.shares.time * legs.time,
            speaker: self.shares.speaker * legs.speaker,
            context: self.context.get(facts.row as usize).copied().unwrap_or(0.0),
        }
    }

    fn time(&self, facts: &Facts) -> f64 {
        if self.query.times.is_empty() {
            return 0.0;
        }
        let event = self.index.attributes(facts.row).and_then(|a| a.event_at);
        let instant = event.map_or(facts.created_at, Timestamp::as_micros);
        time_match(&self.query.times, instant, self.words.told(facts.row))
    }

    /// Whether the question names the speaker of a row.
    fn speaks(&self, facts: &Facts, known: &mut HashMap<&'a str, bool>) -> bool {
        if !self.query.switches.speaker {
            return false;
        }
        let Some(speaker) = self.index.attributes(facts.row).and_then(|a| a.speaker.as_deref()) else { return false };
        *known.entry(speaker).or_insert_with(|| self.query.words.mentions(speaker))
    }

    /// The sums for the scan.
    pub(crate) fn fill(&self) -> ArenaLegs {
        let mut legs = self.index.arena.legs();
        let mut known = HashMap::new();
        for facts in self.index.arena.iter().filter(|facts| self.sees(facts)) {
            let sum = self.of(facts, self.speaks(facts, &mut known)).sum();
            if sum != 0.0 {
                legs.add(&self.index.arena, facts.row, sum);
            }
        }
        legs
    }

    /// The legs of one hit, for its explanation.
    pub(crate) fn explain(&self, facts: &Facts) -> RowLegs {
        self.of(facts, self.speaks(facts, &mut HashMap::new()))
    }
}
