//! Days, weeks, months, seasons and years around a day.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use super::Interval;

/// Further away than this nothing is meant.
const STEPS_MAX: i64 = 100_000;

const YEARS_MAX: i64 = 9_000;

/// Whole days, first and last inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) first: Date,
    pub(super) last: Date,
}

/// What is counted in "three weeks ago".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

impl Days {
    pub(super) fn interval(self) -> Option<Interval> {
        let micros = |date: Date| {
            let midnight = jiff::tz::TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
            Some(midnight.as_microsecond())
        };
        Some(Interval { from: micros(self.first)?, to: micros(shift(self.last, 1, Unit::Day)?)? - 1 })
    }

    pub(super) fn to(self, last: Date) -> Self {
        Self { first: self.first.min(last), last }
    }
}

pub(super) fn day(date: Date) -> Days {
    Days { first: date, last: date }
}

/// A date moved by so many units.
pub(super) fn shift(date: Date, steps: i64, unit: Unit) -> Option<Date> {
    let steps = if steps.abs() > STEPS_MAX { return None } else { steps };
    let span: Span = match unit {
        Unit::Hour => (steps / 24).days(),
        Unit::Day => steps.days(),
        Unit::Week | Unit::Weekend => steps.weeks(),
        Unit::Month => steps.months(),
        Unit::Year => steps.clamp(-YEARS_MAX, YEARS_MAX).years(),
    };
    date.checked_add(span).ok()
}

/// The unit that holds a date.
pub(super) fn whole(date: Date, unit: Unit) -> Option<Days> {
    let monday = shift(date, -i64::from(date.weekday().to_monday_zero_offset()), Unit::Day)?;
    match unit {
        Unit::Hour | Unit::Day => Some(day(date)),
        Unit::Week => Some(Days { first: monday, last: shift(monday, 6, Unit::Day)? }),
        Unit::Weekend => Some(Days { first: shift(monday, 5, Unit::Day)?, last: shift(monday, 6, Unit::Day)? }),
        Unit::Month => Some(Days { first: date.first_of_month(), last: date.last_of_month() }),
        Unit::Year => Some(Days { first: date.first_of_year(), last: date.last_of_year() }),
    }
}

/// The unit that lies so many units from today's.
pub(super) fn relative(today: Date, steps: i64, unit: Unit) -> Option<Days> {
    whole(shift(today, steps, unit)?, unit)
}

pub(super) fn year(year: i16) -> Option<Days> {
    whole(Date::new(year, 1, 1).ok()?, Unit::Year)
}

/// A month of a year, or the latest that has begun.
pub(super) fn month(today: Date, month: i8, year: Option<i16>) -> Option<Days> {
    let year = year.unwrap_or(if month <= today.month() { today.year() } else { today.year() - 1 });
    whole(Date::new(year, month, 1).ok()?, Unit::Month)
}

/// A day of a year, or the latest that has begun.
pub(super) fn date(today: Date, month: i8, dom: i8, year: Option<i16>) -> Option<Days> {
    let latest = if (month, dom) <= (today.month(), today.day()) { today.year() } else { today.year() - 1 };
    Date::new(year.unwrap_or(latest), month, dom).ok().map(day)
}

/// The season that begins in a year; a winter reaches into the next.
pub(super) fn season(season: Season, year: i16) -> Option<Days> {
    let first = match season {
        Season::Spring => 3,
        Season::Summer => 6,
        Season::Autumn => 9,
        Season::Winter => 12,
    };
    let first = Date::new(year, first, 1).ok()?;
    Some(Days { first, last: shift(first, 2, Unit::Month)?.last_of_month() })
}

/// The latest season that has begun, or the latest that is over.
pub(super) fn latest_season(today: Date, wanted: Season, over: bool) -> Option<Days> {
    let candidates = (0..3).filter_map(|back| season(wanted, today.year() - back));
    candidates.into_iter().find(|days| if over { days.last < today } else { days.first <= today })
}

/// The latest such weekday before today, or the one of the week that lies so many weeks from this.
pub(super) fn weekday(today: Date, wanted: Weekday, weeks: Option<i64>) -> Option<Days> {
    let Some(weeks) = weeks else {
        let back = i64::from(today.weekday().to_monday_zero_offset() - wanted.to_monday_zero_offset()).rem_euclid(7);
        return shift(today, if back == 0 { -7 } else { -back }, Unit::Day).map(day);
    };
    let monday = relative(today, weeks, Unit::Week)?.first;
    shift(monday, i64::from(wanted.to_monday_zero_offset()), Unit::Day).map(day)
}
