use mnemic::Change;
use mnemic::memory::Memory;
use serde_json::{Value, json};

use crate::access::memory_id;
use crate::args::Global;
use crate::failure::{Outcome, Result};
use crate::output::{self, printable};
use crate::record::Record;

pub(crate) fn show(global: &Global, id: &str, history: bool) -> Result<Outcome> {
    let id = memory_id(id)?;
    let store = global.open()?;
    let user = global.handle(&store)?;
    let memory = user.get(id)?;
    let changes = if history { Some(user.history(id)?) } else { None };
    store.close()?;
    if global.json {
        output::json(&document(&memory, changes.as_deref()))?;
    } else {
        print(&memory)?;
        changes.iter().flatten().try_for_each(print_change)?;
    }
    Ok(Outcome::Done)
}

fn document(memory: &Memory, changes: Option<&[Change]>) -> Value {
    let history = changes.map(|changes| {
        let one = |change: &Change| {
            let before = change.before.as_ref().map(Record::of);
            json!({"verb": change.verb.as_str(), "at": change.at.to_string(), "before": before})
        };
        changes.iter().map(one).collect::<Vec<_>>()
    });
    json!({"memory": Record::of(memory), "history": history})
}

/// Every field that says something, one a line.
fn print(memory: &Memory) -> Result<()> {
    let Value::Object(fields) = serde_json::to_value(Record::of(memory))? else { return Ok(()) };
    for (name, value) in fields.iter().filter(|(_, value)| says_something(value)) {
        let shown = match value {
            Value::String(text) => printable(text),
            other => printable(&other.to_string()),
        };
        output::line(&format!("{name:<18} {shown}"))?;
    }
    Ok(())
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(says_something),
        Value::Number(number) => number.as_u64() != Some(0),
        Value::Bool(true) | Value::String(_) => true,
    }
}

fn print_change(change: &Change) -> Result<()> {
    let before = change.before.as_ref().map(|before| format!("  before: {}", printable(before.text())));
    output::line(&format!("{}  {}{}", change.at, change.verb, before.unwrap_or_default()))
}
