//! Breaks the engine on purpose, by number, so that the torture can be seen to notice.
//!
//! One switch for the whole process, off until it is set; without the feature nothing of it is compiled. Each number
//! stands at one line of the engine, and `mnemic-torture sabotage` names the mode that must turn red.

/// Does something wrong while the number is set; nothing at all without the feature.
macro_rules! sabotage {
    ($number:literal, let $name:ident = $value:expr) => {
        #[cfg(feature = "sabotage")]
        let $name = if crate::sabotage::is($number) { $value } else { $name };
    };
    ($number:literal, $wrong:expr) => {
        #[cfg(feature = "sabotage")]
        if crate::sabotage::is($number) {
            $wrong;
        }
    };
}

#[cfg(feature = "sabotage")]
pub use switch::set;

#[cfg(feature = "sabotage")]
pub(crate) use switch::is;

#[cfg(feature = "sabotage")]
mod switch {
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
}
