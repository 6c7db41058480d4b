use std::io::{BufRead, IsTerminal};

use serde_json::json;

use crate::access::memory_id;
use crate::args::{ForgetArgs, Global};
use crate::diagnostics;
use crate::failure::{Failure, Outcome, Result};
use crate::output;

pub(crate) fn forget(global: &Global, args: &ForgetArgs) -> Result<Outcome> {
    let user = global.user_id()?;
    let id = args.id.as_deref().map(memory_id).transpose()?;
    if id.is_none() && !args.yes {
        ask(user)?;
    }
    let store = global.open()?;
    let forgotten = match id {
        Some(id) => global.handle(&store)?.forget(id)?,
        None => store.forget_user(user)?,
    };
    store.close()?;
    let lost = forgotten.snapshots_lost;
    if lost > 0 {
        diagnostics::say(&format!(
            "{lost} snapshots have nothing of this user any more: their keys could not be written"
        ));
    }
    let (memories, references, traces) = (forgotten.memories, forgotten.references, forgotten.traces);
    let document = json!({"memories": memories, "references": references, "traces": traces, "snapshots_lost": lost});
    output::answer(global.json, &document, &format!("{} forgotten for good", forgotten.memories))?;
    Ok(Outcome::Done)
}

fn ask(user: &str) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("forgetting everything of a user needs --yes where nobody can be asked"));
    }
    eprint!("Forget everything of {user:?} for good? Type yes: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(Failure::usage("not forgotten")) }
}
