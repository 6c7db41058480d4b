//! Phase `delete`: a user is forgotten, and looked for in the files.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bench::open;
use crate::bench::residue::Residue;
use crate::bench::workload::Workload;
use crate::failure::Result;

const USER: usize = 7;

/// There is no clean-up to ask for: what is forgotten is gone when the call returns.
pub(crate) fn delete(data: &Workload, db: &Path) -> Result<Value> {
    let user = if data.users() > USER { USER } else { 0 };
    let residue = Residue::of(data, user)?;
    let before = residue.look(db)?;
    let store = open(data, db)?;
    let start = Instant::now();
    store.forget_user(&user.to_string())?;
    let delete_ms = start.elapsed().as_secs_f64() * 1e3;
    let deleted = residue.look(db)?;
    store.close()?;
    let closed = residue.look(db)?;
    Ok(json!({
        "residue_before": before,
        "delete_ms": delete_ms,
        "residue_deleted": deleted,
        "residue_closed": closed,
    }))
}
