use mnemic::memory::SnapshotId;
use mnemic::{Restored, Snapshot, Store};
use serde_json::{Value, json};

use crate::args::{Global, RestoreArgs, SnapshotArgs};
use crate::diagnostics;
use crate::failure::{Failure, Outcome, Result};
use crate::output::{self, Align};

pub(crate) fn snapshot(global: &Global, args: &SnapshotArgs) -> Result<Outcome> {
    global.refuse("snapshot", &["--user", "--level"])?;
    let store = global.open()?;
    let outcome = match (&args.delete, args.list) {
        (Some(id), _) => {
            let id = id.parse::<SnapshotId>()?;
            store.delete_snapshot(id)?;
            output::answer(global.json, &json!({"deleted": id.to_string()}), &format!("{id} deleted"))?;
            Outcome::Done
        }
        (None, true) => list(global, &store)?,
        (None, false) => {
            let taken = store.snapshot()?;
            taken.damaged.iter().for_each(|what| diagnostics::say(&format!("not in it, damaged: {what}")));
            let without = taken.without_vector.iter();
            without.for_each(|id| diagnostics::say(&format!("in it without its vector, which is damaged: {id}")));
            output::answer(global.json, &document(&taken), &taken.id.to_string())?;
            Outcome::Done
        }
    };
    store.close()?;
    Ok(outcome)
}

fn list(global: &Global, store: &Store) -> Result<Outcome> {
    let all = store.snapshots()?;
    if global.json {
        output::json(&json!({"snapshots": all.iter().map(document).collect::<Vec<_>>()}))?;
    } else if !all.is_empty() {
        let row = |one: &Snapshot| {
            let state = if one.damaged.is_empty() { "whole" } else { "damaged" };
            let megabytes = format!("{:.1}", one.bytes as f64 / 1e6);
            let (users, memories) = (one.users.to_string(), one.memories.to_string());
            vec![one.id.to_string(), one.created_at.to_string(), users, memories, megabytes, state.to_owned()]
        };
        let heads = ["id", "created", "users", "memories", "MB", "state"];
        let aligned = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
        output::table(&heads, &aligned, all.iter().map(row).collect())?;
    }
    Ok(if all.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

fn document(one: &Snapshot) -> Value {
    json!({
        "id": one.id.to_string(),
        "created_at": one.created_at.to_string(),
        "users": one.users,
        "memories": one.memories,
        "bytes": one.bytes,
        "damaged": one.damaged,
        "without_vector": one.without_vector.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

pub(crate) fn restore(global: &Global, args: &RestoreArgs) -> Result<Outcome> {
    let id = args.id.parse::<SnapshotId>()?;
    if args.all_users == global.user.is_some() {
        return Err(Failure::usage("restore one user with --user ID, or every user with --all-users"));
    }
    let store = global.open()?;
    let done = match &global.user {
        Some(user) => store.restore_user(id, user)?,
        None => store.restore(id)?,
    };
    store.close()?;
    let Restored { users, users_refused, restored, unchanged, archived, refused, damaged } = done;
    let document = json!({
        "users": users,
        "users_refused": users_refused,
        "restored": restored,
        "unchanged": unchanged,
        "archived": archived,
        "refused": refused,
        "damaged": damaged,
    });
    let text = format!(
        "{restored} restored, {unchanged} unchanged, {archived} newer ones archived, {refused} stay forgotten{}{}",
        if users_refused > 0 { format!(", {users_refused} forgotten users too") } else { String::new() },
        if damaged > 0 { format!("; {damaged} are damaged in the snapshot") } else { String::new() }
    );
    output::answer(global.json, &document, &text)?;
    Ok(Outcome::Done)
}
