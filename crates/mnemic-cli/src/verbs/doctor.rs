use mnemic::{Damage, Diagnosis, ErrorKind, Repaired, Store};
use serde_json::{Value, json};

use crate::args::{DoctorArgs, Global};
use crate::failure::{Outcome, Result};
use crate::output;

/// Repairs at most so often: copies of keys in snapshots of a rebuilt shard are seen to by the next one.
const REPAIRS_MAX: usize = 3;

pub(crate) fn doctor(global: &Global, args: &DoctorArgs) -> Result<Outcome> {
    global.refuse("doctor", &["--user", "--level"])?;
    let store = global.open()?;
    let found = store.doctor()?;
    if !args.repair || found.is_clean() {
        store.close()?;
        output::answer(global.json, &json!({"found": of_diagnosis(&found)}), &told(&found))?;
        return Ok(outcome(&found));
    }
    let (done, after) = repair(global, store)?;
    let repaired: Vec<Value> = done.iter().map(of_repair).collect();
    let document = json!({"found": of_diagnosis(&found), "repaired": repaired, "after": of_diagnosis(&after)});
    let mut lines = vec![told(&found)];
    lines.extend(done.iter().map(told_repair));
    lines.push(format!("after the repair: {}", told(&after)));
    output::answer(global.json, &document, &lines.join("\n"))?;
    Ok(outcome(&after))
}

fn repair(global: &Global, mut store: Store) -> Result<(Vec<Repaired>, Diagnosis)> {
    let mut done = Vec::new();
    loop {
        done.push(store.repair()?);
        drop(store);
        store = global.open()?;
        let after = store.doctor()?;
        if after.is_clean() || done.len() == REPAIRS_MAX {
            store.close()?;
            return Ok((done, after));
        }
    }
}

fn outcome(found: &Diagnosis) -> Outcome {
    if found.is_clean() { Outcome::Done } else { Outcome::Refused(ErrorKind::Corrupt) }
}

fn of_damage(damage: &Damage) -> Value {
    json!({
        "shard": damage.shard,
        "part": damage.part,
        "user": damage.user,
        "number": damage.number,
        "memory": damage.memory.map(|id| id.to_string()),
        "what": damage.what,
    })
}

fn all(damaged: &[Damage]) -> Vec<Value> {
    damaged.iter().map(of_damage).collect()
}

fn of_diagnosis(found: &Diagnosis) -> Value {
    json!({
        "clean": found.is_clean(),
        "shards": found.shards,
        "users": found.users,
        "values": found.values,
        "damaged": all(&found.damaged),
    })
}

fn of_repair(done: &Repaired) -> Value {
    json!({
        "shards": done.shards,
        "users": done.users,
        "memories": done.memories,
        "pending": done.pending,
        "older": all(&done.older),
        "lost": all(&done.lost),
        "quarantined": done.quarantined,
    })
}

fn told(found: &Diagnosis) -> String {
    let (shards, users, values) = (found.shards, found.users, found.values);
    let says =
        if found.is_clean() { "nothing is damaged".to_owned() } else { format!("{} damaged", found.damaged.len()) };
    let mut lines = vec![format!("{shards} shards, {users} users, {values} values: {says}")];
    lines.extend(found.damaged.iter().map(|damage| format!("damaged: {damage}")));
    lines.join("\n")
}

fn told_repair(done: &Repaired) -> String {
    let (shards, users, memories) = (done.shards, done.users, done.memories);
    let mut lines = vec![format!("built anew: {shards} shards, and in them {users} users with {memories} memories")];
    if done.pending > 0 {
        lines.push(format!("{} memories need a new vector: mnemic embed", done.pending));
    }
    lines.extend(done.older.iter().map(|damage| format!("older: {damage}")));
    lines.extend(done.lost.iter().map(|damage| format!("lost: {damage}")));
    lines.extend(done.quarantined.iter().map(|name| format!("kept: quarantine/{name}")));
    lines.join("\n")
}
