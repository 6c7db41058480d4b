//! Expressions of time in a question or a memory, and how well an instant meets them.
//!
//! Civil arithmetic in UTC, from a `now` that the caller gives; weeks begin on Monday, seasons are northern. What has
//! no year is taken to be the latest that has begun.

mod calendar;
mod chinese;
mod english;

#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization;

use self::calendar::Days;
use super::preview::head;
use crate::memory::Timestamp;

/// Texts are read up to here for expressions of time.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// More expressions than these are left out.
const EXPRESSIONS_MAX: usize = 16;

/// A stretch of time, in microseconds, both ends inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// An expression of time and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeExpression {
    pub(crate) interval: Interval,
    pub(crate) precision: Precision,
    /// As it stands in the text, in normal form.
    pub(crate) text: String,
}

/// How an expression names its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// By the calendar: a date, a month, a year, a season of a year.
    Calendar,
    /// From now: yesterday, last week, three days ago.
    Relative,
    /// Now and thereabouts, often said in passing: today, this week, lately, next month.
    Passing,
}

impl Precision {
    /// How much an expression counts in a question.
    const fn strength(self) -> f64 {
        match self {
            Self::Calendar => 1.0,
            Self::Relative => 0.25,
            Self::Passing => 0.1,
        }
    }
}

/// People tell of a day on that day or soon after, and not long before.
const REACH_DAYS_MIN: f64 = 3.0;
/// What lies far from a year does not belong to it, long as a year is.
const REACH_DAYS_MAX: f64 = 10.0;

/// After so many halvings nothing is left.
const HALVINGS_MAX: f64 = 6.0;

impl Interval {
    /// How well an instant meets the interval: 1 inside; outside it halves with every [`REACH_DAYS_MIN`] before, and
    /// with every length of the interval after, [`REACH_DAYS_MIN`] at least and [`REACH_DAYS_MAX`] at most; 0 after [`HALVINGS_MAX`].
    pub(crate) fn meets(self, instant: i64) -> f64 {
        let early = days(instant, self.from);
        let halvings =
            if early > 0.0 { early / REACH_DAYS_MIN } else { days(self.to, instant).max(0.0) / self.reach() };
        if halvings > HALVINGS_MAX { 0.0 } else { libm::exp2(-halvings) }
    }

    /// The days after it in which it counts half as much.
    fn reach(self) -> f64 {
        days(self.from, self.to).clamp(REACH_DAYS_MIN, REACH_DAYS_MAX)
    }

    /// The first and the last instant that it counts anything for, both rounded outwards.
    pub(crate) fn reaches(self) -> (i64, i64) {
        let micros = |days: f64| (days * Timestamp::DAY_MICROS as f64) as i64 + 1;
        let (early, late) = (HALVINGS_MAX * REACH_DAYS_MIN, HALVINGS_MAX * self.reach());
        (self.from.saturating_sub(micros(early)), self.to.saturating_add(micros(late)))
    }

    /// Which part of `other` lies inside.
    fn covers(self, other: Self) -> f64 {
        let common = days(self.from.max(other.from), self.to.min(other.to));
        let whole = days(other.from, other.to);
        if common > 0.0 && whole > 0.0 { common / whole } else { 0.0 }
    }
}

fn days(from: i64, to: i64) -> f64 {
    to.saturating_sub(from) as f64 / Timestamp::DAY_MICROS as f64
}

/// The expressions that say which time a question is about. In a question of several sentences, what is said in passing
/// in front of the last counts only where it is a calendar date.
pub(crate) fn question_times(text: &str, now: i64) -> Vec<TimeExpression> {
    let ends = ['?', '!', '.', '\u{ff1f}', '\u{ff01}', '\u{3002}', '\u{ff0e}'];
    let last = text.trim_end_matches(|c: char| ends.contains(&c) || c.is_whitespace());
    let last = last.rfind(['?', '!', '\u{ff1f}', '\u{ff01}', '\u{3002}']).map_or(0, |at| at);
    let (before, last) = text.split_at(last);
    let mut times = time_expressions(before, now);
    times.retain(|time| time.precision == Precision::Calendar);
    times.extend(time_expressions(last, now));
    times.truncate(EXPRESSIONS_MAX);
    times
}

/// The expressions of time in a text, in the order of the text, none inside another.
///
/// Cost: linear in the text, of which the first 8 KiB are read.
pub(crate) fn time_expressions(text: &str, now: i64) -> Vec<TimeExpression> {
    let Ok(instant) = jiff::Timestamp::from_microsecond(now) else { return Vec::new() };
    let today = jiff::tz::TimeZone::UTC.to_datetime(instant).date();
    let head = head(text, TEXT_BYTES_MAX);
    let ascii = head.is_ascii();
    let head: String =
        if ascii { head.to_ascii_lowercase() } else { head.nfkc().flat_map(char::to_lowercase).collect() };
    let mut found = english::find(&head, today);
    if !ascii {
        found.extend(chinese::find(&head, today));
    }
    found.sort_by_key(|found| found.start);
    found.truncate(EXPRESSIONS_MAX);
    found.into_iter().filter_map(|found| found.expression(&head)).collect()
}

/// The time leg of a memory, in [0, 1]: the best that an expression of the question makes of the instant that the
/// memory is from, or of the times that its text tells of.
pub(crate) fn time_match(question: &[TimeExpression], instant: i64, told: &[Interval]) -> f64 {
    question.iter().fold(0.0, |best, asked| {
        let told = told.iter().map(|told| asked.interval.covers(*told));
        let meets = told.fold(asked.interval.meets(instant), f64::max);
        f64::max(best, asked.precision.strength() * meets)
    })
}

/// Where an expression stands and which days it means.
struct Found {
    start: usize,
    end: usize,
    days: Days,
    today: jiff::civil::Date,
}

impl Found {
    fn expression(&self, text: &str) -> Option<TimeExpression> {
        let text = text.get(self.start..self.end)?;
        let precision = match () {
            () if english::is_calendar(text) || chinese::is_calendar(text) => Precision::Calendar,
            () if self.days.last >= self.today => Precision::Passing,
            () => Precision::Relative,
        };
        Some(TimeExpression { interval: self.days.interval()?, precision, text: text.to_owned() })
    }
}
