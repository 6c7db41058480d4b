use std::time::Duration;

use serde_json::json;

use crate::args::{Global, MaintainArgs};
use crate::diagnostics;
use crate::failure::{Outcome, Result};
use crate::output;

pub(crate) fn maintain(global: &Global, args: &MaintainArgs) -> Result<Outcome> {
    global.refuse("maintain", &["--user", "--level"])?;
    let store = global.open()?;
    let done = store.maintain(Duration::from_secs(args.seconds))?;
    store.close()?;
    done.damaged.iter().for_each(|what| diagnostics::say(&format!("damaged: {what}")));
    let document = json!({
        "shards_rewritten": done.shards_rewritten,
        "bytes_freed": done.bytes_freed,
        "log_entries_trimmed": done.log_entries_trimmed,
        "memories_reindexed": done.memories_reindexed,
        "strays_removed": done.strays_removed,
        "damaged": done.damaged,
        "finished": done.finished,
    });
    let text = format!(
        "{} shards rewritten, {:.1} MB freed; {} old changes and {} leftover files removed{}",
        done.shards_rewritten,
        done.bytes_freed as f64 / 1e6,
        done.log_entries_trimmed,
        done.strays_removed,
        if done.finished { "" } else { "; not finished: run it again" }
    );
    output::answer(global.json, &document, &text)?;
    Ok(Outcome::Done)
}
