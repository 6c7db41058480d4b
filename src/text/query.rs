//! The words of a question.

use super::canonical::canonical;
use super::script::{Class, Language, class_of, language_of};
use super::{analyser, terms};

/// A term of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) term: terms::TermHash,
    /// As the analyser writes it, for explanations.
    pub(crate) text: String,
}

/// A question as the words leg sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWords {
    /// By term, ascending, each once.
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) language: Language,
    canonical: String,
}

impl QueryWords {
    /// Analyses a question. Cost: linear in the text.
    pub(crate) fn of(text: &str) -> Self {
        let mut list = Vec::new();
        analyser::for_each_term(text, |term| list.push(QueryTerm { term: terms::hash(term), text: term.to_owned() }));
        list.sort_unstable_by_key(|term| term.term);
        list.dedup_by_key(|term| term.term);
        Self { terms: list, language: language_of(text), canonical: canonical(text) }
    }

    /// Whether the question holds a name: as whole words, or anywhere for a name in a script without spaces.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let name = canonical(name);
        let edge = |c: Option<char>| c.is_none_or(|c| class_of(c) != Class::Spaced);
        !name.is_empty()
            && self.canonical.match_indices(&name).any(|(at, found)| {
                let (before, after) = (&self.canonical[..at], &self.canonical[at + found.len()..]);
                let inner = |c: Option<char>| c.map_or(Class::Other, class_of);
                let starts = inner(name.chars().next()) != Class::Spaced || edge(before.chars().next_back());
                let ends = inner(name.chars().next_back()) != Class::Spaced || edge(after.chars().next());
                starts && ends
            })
    }
}
