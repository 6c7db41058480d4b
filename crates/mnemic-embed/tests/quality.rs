//! What the vectors find alone, on the labelled English sets, where they are there.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use mnemic_embed::{DIMS, embed};
use serde_json::Value;

type Row = ([f32; DIMS], String);

fn lines(set: &str, file: &str) -> Option<Vec<Value>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MNEMIC_DATA").map_or(root, PathBuf::from);
    let text = std::fs::read_to_string(root.join(set).join(file)).ok()?;
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Recall@5 and @10, by dot product within the question's conversation.
fn recalls(set: &str) -> Option<[f64; 2]> {
    let mut stores: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for memory in lines(set, "memories.jsonl")? {
        let Some(vector) = embed(text(&memory, "content")) else { continue };
        stores.entry(text(&memory, "conv").to_owned()).or_default().push((vector, text(&memory, "id").to_owned()));
    }
    let questions = lines(set, "queries.jsonl")?;
    let mut sums = [0.0; 2];
    for question in &questions {
        let ranked = ranking(&stores[text(question, "conv")], text(question, "question"));
        let evidence: HashSet<&str> = question["evidence"].as_array()?.iter().filter_map(Value::as_str).collect();
        for (sum, k) in sums.iter_mut().zip([5, 10]) {
            let found = ranked.iter().take(k).filter(|id| evidence.contains(*id)).count();
            *sum += found as f64 / evidence.len() as f64;
        }
    }
    Some(sums.map(|sum| sum / questions.len() as f64))
}

fn ranking<'a>(store: &'a [Row], question: &str) -> Vec<&'a str> {
    let Some(asked) = embed(question) else { return Vec::new() };
    let score = |row: &Row| asked.iter().zip(row.0).map(|(a, b)| f64::from(*a) * f64::from(b)).sum::<f64>();
    let mut scored: Vec<(f64, &str)> = store.iter().map(|row| (score(row), row.1.as_str())).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, id)| id).collect()
}

#[test]
fn the_vectors_alone_find_what_they_found_when_they_were_made() {
    for (set, expected) in [("locomo", [0.423, 0.526]), ("realtalk", [0.268, 0.355])] {
        let Some(found) = recalls(set) else { return println!("{set}: not there, skipped") };
        println!("{set}: recall@5 {:.4}, recall@10 {:.4}", found[0], found[1]);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 0.003, "{set}: {found}, not {expected}");
        }
    }
}
