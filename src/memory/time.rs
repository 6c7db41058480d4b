use std::fmt;

/// An instant: microseconds since 1970-01-01T00:00:00Z. Any `i64` is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Microseconds of a day.
    pub const DAY_MICROS: i64 = 86_400_000_000;

    /// The instant this many microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The instant this many seconds after the epoch; the ends of time where that overflows.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This instant moved by so many days; saturates at the ends of time.
    #[must_use]
    pub fn plus_days(self, days: f64) -> Self {
        Self(self.0.saturating_add((days * Self::DAY_MICROS as f64) as i64))
    }

    /// Days from `earlier` to this instant; negative where it lies before.
    pub fn days_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / Self::DAY_MICROS as f64
    }
}

impl fmt::Display for Timestamp {
    /// ISO 8601 in UTC where the calendar reaches (years -9999 to 9999), else the microseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(instant) => write!(f, "{instant}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = crate::error::Error;

    /// Reads ISO 8601: an instant with its offset, or a date with or without a time, which is taken as UTC; and
    /// microseconds, as `Display` writes them beyond the calendar.
    fn from_str(text: &str) -> crate::error::Result<Self> {
        if let Some(micros) = text.strip_suffix("us").and_then(|number| number.parse().ok()) {
            return Ok(Self(micros));
        }
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(instant.as_microsecond()));
        }
        text.parse::<jiff::civil::DateTime>()
            .and_then(|civil| jiff::tz::TimeZone::UTC.to_timestamp(civil))
            .map(|instant| Self(instant.as_microsecond()))
            .map_err(|_| crate::error::Error::invalid("time: not ISO 8601, such as 2026-01-31T08:00:00Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_and_reads_the_same_instant() {
        let t = Timestamp::from_seconds(1_700_000_000);
        assert_eq!(t.to_string(), "2023-11-14T22:13:20Z");
        assert_eq!(t.to_string().parse::<Timestamp>().unwrap(), t);
        assert_eq!("2023-11-14T22:13:20".parse::<Timestamp>().unwrap(), t);
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn ends_of_time_do_not_overflow() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        assert!(last.days_since(first) > 0.0);
        assert!(first.days_since(last) < 0.0);
        assert_eq!(last.plus_days(1e300), last);
        assert_eq!(last.to_string(), "9223372036854775807us");
        assert_eq!(last.to_string().parse::<Timestamp>().unwrap(), last);
    }
}
