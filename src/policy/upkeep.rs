//! When a store is worth tidying.

use crate::memory::Timestamp;

/// Days that changes of memories can be looked up: the log is trimmed to them.
pub(crate) const LOG_DAYS: f64 = 30.0;

/// Shards smaller than this are never rewritten: there is nothing to gain.
pub(crate) const REWRITE_MIN_BYTES: u64 = 4 << 20;

/// Whether a shard is worth a rewrite: less than two fifths of its file are in use. redb doubles a file that is full, so
/// that half would have a fresh one rewritten after its first commit.
pub(crate) fn is_mostly_free(used_bytes: u64, file_bytes: u64, min_bytes: u64) -> bool {
    file_bytes >= min_bytes && used_bytes < file_bytes / 5 * 2
}

/// Entries of the log before this moment go.
pub(crate) fn log_begins(now: Timestamp) -> Timestamp {
    now.plus_days(-LOG_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuller_files_and_small_ones_stay() {
        assert!(is_mostly_free(39, 100, 100));
        assert!(!is_mostly_free(40, 100, 100));
        assert!(!is_mostly_free(0, 99, 100));
    }

    #[test]
    fn the_log_begins_thirty_days_ago() {
        let day = Timestamp::DAY_MICROS;
        assert_eq!(log_begins(Timestamp::from_micros(31 * day)), Timestamp::from_micros(day));
        assert!(log_begins(Timestamp::from_micros(i64::MIN)) <= Timestamp::from_micros(i64::MIN + day));
    }
}
