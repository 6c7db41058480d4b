//! The index against the same sums over plain lists.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::index::lexical::{Bm25, Lexical, Standing};
use crate::memory::Sensitivity;
use crate::text::{QueryTerm, QueryWords, TermList};

type Rows = BTreeMap<u32, (TermList, Standing)>;

const WORDS: [&str; 12] = [
    "seat",
    "window",
    "jazz",
    "paris",
    "train",
    "coffee",
    "靠窗",
    "座位",
    "上海",
    "v1.2",
    "read_file",
    "ada@example.org",
];

fn is_counted(standing: Standing, level: Sensitivity) -> bool {
    standing.active && standing.level <= level
}

fn count(terms: &TermList, term: u64) -> Option<u8> {
    terms.counts.iter().find(|counted| counted.term == term).map(|counted| counted.count)
}

/// BM25 of each row by the definition.
fn plain(rows: &Rows, query: &[QueryTerm], level: Sensitivity, bm25: Bm25) -> BTreeMap<u32, f64> {
    let counted: Vec<_> = rows.values().filter(|(_, standing)| is_counted(*standing, level)).collect();
    let length: u64 = counted.iter().map(|(terms, _)| u64::from(terms.length)).sum();
    let (base, slope) = (bm25.k1 * (1.0 - bm25.b), bm25.k1 * bm25.b / (length as f64 / counted.len() as f64));
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    let mut ceiling = 0.0;
    for term in query {
        let df = counted.iter().filter(|(terms, _)| count(terms, term.term).is_some()).count();
        if df == 0 {
            continue;
        }
        let idf = libm::log(1.0 + (counted.len() as f64 - df as f64 + 0.5) / (df as f64 + 0.5));
        let most = idf * (bm25.k1 + 1.0);
        ceiling += most;
        for (row, (terms, _)) in rows.iter().filter(|(_, (_, standing))| standing.level <= level) {
            if let Some(count) = count(terms, term.term).map(f64::from) {
                let norm = base + slope * f64::from(terms.length);
                *sums.entry(*row).or_default() += most * (count / (count + norm));
            }
        }
    }
    sums.into_iter().map(|(row, sum)| (row, sum / ceiling)).collect()
}

#[derive(Debug, Clone)]
enum Change {
    Insert(u32, Vec<usize>, Standing),
    Remove(u32),
    Stand(u32, Standing),
}

fn standing() -> impl Strategy<Value = Standing> {
    (prop::sample::select(Sensitivity::ALL), any::<bool>()).prop_map(|(level, active)| Standing { level, active })
}

fn change() -> impl Strategy<Value = Change> {
    let row = || prop_oneof![0u32..12, 250u32..530];
    prop_oneof![
        4 => (row(), prop::collection::vec(0..WORDS.len(), 0..8), standing())
            .prop_map(|(row, words, standing)| Change::Insert(row, words, standing)),
        2 => row().prop_map(Change::Remove),
        2 => (row(), standing()).prop_map(|(row, standing)| Change::Stand(row, standing)),
    ]
}

fn apply(change: &Change, index: &mut Lexical, rows: &mut Rows) {
    match change {
        Change::Insert(row, words, standing) => {
            let text: Vec<_> = words.iter().map(|at| WORDS[*at]).collect();
            let terms = TermList::of(&text.join(" "));
            index.insert(*row, &terms, *standing);
            rows.insert(*row, (terms, *standing));
        }
        Change::Remove(row) => {
            index.remove(*row);
            rows.remove(row);
        }
        Change::Stand(row, standing) => {
            index.set_standing(*row, *standing);
            if let Some(entry) = rows.get_mut(row) {
                entry.1 = *standing;
            }
        }
    }
}

fn bits(hits: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, u64)> {
    hits.map(|(row, value)| (row, value.to_bits())).collect()
}

fn rebuilt(rows: &Rows) -> Lexical {
    let mut index = Lexical::default();
    rows.iter().rev().for_each(|(row, (terms, standing))| index.insert(*row, terms, *standing));
    index
}

proptest! {
    #[test]
    fn any_history_scores_as_the_definition_does(
        changes in prop::collection::vec(change(), 0..60),
        words in prop::collection::vec(0..WORDS.len(), 1..6),
        bm25 in prop::sample::select(vec![Bm25::WORDS, Bm25::CHARACTERS]),
    ) {
        let (mut index, mut rows) = (Lexical::default(), Rows::new());
        changes.iter().for_each(|change| apply(change, &mut index, &mut rows));
        let text: Vec<_> = words.iter().map(|at| WORDS[*at]).collect();
        let query = QueryWords::of(&text.join(" ")).terms;
        let fresh = rebuilt(&rows);
        for level in Sensitivity::ALL {
            let scores = index.score(&query, *level, bm25);
            let hits = bits(scores.ranked());
            prop_assert_eq!(&hits, &bits(plain(&rows, &query, *level, bm25).into_iter()));
            prop_assert_eq!(&hits, &bits(fresh.score(&query, *level, bm25).ranked()));
            for (row, value) in scores.ranked() {
                prop_assert!(value > 0.0 && value < 1.0 && scores.get(row) == value);
            }
            for term in &query {
                prop_assert_eq!(index.df(term.term, *level), fresh.df(term.term, *level));
            }
        }
    }
}

#[test]
fn what_lies_above_the_level_changes_nothing_below() {
    let low = Standing { level: Sensitivity::Personal, active: true };
    let mut index = Lexical::default();
    index.insert(0, &TermList::of("a window seat"), low);
    index.insert(1, &TermList::of("a quiet train"), low);
    let query = QueryWords::of("window train").terms;
    let before = index.score(&query, Sensitivity::Personal, Bm25::WORDS);
    index.insert(2, &TermList::of("window window train"), Standing { level: Sensitivity::Secret, active: true });
    let after = index.score(&query, Sensitivity::Personal, Bm25::WORDS);
    assert!(bits(before.ranked()) == bits(after.ranked()));
    assert!(index.score(&query, Sensitivity::Secret, Bm25::WORDS).get(2) > 0.0);
}

#[test]
fn an_emptied_index_is_as_good_as_new() {
    let mut index = Lexical::default();
    index.insert(7, &TermList::of("window seat"), Standing { level: Sensitivity::Public, active: true });
    index.remove(7);
    index.remove(7);
    index.set_standing(7, Standing { level: Sensitivity::Public, active: true });
    let query = QueryWords::of("window").terms;
    assert_eq!(index.score(&query, Sensitivity::Secret, Bm25::WORDS).hits().len(), 0);
    assert_eq!(index.df(query[0].term, Sensitivity::Secret), 0);
}
