//! Phases `add` and `syncs`: single durable adds.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mnemic::Store;
use serde_json::{Value, json};

use crate::bench::open;
use crate::bench::process::percentile;
use crate::bench::workload::Workload;
use crate::failure::Result;

const ADDS: usize = 42;
/// First adds that are not counted.
const WARM_UP: usize = 2;
const RAW_WRITES: usize = 20;
const RAW_BYTES: usize = 1600;

pub(crate) fn add(data: &Workload, db: &Path) -> Result<Value> {
    let store = open(data, db)?;
    let mut millis = Vec::with_capacity(ADDS);
    for i in 0..ADDS {
        let start = Instant::now();
        add_extra(data, &store, i)?;
        millis.push(start.elapsed().as_secs_f64() * 1e3);
    }
    store.close()?;
    let warm = &mut millis[WARM_UP..];
    Ok(json!({
        "add_ms_p50": percentile(warm, 0.5),
        "add_ms_p95": percentile(warm, 0.95),
        "adds": ADDS,
        "raw_fsync_ms": raw_fsync_ms(db)?,
    }))
}

pub(crate) fn add_extra(data: &Workload, store: &Store, i: usize) -> Result<()> {
    let extra = data.extra(i);
    store.user(&extra.user.to_string())?.remember(data.extra_memory(&extra))?;
    Ok(())
}

/// Five adds between two names that a system call trace shows.
pub(crate) fn syncs(data: &Workload, db: &Path) -> Result<Value> {
    let store = open(data, db)?;
    add_extra(data, &store, 100)?;
    mark("/MARK-BEGIN");
    for i in 101..106 {
        add_extra(data, &store, i)?;
    }
    mark("/MARK-END");
    store.close()?;
    Ok(json!({}))
}

/// The file need not be there: the call is what the trace shows.
fn mark(name: &str) {
    drop(File::open(name));
}

/// What one append and fsync cost on this disk at this moment.
fn raw_fsync_ms(db: &Path) -> Result<f64> {
    let mut name = db.as_os_str().to_owned();
    name.push(".raw");
    let path = PathBuf::from(name);
    let mut file = File::options().create(true).append(true).open(&path)?;
    let mut millis = Vec::with_capacity(RAW_WRITES);
    for _ in 0..RAW_WRITES {
        let start = Instant::now();
        file.write_all(&[0; RAW_BYTES])?;
        file.sync_all()?;
        millis.push(start.elapsed().as_secs_f64() * 1e3);
    }
    std::fs::remove_file(&path)?;
    Ok(percentile(&mut millis, 0.5))
}
