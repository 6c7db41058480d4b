use std::ops::ControlFlow;

use mnemic::EmbedProgress;
use serde_json::json;

use crate::args::Global;
use crate::failure::{Outcome, Result};
use crate::output;
use crate::progress::Progress;

/// Embeds what is pending; with `change_model` also what another model embedded.
pub(crate) fn embed(global: &Global, change_model: bool) -> Result<Outcome> {
    global.refuse("embed", &["--user", "--level"])?;
    let store = global.open()?;
    let bar = Progress::new("embedding", usize::try_from(store.user_count()?).unwrap_or_default());
    let mut seen = 0;
    let on_progress = |progress: &EmbedProgress| {
        bar.add(progress.users_done - seen);
        seen = progress.users_done;
        ControlFlow::Continue(())
    };
    let done = if change_model { store.reembed(on_progress) } else { store.embed_pending(on_progress) };
    bar.finish();
    let done = done?;
    store.close()?;
    let document = json!({
        "users": done.users,
        "embedded": done.embedded,
        "without_vector": done.without_vector,
        "refused": done.refused,
    });
    let words = format!(
        "{} memories embedded; the model has no vector for {}, the embedder refused {}",
        done.embedded, done.without_vector, done.refused
    );
    output::answer(global.json, &document, &words)?;
    Ok(Outcome::Done)
}
