//! The clock.
#![expect(clippy::disallowed_methods, reason = "this is the door to the clock")]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Microseconds since 1970 UTC, saturating.
    fn now_micros(&self) -> i64;

    /// Microseconds since some fixed instant; never steps back.
    fn monotonic_micros(&self) -> u64;
}

/// The operating system's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_micros(&self) -> i64 {
        micros_since_epoch(SystemTime::now())
    }

    fn monotonic_micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

fn micros_since_epoch(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn instants_before_1970_are_negative() {
        assert_eq!(micros_since_epoch(UNIX_EPOCH), 0);
        assert_eq!(micros_since_epoch(UNIX_EPOCH - Duration::from_secs(1)), -1_000_000);
        assert_eq!(micros_since_epoch(UNIX_EPOCH + Duration::from_millis(2)), 2_000);
    }

    #[test]
    fn far_instants_saturate() {
        let far = UNIX_EPOCH.checked_add(Duration::from_secs(i64::MAX as u64));
        assert_eq!(far.map(micros_since_epoch), Some(i64::MAX));
        let past = UNIX_EPOCH.checked_sub(Duration::from_secs(i64::MAX as u64));
        assert_eq!(past.map(micros_since_epoch), Some(i64::MIN));
    }
}
