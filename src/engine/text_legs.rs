//! What a text query adds to each row beside its vector: words, moment, speaker, scene, and its neighbours' share.

use crate::engine::bind::Bound;
use crate::engine::recall::{Ask, Statuses};
use crate::engine::user_index::UserIndex;
use crate::engine::words::Words;
use crate::index::lexical::{Bm25, Scores};
use crate::index::vector::{Facts, Gate, Legs as ArenaLegs, Sight, Sums};
use crate::memory::Timestamp;
use crate::policy::relevance::{Shares, add_context};
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

/// The legs of one query over one index, by row number.
pub(crate) struct TextLegs<'a> {
    index: &'a UserIndex,
    words: &'a Words,
    ask: &'a Ask,
    query: &'a TextQuery,
    scores: Scores,
    /// How well a row meets the moment; empty where the question names none.
    times: Vec<f64>,
    /// Whether the question names the speaker of a row; empty where it names none.
    spoken: Vec<bool>,
    context: Vec<f64>,
    /// What the quantised rows gave, where the context had to look at all of them.
    sums: Option<Sums>,
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
        let (times, spoken, shares) = (Vec::new(), Vec::new(), ask.shares);
        let mut legs =
            Self { index, words, ask, query, scores, times, spoken, context: Vec::new(), sums: None, shares };
        legs.fill_times();
        legs.fill_spoken();
        if query.switches.context && words.has_turns() {
            legs.fill_context(bound);
        }
        legs
    }

    /// Hands `look` the rows that this query may see, which lend to each other; what the filter hides still does, for it
    /// hides nothing secret.
    fn with_sight<R>(&self, look: impl FnOnce(&Sight<'_>) -> R) -> R {
        let active_only = self.ask.statuses == Statuses::ACTIVE && self.ask.as_of.is_none();
        let stands = |facts: &Facts| self.index.stands(self.ask, facts);
        let passes: Option<&dyn Fn(&Facts) -> bool> = if active_only { None } else { Some(&stands) };
        look(&Sight { gate: Gate { active_only, level: self.ask.level.code() }, passes })
    }

    fn fill_times(&mut self) {
        let asked = &self.query.times;
        if asked.is_empty() {
            return;
        }
        let reaches: Vec<(i64, i64)> = asked.iter().map(|asked| asked.interval.reaches()).collect();
        let of = |instant: &i64| {
            let reached = reaches.iter().any(|(first, last)| (*first..=*last).contains(instant));
            if reached { time_match(asked, *instant, &[]) } else { 0.0 }
        };
        let instants = self.words.instants();
        self.times = instants.iter().map(of).collect();
        for (row, told) in self.words.told_rows() {
            if let (Some(time), Some(instant)) = (self.times.get_mut(row as usize), instants.get(row as usize)) {
                *time = time_match(asked, *instant, told);
            }
        }
    }

    fn fill_spoken(&mut self) {
        if !self.query.switches.speaker {
            return;
        }
        for (_, rows) in self.words.speakers().filter(|(speaker, _)| self.query.words.mentions(speaker)) {
            self.spoken.resize(self.index.next_row as usize, false);
            rows.iter().for_each(|row| self.spoken[*row as usize] = true);
        }
    }

    fn fill_context(&mut self, bound: &Bound<'_>) {
        let (lo, hi) = (bound.calibration.lo(), bound.calibration.hi());
        let arena = &self.index.arena;
        let planes = bound.vector.as_ref().map(|vector| arena.kernel().quantise_query(vector.as_slice()));
        // Not a number where this query may not see a row.
        let mut bases = vec![f64::NAN; self.index.next_row as usize];
        let sums = self.with_sight(|sight| {
            arena.scan_quantised(planes.as_ref(), sight, |row, cos| {
                let dense = cos.map_or(0.0, |cos| (cos - lo) / (hi - lo));
                bases[row as usize] = self.shares.base(dense, self.scores.get(row));
            })
        });
        self.sums = Some(sums);
        let mut context = vec![0.0; bases.len()];
        let base = |row: u32| bases.get(row as usize).copied().filter(|base| !base.is_nan());
        add_context(&self.shares, self.words.layout(), base, |row, sum| context[row as usize] = sum);
        self.context = context;
    }

    /// What each leg gives a row.
    fn of(&self, row: u32) -> RowLegs {
        let at = row as usize;
        let scene = self.ask.scene.is_some()
            && self.index.attributes(row).and_then(|a| a.scene.as_ref()) == self.ask.scene.as_ref();
        let spoken = self.spoken.get(at).copied().unwrap_or(false);
        RowLegs {
            lexical: self.shares.words * self.scores.get(row),
            scene: self.shares.scene * f64::from(u8::from(scene)),
            time: self.shares.time * self.times.get(at).copied().unwrap_or(0.0),
            speaker: self.shares.speaker * f64::from(u8::from(spoken)),
            context: self.context.get(at).copied().unwrap_or(0.0),
        }
    }

    /// The sums for the scan.
    pub(crate) fn fill(&mut self) -> ArenaLegs {
        let by_row = self.by_row();
        let mut legs = self.index.arena.legs();
        self.with_sight(|sight| legs.fill(&self.index.arena, &by_row, sight));
        legs.keep_sums(self.sums.take());
        legs
    }

    /// The sums of all legs by row number: leg after leg, in the order of [`RowLegs::sum`].
    fn by_row(&self) -> Vec<f64> {
        if self.ask.scene.is_some() {
            return (0..self.index.next_row).map(|row| self.of(row).sum()).collect();
        }
        let mut sums = vec![0.0; self.index.next_row as usize];
        let mut add = |share: f64, values: &[f64]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += share * value);
        };
        add(self.shares.words, self.scores.as_slice());
        add(self.shares.time, &self.times);
        let spoken: Vec<f64> = self.spoken.iter().map(|spoken| f64::from(u8::from(*spoken))).collect();
        add(self.shares.speaker, &spoken);
        add(1.0, &self.context);
        sums
    }

    /// The legs of one hit, for its explanation.
    pub(crate) fn explain(&self, facts: &Facts) -> RowLegs {
        self.of(facts.row)
    }
}
