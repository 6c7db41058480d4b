use std::io::{BufRead, IsTerminal};

use mnemic::{ErrorKind, Receipt, Verdict};
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
    let receipt = forgotten.receipt().to_string();
    let document = json!({
        "memories": memories,
        "references": references,
        "traces": traces,
        "snapshots_lost": lost,
        "receipt": receipt,
    });
    output::answer(global.json, &document, &format!("{memories} forgotten for good\n{receipt}"))?;
    Ok(Outcome::Done)
}

pub(crate) fn verify_receipt(global: &Global, receipt: &str) -> Result<Outcome> {
    global.refuse("verify-receipt", &["--user", "--level"])?;
    let receipt: Receipt = receipt.parse()?;
    let store = global.open()?;
    let verdict = store.verify_receipt(&receipt)?;
    store.close()?;
    let (word, text, remains) = match verdict {
        Verdict::Holds => ("holds", "nothing is left of it".to_owned(), Vec::new()),
        Verdict::Broken(remains) => ("broken", format!("keys of it are there: {}", remains.join("; ")), remains),
        _ => ("forged", "not a receipt of this store, or changed".to_owned(), Vec::new()),
    };
    let document = json!({
        "verdict": word,
        "remains": remains,
        "forgotten_at": receipt.at().to_string(),
        "of_user": receipt.is_of_user(),
    });
    output::answer(global.json, &document, &format!("{word}: {text}"))?;
    Ok(if word == "holds" { Outcome::Done } else { Outcome::Refused(ErrorKind::Denied) })
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
