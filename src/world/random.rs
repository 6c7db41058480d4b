//! Randomness.
#![expect(clippy::disallowed_methods, reason = "this is the door to randomness")]

use crate::error::{Error, Result};

/// Gives random bytes.
pub trait Random: Send + Sync {
    /// Fills `buffer`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): there was no randomness; `buffer` is not to be used.
    fn fill(&self, buffer: &mut [u8]) -> Result<()>;
}

/// The operating system's randomness, fit for keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        getrandom::fill(buffer).map_err(|cause| Error::io("the operating system gave no randomness").with_source(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemRandom.fill(&mut a).unwrap();
        SystemRandom.fill(&mut b).unwrap();
        assert_ne!(a, b);
    }
}
