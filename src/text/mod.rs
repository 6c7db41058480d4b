//! Text as the engine compares it; what is stored stays untouched.

mod analyser;
mod canonical;
mod preview;
mod query;
mod script;
mod stop_words;
mod terms;
pub(crate) mod time;
mod tokens;
mod word;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use canonical::canonical;
pub(crate) use preview::preview;
pub(crate) use query::{QueryTerm, QueryWords};
pub(crate) use script::{Language, language_of};
pub(crate) use terms::{TOKENIZER_ID, TOKENIZER_VERSION, TermCount, TermHash, TermList};
pub(crate) use tokens::estimate_tokens;
pub(crate) use words::{is_cjk, words};
