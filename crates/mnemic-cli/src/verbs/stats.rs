use mnemic::{StoreStats, UserStats};
use serde_json::{Map, Value, json};

use crate::args::Global;
use crate::failure::{Outcome, Result};
use crate::output::{self, Align};

pub(crate) fn stats(global: &Global) -> Result<Outcome> {
    let store = global.open()?;
    let user = match &global.user {
        Some(_) => Some(global.handle(&store)?.stats()?),
        None => None,
    };
    let facts = store.stats()?;
    store.close()?;
    if global.json {
        output::json(&json!({"store": store_document(&facts), "user": user.as_ref().map(user_document)}))?;
    } else {
        let mut rows = store_rows(&facts);
        rows.extend(user.iter().flat_map(user_rows));
        output::table(&["what", "how much"], &[Align::Left, Align::Right], rows)?;
    }
    Ok(Outcome::Done)
}

fn store_document(facts: &StoreStats) -> Value {
    let space = facts.space.as_ref().map(|space| {
        let calibration = space.calibration();
        let (lo, hi, version) = (calibration.lo(), calibration.hi(), calibration.version());
        json!({"model": space.model(), "dims": space.dims(), "lo": lo, "hi": hi, "calibration_version": version})
    });
    json!({
        "users": facts.users,
        "shard_bytes": facts.shard_bytes,
        "kernel": facts.kernel,
        "kernels_available": facts.kernels_available,
        "kernels_compiled": facts.kernels_compiled,
        "cache_bytes": facts.cache_bytes,
        "cache_budget_bytes": facts.cache_budget_bytes,
        "space": space,
    })
}

fn user_document(facts: &UserStats) -> Value {
    let by_status: Map<String, Value> =
        facts.by_status.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
    json!({
        "by_status": by_status,
        "pending": facts.pending,
        "without_vector": facts.without_vector,
        "index_bytes": facts.index_bytes,
        "paused": facts.paused,
        "damaged": facts.damaged,
    })
}

fn store_rows(facts: &StoreStats) -> Vec<Vec<String>> {
    let megabytes = facts.shard_bytes.iter().sum::<u64>() as f64 / 1e6;
    let space =
        facts.space.as_ref().map_or_else(|| "-".to_owned(), |space| format!("{} x {}", space.model(), space.dims()));
    vec![
        row("users", facts.users),
        row("shards", facts.shard_bytes.len()),
        row("MB in shards", format!("{megabytes:.1}")),
        row("embedding space", space),
        row("kernel", facts.kernel),
    ]
}

fn user_rows(facts: &UserStats) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> =
        facts.by_status.iter().map(|(status, count)| row(&format!("{status} memories"), count)).collect();
    rows.push(row("pending vectors", facts.pending));
    rows.push(row("without a vector", facts.without_vector));
    rows.push(row("paused", if facts.paused { "yes" } else { "no" }));
    rows.push(row("damaged values", facts.damaged.len()));
    rows
}

fn row(name: &str, value: impl std::fmt::Display) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}
