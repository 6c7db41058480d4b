//! The words of a question.

use super::canonical::canonical;
use super::script::{Class, Language, class_of, language_of};
use super::stems::Stems;
use super::stop_words::is_question_term;
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
        analyser::for_each_term(text, &mut Stems::default(), |term| {
            list.push(QueryTerm { term: terms::hash(term), text: term.to_owned() });
        });
        if list.iter().any(|term: &QueryTerm| !is_question_term(&term.text)) {
            list.retain(|term| !is_question_term(&term.text));
        }
        list.sort_unstable_by_key(|term| term.term);
        list.dedup_by_key(|term| term.term);
        Self { terms: list, language: language_of(text), canonical: canonical(text) }
    }

    /// Whether the question holds a name: as whole words, or anywhere for a name in a script without spaces.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let name = canonical(name);
        !name.is_empty()
            && self.canonical.match_indices(&name).any(|(at, found)| self.stands_alone(at, at + found.len()))
    }

    fn stands_alone(&self, start: usize, end: usize) -> bool {
        let spaced = |c: Option<char>| c.is_some_and(|c| class_of(c) == Class::Spaced);
        let (before, name, after) = (&self.canonical[..start], &self.canonical[start..end], &self.canonical[end..]);
        let joins_left = spaced(before.chars().next_back()) && spaced(name.chars().next());
        let joins_right = spaced(name.chars().next_back()) && spaced(after.chars().next());
        !joins_left && !joins_right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_met_as_words() {
        let query = QueryWords::of("When did  ANN’s friend meet 张曼婷吗?");
        assert!(query.mentions("Ann") && query.mentions("张曼婷") && query.mentions("ann"));
        assert!(!query.mentions("An") && !query.mentions("nn") && !query.mentions(" ") && !query.mentions("AI"));
    }

    #[test]
    fn question_words_are_left_out_unless_there_are_no_others() {
        let texts = |text| QueryWords::of(text).terms.into_iter().map(|t| t.text).collect::<Vec<_>>();
        assert!(!texts("我的猫叫什么").iter().any(|t| ["我", "的", "什么"].contains(&t.as_str())));
        assert!(texts("我的猫叫什么").contains(&"猫".to_owned()));
        assert!(texts("什么").contains(&"什么".to_owned()));
    }
}
