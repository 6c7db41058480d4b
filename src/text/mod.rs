//! Text as the engine compares it; what is stored stays untouched.

mod canonical;
mod words;

pub(crate) use canonical::{CANON_VERSION, canonical};
pub(crate) use words::{is_cjk, words};
