//! Phase `serve`: cold open, first recall, then timed passes.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use mnemic::{Curve, Query, Store, User};
use serde_json::{Map, Value, json};

use crate::bench::process::{peak_rss_mb, percentile};
use crate::bench::workload::{Workload, row_of};
use crate::bench::{cache_bytes, open};
use crate::failure::Result;

const MODES: [(&str, Option<f64>); 5] =
    [("plain", None), ("0", Some(0.0)), ("0.005", Some(0.005)), ("0.05", Some(0.05)), ("0.3", Some(0.3))];
/// Time for one pass, once the least number of queries is asked.
const BUDGET: Duration = Duration::from_secs(10);
const QUERIES_MIN: usize = 30;
/// First calls of a pass that are not counted.
const WARM_UP: usize = 10;

pub(crate) fn serve(data: &Workload, db: &Path, approximate: Option<f64>) -> Result<Value> {
    let base = peak_rss_mb();
    let (first_user, first_vector) = data.query(0);
    let start = Instant::now();
    let store = open(data, db)?;
    let opened = start.elapsed();
    store.user(&first_user.to_string())?.recall_ids(query(data, first_vector, None))?;
    let first = start.elapsed().saturating_sub(opened);
    let touched = Instant::now();
    for user in data.asked_users() {
        store.user(&user.to_string())?.recall_ids(query(data, first_vector, None))?;
    }
    let touch = touched.elapsed();
    let mut passes = Map::new();
    for (mode, lambda) in MODES {
        passes.insert(mode.to_owned(), pass(data, &store, (mode, lambda), approximate)?);
    }
    let (stats, peak) = (store.stats()?, peak_rss_mb());
    store.close()?;
    Ok(json!({
        "reopen_ms": millis(opened),
        "first_recall_ms": millis(first),
        "cold_ms": millis(opened + first),
        "touch_all_ms": millis(touch),
        "passes": passes,
        "rss_serve_mb": peak,
        "rss_added_mb": peak - base,
        "cache_budget_mb": cache_bytes(data) as f64 / 1e6,
        "cache_mb": stats.cache_bytes as f64 / 1e6,
        "kernel": stats.kernel,
    }))
}

/// The workload's score: raw cosine, importance as the weight, no floor.
pub(crate) fn query(data: &Workload, vector: &[f32], lambda: Option<f64>) -> Query {
    let query = Query::vector(vector).raw_cosine().at(data.now()).limit(data.k()).floor(0.0);
    match lambda {
        None => query.unweighted().curve(Curve::None),
        Some(lambda) => query.curve(Curve::Exponential { lambda }),
    }
}

fn pass(
    data: &Workload,
    store: &Store,
    (mode, lambda): (&str, Option<f64>),
    approximate: Option<f64>,
) -> Result<Value> {
    let truth = data.truth(mode)?;
    let mut micros = Vec::with_capacity(data.query_count());
    let (mut found, mut said) = (0.0, 0.0);
    let start = Instant::now();
    for number in 0..data.query_count() {
        let (user, vector) = data.query(number);
        let ask = || {
            let exact = query(data, vector, lambda);
            if let Some(recall) = approximate { exact.approximate(recall) } else { exact }
        };
        let Answer { rows, expected, took } = timed(&store.user(&user.to_string())?, ask)?;
        micros.push(took.as_secs_f64() * 1e6);
        said += expected;
        found += overlap(&rows, &truth[number * data.k()..(number + 1) * data.k()]);
        if number + 1 >= QUERIES_MIN && start.elapsed() > BUDGET {
            break;
        }
    }
    let (exact, said) = (found / micros.len() as f64, said / micros.len() as f64);
    let warm = micros.get_mut(WARM_UP..).unwrap_or_default();
    let mut pass = json!({
        "p50_us": percentile(warm, 0.5),
        "p95_us": percentile(warm, 0.95),
        "p99_us": percentile(warm, 0.99),
        "n": warm.len(),
        "exact": {mode: exact},
    });
    if approximate.is_some() {
        pass["said"] = json!({ mode: said });
    }
    Ok(pass)
}

struct Answer {
    rows: Vec<u64>,
    /// The recall that it says of itself.
    expected: f64,
    took: Duration,
}

fn timed(user: &User, ask: impl FnOnce() -> Query) -> Result<Answer> {
    let start = Instant::now();
    let hits = user.recall_ids(ask())?;
    let took = start.elapsed();
    let expected = hits.approximate().unwrap_or(1.0);
    Ok(Answer { rows: hits.iter().map(|hit| row_of(hit.id)).collect(), expected, took })
}

fn overlap(rows: &[u64], truth: &[u32]) -> f64 {
    let wanted: HashSet<u64> = truth.iter().map(|row| u64::from(*row)).collect();
    rows.iter().filter(|row| wanted.contains(row)).count() as f64 / truth.len() as f64
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
