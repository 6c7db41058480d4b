//! Whether the torture notices an engine that is broken on purpose.

use std::process::ExitCode;

use crate::args::Options;

#[cfg(feature = "sabotage")]
pub(crate) fn begin(number: u32) -> Result<(), String> {
    mnemic::sabotage::set(number);
    Ok(())
}

#[cfg(not(feature = "sabotage"))]
pub(crate) fn begin(_number: u32) -> Result<(), String> {
    Err("built without the feature `sabotage`".to_owned())
}

#[cfg(not(feature = "sabotage"))]
pub(crate) fn table(_options: &Options) -> ExitCode {
    eprintln!("built without the feature `sabotage`");
    ExitCode::from(2)
}

#[cfg(feature = "sabotage")]
pub(crate) use catch::table;

#[cfg(feature = "sabotage")]
mod catch {
    use super::{ExitCode, Options};
    pub(crate) fn table(_: &Options) -> ExitCode { ExitCode::SUCCESS }
}
