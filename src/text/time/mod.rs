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
    /// As it stands in the text, in normal form.
    pub(crate) text: String,
}

impl Interval {
    /// How well an instant meets the interval: 1 inside, then falling by half with each `reach`: as much as the interval
    /// is long, but [`REACH_DAYS_MIN`] at least and [`REACH_DAYS_MAX`] at most.
    pub(crate) fn meets(self, instant: i64) -> f64 {
        let gap = self.from.saturating_sub(instant).max(instant.saturating_sub(self.to)).max(0);
        if gap == 0 {
            return 1.0;
        }
        let day = Timestamp::DAY_MICROS as f64;
        let reach = (self.to.saturating_sub(self.from) as f64 / day).clamp(REACH_DAYS_MIN, REACH_DAYS_MAX);
        libm::exp2(-(gap as f64 / day) / reach)
    }
}

/// People tell of a day on that day or soon after.
const REACH_DAYS_MIN: f64 = 3.0;
/// What lies a month away from a year does not belong to it.
const REACH_DAYS_MAX: f64 = 30.0;

/// The expressions of time in a text, in the order of the text, none inside another.
///
/// Cost: linear in the text, of which the first 8 KiB are read.
pub(crate) fn time_expressions(text: &str, now: i64) -> Vec<TimeExpression> {
    let Ok(instant) = jiff::Timestamp::from_microsecond(now) else { return Vec::new() };
    let today = jiff::tz::TimeZone::UTC.to_datetime(instant).date();
    let head = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let head: String = head.nfkc().flat_map(char::to_lowercase).collect();
    let mut found = english::find(&head, today);
    found.extend(chinese::find(&head, today));
    found.sort_by_key(|found| found.start);
    found.truncate(EXPRESSIONS_MAX);
    found.into_iter().filter_map(|found| found.expression(&head)).collect()
}

/// The best that any of several intervals makes of an instant; 0 for none.
pub(crate) fn time_match(expressions: &[TimeExpression], instant: i64) -> f64 {
    expressions.iter().fold(0.0, |best, expression| f64::max(best, expression.interval.meets(instant)))
}

/// Where an expression stands and which days it means.
struct Found {
    start: usize,
    end: usize,
    days: Days,
}

impl Found {
    fn expression(&self, text: &str) -> Option<TimeExpression> {
        let text = text.get(self.start..self.end)?.to_owned();
        Some(TimeExpression { interval: self.days.interval()?, text })
    }
}
