//! Breaks the engine on purpose, by number, so that the torture can be seen to notice.
//!
//! One switch for the whole process, off by default and compiled out without the feature. Each number stands at one
//! line of the engine, and `mnemic-torture sabotage` names the mode that must turn red.

use std::sync::atomic::{AtomicU32, Ordering};

static BROKEN: AtomicU32 = AtomicU32::new(0);

/// Breaks what has this number and mends all else; 0 mends all.
pub fn set(number: u32) {
    BROKEN.store(number, Ordering::Relaxed);
}

/// Whether what has this number is broken.
pub(crate) fn is(number: u32) -> bool {
    BROKEN.load(Ordering::Relaxed) == number
}
