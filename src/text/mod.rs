//! Text as the engine compares it; what is stored stays untouched.

mod canonical;
mod words;

pub(crate) use canonical::{canonical, CANON_VERSION};
pub(crate) use words::{is_cjk, words};
