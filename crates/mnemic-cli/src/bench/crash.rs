//! Phases `crash` and `verify`: is an acknowledged add there after the process is gone at once?

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::add::add_extra;
use crate::bench::open;
use crate::bench::serve::query;
use crate::bench::workload::{Workload, row_of};
use crate::failure::Result;
use crate::output;

/// The row that is added and looked for.
const ROW: usize = 200;
/// What the benchmark takes for a killed process.
const KILLED: i32 = 9;

/// Ends the process without closing the store.
pub(crate) fn crash(data: &Workload, db: &Path) -> Result<Value> {
    let store = open(data, db)?;
    add_extra(data, &store, ROW)?;
    output::json_line(&json!({}))?;
    std::mem::forget(store);
    std::process::exit(KILLED)
}

pub(crate) fn verify(data: &Workload, db: &Path) -> Result<Value> {
    let extra = data.extra(ROW);
    let store = open(data, db)?;
    let hits = store.user(&extra.user.to_string())?.recall_ids(query(data, &extra.vector, None))?;
    store.close()?;
    Ok(json!({"survives_kill": hits.iter().any(|hit| row_of(hit.id) == extra.row as u64)}))
}
