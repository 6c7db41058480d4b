//! What a check answers, and how a failed one says what is wrong.

use std::fmt::Display;

/// A check that holds, or what is wrong.
pub(crate) type Check<T = ()> = Result<T, String>;

/// Fails the check with a message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($says:tt)+) => {
        if !$holds {
            return Err(format!($($says)+));
        }
    };
}
pub(crate) use ensure;

/// An error as the failure of a check.
pub(crate) trait Say<T> {
    /// Puts `what` before the error.
    fn say(self, what: impl Display) -> Check<T>;
}

impl<T> Say<T> for mnemic::Result<T> {
    fn say(self, what: impl Display) -> Check<T> {
        self.map_err(|error| format!("{what}: {} ({error:?})", error.kind()))
    }
}

impl<T> Say<T> for std::io::Result<T> {
    fn say(self, what: impl Display) -> Check<T> {
        self.map_err(|error| format!("{what}: {error}"))
    }
}
