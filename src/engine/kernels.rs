//! Which distance kernel runs.

use crate::error::{Error, Result};
use crate::kernel::{Dispatch, Kernel};

/// The named kernel, or the fastest.
pub(crate) fn choose(name: Option<&str>) -> Result<Dispatch> {
    let Some(name) = name else { return Ok(Dispatch::best()) };
    let kernel: Kernel = name
        .parse()
        .map_err(|_| Error::invalid(format!("kernel: {name:?} is unknown; available: {}", available().join(", "))))?;
    let missing =
        || Error::unsupported(format!("kernel: this CPU has no {name}; available: {}", available().join(", ")));
    Dispatch::new(kernel).ok_or_else(missing)
}

/// Names of the kernels that this CPU could use.
pub(crate) fn available() -> Vec<&'static str> {
    Kernel::available().map(Kernel::name).collect()
}

/// Names of the kernels in this build.
pub(crate) fn compiled() -> Vec<&'static str> {
    Kernel::compiled().map(Kernel::name).collect()
}
