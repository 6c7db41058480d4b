//! Text as the engine compares it; what is stored stays untouched.

mod analyser;
mod canonical;
mod likeness;
mod preview;
mod query;
pub(crate) mod render;
mod script;
mod stems;
mod stop_words;
mod terms;
pub(crate) mod time;
mod tokens;
mod word;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use canonical::{CANON_VERSION, canonical};
pub(crate) use likeness::Likeness;
#[cfg(test)]
pub(crate) use preview::preview;
pub(crate) use query::QueryTerm;
pub(crate) use query::QueryWords;
pub(crate) use script::Language;
pub(crate) use script::language_of;
pub(crate) use stems::Stems;
pub(crate) use terms::{ANALYSER, TOKENIZER_ID, TOKENIZER_VERSION, TermCount};
pub(crate) use terms::{TermHash, TermList};
pub(crate) use tokens::estimate_tokens;
pub(crate) use words::{is_cjk, words};
