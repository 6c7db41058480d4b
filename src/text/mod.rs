//! Text as the engine compares it; what is stored stays untouched.

mod analyser;
mod canonical;
mod query;
mod script;
mod stop_words;
mod terms;
pub(crate) mod time;
mod word;
mod words;

pub(crate) use canonical::canonical;
pub(crate) use query::{QueryTerm, QueryWords};
pub(crate) use script::{Language, language_of};
pub(crate) use terms::{TOKENIZER_ID, TOKENIZER_VERSION, TermCount, TermHash, TermList};
pub(crate) use words::{is_cjk, words};
