//! `eval` and `bench`, on generated sets and, where they are at hand, on the real ones.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Place, Run, mnemic};

const DIMS: usize = 16;

/// A vector that points mostly along one axis.
fn axis(main: usize, also: usize) -> Vec<f32> {
    let mut vector = vec![0.0; DIMS];
    vector[main % DIMS] += 1.0;
    vector[also % DIMS] += 0.25;
    vector
}

fn little_endian(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn npy(rows: &[Vec<f32>]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {DIMS}), }}\n", rows.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(little_endian(rows.concat()));
    bytes
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Two users with twelve memories each; the evidence of each query is first, third, or out of reach.
fn write_set(place: &Place) -> String {
    let memory = |i: usize| {
        json!({"id": format!("m{i}"), "conv": format!("c{}", i / 12), "session": "s", "seq": i % 12,
            "speaker": if i.is_multiple_of(2) { "a" } else { "b" }, "time": format!("2024-01-{:02}T10:00:00", i % 12 + 1), "content": format!("a: text {i}")})
    };
    let memories: Vec<Value> = (0..24).map(memory).collect();
    let query = |qid: &str, conv: &str, category: &str, evidence: &[&str]| json!({"qid": qid, "conv": conv, "question": "text?", "category": category, "evidence": evidence, "now": "2024-02-01T00:00:00"});
    let queries = [
        query("q0", "c0", "near", &["m3"]),
        query("q1", "c1", "near", &["m15", "m3"]),
        query("q2", "c1", "far", &["m0"]),
    ];
    place.write("set/memories.jsonl", lines(&memories));
    place.write("set/queries.jsonl", lines(&queries));
    let rows: Vec<Vec<f32>> = (0..24).map(|i| axis(i % 12, i % 12 + 1)).collect();
    place.write("set/memories.toy.f16.npy", npy(&rows));
    place.write("set/queries.toy.f16.npy", npy(&[axis(3, 4), axis(3, 4), axis(3, 4)]));
    place.path("set")
}

#[track_caller]
fn close(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn eval_measures_a_generated_set() {
    let place = Place::new();
    let set = write_set(&place);
    let report = mnemic(&["eval", &set, "--no-decay", "--json"]).expect(0).json();
    assert_eq!(report["all"]["queries"], 3);
    close(&report["by_category"]["near"]["recall_at_5"], 0.75);
    close(&report["by_category"]["near"]["mrr"], 1.0);
    close(&report["by_category"]["far"]["recall_at_10"], 0.0);
    close(&report["all"]["recall_at_5"], 0.5);
    assert_eq!(report["config"]["embedder"], "stored: toy");
    assert!(report["config"]["hi"].as_f64() > report["config"]["lo"].as_f64());
    assert!(mnemic(&["eval", &set]).expect(0).stdout.contains("far"));
    mnemic(&["eval", &set, "--embedder", "builtin", "--json"]).expect(0).json();
}

#[test]
fn eval_refuses_what_it_can_not_measure() {
    let place = Place::new();
    let set = write_set(&place);
    place.write("set/queries.toy.f16.npy", npy(&[axis(0, 1)]));
    mnemic(&["eval", &set]).expect(2);
    place.write("set/queries.jsonl", r#"{"qid":"q"}"#);
    assert!(mnemic(&["eval", &set]).expect(2).stderr.contains("queries.jsonl: line 1"));
}

#[test]
fn dense_recall_on_real_conversations_is_that_of_the_baselines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(bytes) = std::fs::read(root.join("baselines.json")) else {
        println!("skipped: no labelled sets at {}", root.display());
        return;
    };
    let baselines: Value = serde_json::from_slice(&bytes).unwrap();
    for (set, method) in [
        ("locomo", "dense minilm"),
        ("realtalk", "dense minilm"),
        ("memorybank_zh", "dense e5small"),
        ("memdaily_zh", "dense e5small"),
    ] {
        let dir = root.join(set);
        let report =
            mnemic(&["eval", dir.to_str().unwrap(), "--legs", "dense", "--no-decay", "--json"]).expect(0).json();
        let expected = &baselines[set][method]["ALL"];
        for (ours, theirs) in [("recall_at_5", "recall5"), ("recall_at_10", "recall10"), ("ndcg_at_10", "ndcg10")] {
            let (ours, theirs) = (report["all"][ours].as_f64().unwrap(), expected[theirs].as_f64().unwrap());
            assert!((ours - theirs).abs() <= 0.001, "{set}: {ours} is not {theirs}");
        }
    }
}

/// An axis with a little of everything, so that no two rows are equally near.
fn uneven(row: usize) -> Vec<f32> {
    let plain = axis(row, row * 7 + 3).into_iter().enumerate();
    plain.map(|(i, x)| x + ((i + row) as f32 * 0.77 + row as f32 * 0.031).sin() * 0.2).collect()
}

/// A workload in the form of the peers' benchmark: 8 users with 20 rows each.
fn write_workload(place: &Place) -> PathBuf {
    let (users, per, queries, k, now) = (8, 20, 16, 4, 1_800_000_000_i64);
    let rows = users * per;
    let header = json!({"dim": DIMS, "rows": rows, "users": users, "rows_per_user": per, "queries": queries, "k": k, "now": now});
    place.write("data/header.json", header.to_string());
    let vectors: Vec<Vec<f32>> = (0..rows).map(uneven).collect();
    let created: Vec<i64> = (0..rows as i64).map(|row| now - row * row * 37).collect();
    let importance: Vec<f32> = (0..rows).map(|row| 0.05 + (row * 13 % 19) as f32 * 0.05).collect();
    let asked: Vec<Vec<f32>> = (0..queries).map(|i| axis(i * 5, i + 2)).collect();
    let asker: Vec<usize> = (0..queries).map(|i| i % users).collect();
    place.write("data/vectors.f32", little_endian(vectors.concat()));
    place.write("data/created_at.i64", created.iter().flat_map(|time| time.to_le_bytes()).collect::<Vec<_>>());
    place.write("data/importance.f32", little_endian(importance.iter().copied()));
    place.write("data/queries.f32", little_endian(asked.concat()));
    place.write("data/query_user.u32", asker.iter().flat_map(|user| (*user as u32).to_le_bytes()).collect::<Vec<_>>());
    for (mode, lambda) in
        [("plain", None), ("0", Some(0.0)), ("0.005", Some(0.005)), ("0.05", Some(0.05)), ("0.3", Some(0.3))]
    {
        let score = |row: usize, query: usize| {
            let weight = lambda.map_or(1.0, |lambda: f64| {
                (-lambda * (now - created[row]) as f64 / 86_400.0).exp() * f64::from(importance[row])
            });
            cosine(&vectors[row], &asked[query]) * weight
        };
        let truth = (0..queries).flat_map(|query| {
            let mut own: Vec<usize> = (asker[query] * per..(asker[query] + 1) * per).collect();
            own.sort_by(|a, b| score(*b, query).total_cmp(&score(*a, query)));
            own.truncate(k);
            own
        });
        place.write(
            &format!("data/truth_{mode}.u32"),
            truth.flat_map(|row| (row as u32).to_le_bytes()).collect::<Vec<_>>(),
        );
    }
    place.dir.path().join("data")
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn every_phase_of_the_benchmark_answers_and_is_exact() {
    let place = Place::new();
    let data = write_workload(&place);
    let db = place.path("db");
    let phase = |name: &str| -> Run { mnemic(&["bench", name, data.to_str().unwrap(), &db]) };
    let last = |run: &Run| -> Value { serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap() };
    assert!(last(&phase("build").expect(0))["disk_mb"].as_f64() > Some(0.0));
    let served = last(&phase("serve").expect(0));
    for mode in ["plain", "0", "0.005", "0.05", "0.3"] {
        close(&served["passes"][mode]["exact"][mode], 1.0);
        assert_eq!(served["passes"][mode]["n"], 6);
    }
    let roughly = mnemic(&["bench", "--approximate", "0.95", "serve", data.to_str().unwrap(), &db]);
    close(&last(&roughly.expect(0))["passes"]["0.05"]["exact"]["0.05"], 1.0);
    assert_eq!(last(&phase("add").expect(0))["adds"], 42);
    assert_eq!(last(&phase("syncs").expect(0)), json!({}));
    assert_eq!(last(&phase("crash").expect(9)), json!({}));
    assert_eq!(last(&phase("verify").expect(0))["survives_kill"], true);
    let deleted = last(&phase("delete").expect(0));
    for when in ["residue_before", "residue_deleted", "residue_closed"] {
        assert_eq!(deleted[when], json!({"text": 0, "vectors_of_8": 0}), "{when}");
    }
    phase("vacuum").expect(2);
}
