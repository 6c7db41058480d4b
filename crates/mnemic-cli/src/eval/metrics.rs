//! How good a ranking is, by the labels.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

/// The measures of one ranking, or their means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Measures {
    pub(crate) recall_at_5: f64,
    pub(crate) recall_at_10: f64,
    pub(crate) ndcg_at_10: f64,
    pub(crate) mrr: f64,
    pub(crate) tokens_per_answer: f64,
}

/// One question and how well it was answered.
pub(crate) struct Scored {
    pub(crate) qid: String,
    pub(crate) category: String,
    /// Whether the question names a date.
    pub(crate) dated: bool,
    pub(crate) measures: Measures,
}

/// Means over a number of queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) means: Measures,
    pub(crate) queries: usize,
}

impl Measures {
    /// Measures one ranking, best first, against its evidence. Gain is binary.
    pub(crate) fn of(ranked: &[&str], evidence: &HashSet<&str>, tokens_per_answer: f64) -> Self {
        let relevant = |name: &&&str| evidence.contains(**name);
        let found = |depth: usize| ranked.iter().take(depth).filter(relevant).count() as f64 / evidence.len() as f64;
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let gained = ranked.iter().take(10).enumerate().filter(|(_, name)| evidence.contains(**name));
        let ideal: f64 = (0..evidence.len().min(10)).map(gain).sum();
        let first = ranked.iter().position(|name| evidence.contains(name));
        Self {
            recall_at_5: found(5),
            recall_at_10: found(10),
            ndcg_at_10: gained.map(|(rank, _)| gain(rank)).sum::<f64>() / ideal,
            mrr: first.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0)),
            tokens_per_answer,
        }
    }

    fn fields(&mut self) -> [&mut f64; 5] {
        let Self { recall_at_5, recall_at_10, ndcg_at_10, mrr, tokens_per_answer } = self;
        [recall_at_5, recall_at_10, ndcg_at_10, mrr, tokens_per_answer]
    }
}

impl Summary {
    pub(crate) fn of<'a>(all: impl IntoIterator<Item = &'a Measures>) -> Self {
        let mut summary = Self::default();
        for measures in all {
            let mut one = *measures;
            summary.means.fields().into_iter().zip(one.fields()).for_each(|(sum, value)| *sum += *value);
            summary.queries += 1;
        }
        let count = summary.queries.max(1) as f64;
        summary.means.fields().into_iter().for_each(|sum| *sum /= count);
        summary
    }
}

/// The means by category, in the order of their names.
pub(crate) fn by_category(scored: &[Scored]) -> BTreeMap<String, Summary> {
    let mut groups: BTreeMap<&str, Vec<&Measures>> = BTreeMap::new();
    for one in scored {
        groups.entry(&one.category).or_default().push(&one.measures);
    }
    groups.into_iter().map(|(category, group)| (category.to_owned(), Summary::of(group))).collect()
}

/// About how many tokens a model reads: one for each CJK character, one for each four of the others.
pub(crate) fn tokens(text: &str) -> usize {
    let cjk = text.chars().filter(|c| is_cjk(*c)).count();
    cjk + (text.chars().count() - cjk).div_ceil(4)
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_textbook() {
        let ranked = ["a", "x", "b", "y", "z", "c"];
        let evidence = HashSet::from(["a", "b", "c", "d"]);
        let measures = Measures::of(&ranked, &evidence, 0.0);
        assert_eq!((measures.recall_at_5, measures.recall_at_10, measures.mrr), (0.5, 0.75, 1.0));
        let gain = |rank: f64| 1.0 / (rank + 1.0).log2();
        let ndcg = (gain(1.0) + gain(3.0) + gain(6.0)) / (gain(1.0) + gain(2.0) + gain(3.0) + gain(4.0));
        assert!((measures.ndcg_at_10 - ndcg).abs() < 1e-12);
        assert_eq!(Measures::of(&["x"], &evidence, 0.0).mrr, 0.0);
    }

    #[test]
    fn tokens_count_both_scripts() {
        assert_eq!(tokens("abcd efg"), 2);
        assert_eq!(tokens("你好 ab"), 3);
        assert_eq!(tokens(""), 0);
    }
}
