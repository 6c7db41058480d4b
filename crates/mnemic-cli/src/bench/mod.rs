//! `mnemic bench`: the phases of the peers' benchmark, one JSON line each.

mod add;
mod crash;
mod delete;
mod load;
mod process;
mod residue;
mod serve;
mod workload;

use std::path::Path;

use mnemic::Store;
use serde_json::Value;

use crate::args::{BenchArgs, Global, Phase};
use crate::bench::workload::Workload;
use crate::failure::{Outcome, Result};
use crate::output;

/// Bytes of index for each stored number, and for each row beside them, that the cache must have room for.
const CACHE_BYTES: (usize, usize) = (8, 1024);

pub(crate) fn run(global: &Global, args: &BenchArgs) -> Result<Outcome> {
    global.refuse("bench", &["--store", "--user", "--level", "--passphrase-env"])?;
    let data = Workload::read(&args.data)?;
    let document = phase(args, &data)?;
    output::json_line(&document)?;
    Ok(Outcome::Done)
}

fn phase(args: &BenchArgs, data: &Workload) -> Result<Value> {
    let db = args.db.as_path();
    match args.phase {
        Phase::Build => load::build(data, db),
        Phase::Serve => serve::serve(data, db, args.approximate),
        Phase::Add => add::add(data, db),
        Phase::Syncs => add::syncs(data, db),
        Phase::Crash => crash::crash(data, db),
        Phase::Verify => crash::verify(data, db),
        Phase::Delete => delete::delete(data, db),
    }
}

fn open(data: &Workload, db: &Path) -> Result<Store> {
    Ok(Store::builder(db).cache_bytes(cache_bytes(data)).open()?)
}

fn cache_bytes(data: &Workload) -> usize {
    (256 << 20) + data.rows() * (data.dims() * CACHE_BYTES.0 + CACHE_BYTES.1)
}
