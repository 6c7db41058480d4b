//! How much memory a call takes, where the program counts it.

use std::sync::OnceLock;

use crate::check::{Check, ensure};

/// The allocator of a program that measures.
pub type Allocator = cap::Cap<std::alloc::System>;

/// What one input may take.
pub(crate) const BYTES_MAX: usize = 64 << 20;

static METER: OnceLock<&'static Allocator> = OnceLock::new();

/// Measures by the program's own global allocator. Without one nothing is measured, and everything fits.
pub fn measure_by(allocator: &'static Allocator) {
    METER.get_or_init(|| allocator);
}

/// Fails a call that takes more than [`BYTES_MAX`] beyond what was held before; jobs beside it count too.
pub(crate) fn capped<T>(what: &str, call: impl FnOnce() -> Check<T>) -> Check<T> {
    let Some(meter) = METER.get() else { return call() };
    let (before, now) = (meter.max_allocated(), meter.allocated());
    let answer = call()?;
    let peak = meter.max_allocated();
    let taken = if peak > before { peak.saturating_sub(now) } else { 0 };
    ensure!(taken <= BYTES_MAX, "{what}: {taken} bytes were allocated to read it");
    Ok(answer)
}
