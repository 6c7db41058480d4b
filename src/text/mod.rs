//! Text as the engine compares it; what is stored stays untouched.

mod analyser;
mod canonical;
mod likeness;
mod preview;
#[cfg_attr(not(test), expect(dead_code, reason = "recall does not ask for words yet"))]
mod query;
pub(crate) mod render;
#[cfg_attr(not(test), expect(dead_code, reason = "recall does not ask for words yet"))]
mod script;
mod stop_words;
mod terms;
#[cfg_attr(not(test), expect(dead_code, reason = "recall does not ask for words yet"))]
pub(crate) mod time;
mod tokens;
mod word;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use canonical::{CANON_VERSION, canonical};
pub(crate) use likeness::Likeness;
#[cfg_attr(not(test), expect(unused_imports, reason = "recall does not ask for words yet"))]
pub(crate) use preview::preview;
pub(crate) use query::QueryTerm;
#[cfg_attr(not(test), expect(unused_imports, reason = "recall does not ask for words yet"))]
pub(crate) use query::QueryWords;
pub(crate) use script::Language;
pub(crate) use script::language_of;
pub(crate) use terms::{TOKENIZER_ID, TOKENIZER_VERSION, TermCount};
pub(crate) use terms::{TermHash, TermList};
pub(crate) use tokens::estimate_tokens;
pub(crate) use words::{is_cjk, words};
