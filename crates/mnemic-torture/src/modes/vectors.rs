use crate::check::Check;
use crate::runner::Case;
pub(crate) fn run(_: &mut Case<'_>) -> Check { Ok(()) }
