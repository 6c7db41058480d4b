//! Instants as people write them.

use std::time::{SystemTime, UNIX_EPOCH};

use mnemic::memory::Timestamp;

/// The system's clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp::from_micros(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

/// Reads what a [`Timestamp`] shows, microseconds beyond the calendar included.
pub(crate) fn parse(text: &str) -> mnemic::Result<Timestamp> {
    let micros = text.strip_suffix("us").and_then(|digits| digits.parse().ok());
    micros.map_or_else(|| text.parse(), |micros| Ok(Timestamp::from_micros(micros)))
}
