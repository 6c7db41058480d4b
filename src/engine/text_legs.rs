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

/// With fewer than one in so many rows, they are looked up one by one.
const SPARSE_PART: usize = 4;

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
    /// The rows that the moment may say something of.
    timed: Vec<u32>,
    /// 1 for a row whose speaker the question names; empty where it names none.
    spoken: Vec<f64>,
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
        let (times, timed, spoken, context) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let shares = ask.shares;
        let mut legs = Self { index, words, ask, query, scores, times, timed, spoken, context, sums: None, shares };
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
        let instants = self.words.instants();
        self.times = vec![0.0; instants.len()];
        for (first, last) in asked.iter().map(|asked| asked.interval.reaches()) {
            let reached = |(_, instant): &(usize, &i64)| (first..=last).contains(*instant);
            self.timed.extend(instants.iter().enumerate().filter(reached).map(|(row, _)| row as u32));
        }
        self.timed.iter().for_each(|row| self.times[*row as usize] = time_match(asked, instants[*row as usize], &[]));
        for (row, told) in self.words.told_rows() {
            self.timed.push(row);
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
            self.spoken.resize(self.index.next_row as usize, 0.0);
            rows.iter().for_each(|row| self.spoken[*row as usize] = 1.0);
        }
    }

    fn fill_context(&mut self, bound: &Bound<'_>) {
        let (lo, hi) = (bound.calibration.lo(), bound.calibration.hi());
        let arena = &self.index.arena;
        let planes = bound.vector.as_ref().map(|vector| arena.kernel().quantise_query(vector.as_slice()));
        // Not a number where this query may not see a row.
        let mut bases = vec![f64::NAN; self.index.next_row as usize];
        let calibrated = |cos: f64| (cos - lo) / (hi - lo);
        self.sums = Some(self.with_sight(|sight| arena.scan_quantised(planes.as_ref(), sight, calibrated, &mut bases)));
        let scored = self.scores.as_slice().len().min(bases.len());
        let (scored, rest) = bases.split_at_mut(scored);
        scored.iter_mut().zip(self.scores.as_slice()).for_each(|(base, score)| *base = self.shares.base(*base, *score));
        rest.iter_mut().for_each(|base| *base = self.shares.base(*base, 0.0));
        let mut context = vec![0.0; bases.len()];
        add_context(&self.shares, self.words.layout(), &bases, &mut context);
        self.context = context;
    }

    /// What each leg gives a row.
    fn of(&self, row: u32) -> RowLegs {
        let at = row as usize;
        let scene = self.ask.scene.is_some()
            && self.index.attributes(row).and_then(|a| a.scene.as_ref()) == self.ask.scene.as_ref();
        RowLegs {
            lexical: self.shares.words * self.scores.get(row),
            scene: self.shares.scene * f64::from(u8::from(scene)),
            time: self.shares.time * self.times.get(at).copied().unwrap_or(0.0),
            speaker: self.shares.speaker * self.spoken.get(at).copied().unwrap_or(0.0),
            context: self.context.get(at).copied().unwrap_or(0.0),
        }
    }

    /// The sums for the scan.
    pub(crate) fn fill(&mut self) -> ArenaLegs {
        let (arena, mut legs) = (&self.index.arena, self.index.arena.legs());
        self.with_sight(|sight| match self.touched() {
            Some(rows) => legs.fill_some(arena, rows.map(|row| (row, self.of(row).sum())), sight),
            None => legs.fill(arena, &self.by_row(), sight),
        });
        legs.keep_sums(self.sums.take());
        legs
    }

    /// The rows of which a leg may say something, some more than once; none where these are many.
    fn touched(&self) -> Option<impl Iterator<Item = u32>> {
        let rows = [self.scores.hits(), &self.timed];
        let few = rows.iter().map(|rows| rows.len()).sum::<usize>() < self.index.next_row as usize / SPARSE_PART;
        let others = self.ask.scene.is_some() || !self.spoken.is_empty() || !self.context.is_empty();
        (few && !others).then(|| rows.into_iter().flatten().copied())
    }

    /// The sums of all legs by row number: leg after leg, in the order of [`RowLegs::sum`].
    fn by_row(&self) -> Vec<f64> {
        if self.ask.scene.is_some() {
            return (0..self.index.next_row).map(|row| self.of(row).sum()).collect();
        }
        let mut sums: Vec<f64> = self.scores.as_slice().iter().map(|score| self.shares.words * score).collect();
        sums.resize(self.index.next_row as usize, 0.0);
        let mut add = |share: f64, values: &[f64]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += share * value);
        };
        add(self.shares.time, &self.times);
        add(self.shares.speaker, &self.spoken);
        add(1.0, &self.context);
        sums
    }

    /// The legs of one hit, for its explanation.
    pub(crate) fn explain(&self, facts: &Facts) -> RowLegs {
        self.of(facts.row)
    }
}
