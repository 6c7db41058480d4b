//! Phase `build`: everything stored, durable at the end.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bench::process::{disk_mb, peak_rss_mb};
use crate::bench::workload::Workload;
use crate::bench::{cache_bytes, open};
use crate::failure::Result;

const BATCH: usize = 1000;

pub(crate) fn build(data: &Workload, db: &Path) -> Result<Value> {
    let vectors = data.vectors()?;
    let start = Instant::now();
    let store = open(data, db)?;
    let per = data.rows_per_user();
    for user in 0..data.users() {
        let handle = store.user(&user.to_string())?;
        let rows: Vec<usize> = (user * per..(user + 1) * per).collect();
        for batch in rows.chunks(BATCH) {
            let outcomes = handle.remember_all(batch.iter().map(|row| data.memory(*row, &vectors)))?;
            outcomes.into_iter().collect::<mnemic::Result<Vec<_>>>()?;
        }
    }
    store.flush()?;
    let load_s = start.elapsed().as_secs_f64();
    store.close()?;
    Ok(json!({
        "load_s": load_s,
        "disk_mb": disk_mb(db)?,
        "rss_build_mb": peak_rss_mb(),
        "cache_budget_mb": cache_bytes(data) as f64 / 1e6,
    }))
}
