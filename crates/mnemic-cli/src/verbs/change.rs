use mnemic::{Correction, Update};
use serde_json::json;

use crate::access::memory_id;
use crate::args::{CorrectArgs, Global, MemoryFields, UpdateArgs};
use crate::failure::{Outcome, Result};
use crate::output;

pub(crate) fn correct(global: &Global, args: &CorrectArgs) -> Result<Outcome> {
    let old = memory_id(&args.id)?;
    let mut correction = Correction::new(args.text.as_str());
    correction = args.value.iter().fold(correction, Correction::value);
    correction = args.event_at.into_iter().fold(correction, Correction::event_at);
    let store = global.open()?;
    let new = global.handle(&store)?.correct(old, correction)?;
    store.close()?;
    output::answer(global.json, &json!({"id": new.to_string(), "supersedes": old.to_string()}), &new.to_string())?;
    Ok(Outcome::Done)
}

pub(crate) fn update(global: &Global, args: &UpdateArgs) -> Result<Outcome> {
    let id = memory_id(&args.id)?;
    let store = global.open()?;
    let version = global.handle(&store)?.update(id, edits(args))?;
    store.close()?;
    changed(global, &args.id, version)
}

pub(crate) fn confirm(global: &Global, id: &str) -> Result<Outcome> {
    let memory = memory_id(id)?;
    let store = global.open()?;
    let version = global.handle(&store)?.confirm(memory)?;
    store.close()?;
    changed(global, id, version)
}

pub(crate) fn contradict(global: &Global, id: &str) -> Result<Outcome> {
    let memory = memory_id(id)?;
    let store = global.open()?;
    let version = global.handle(&store)?.contradict(memory)?;
    store.close()?;
    changed(global, id, version)
}

pub(crate) fn used(global: &Global, ids: &[String]) -> Result<Outcome> {
    let memories = ids.iter().map(|id| memory_id(id)).collect::<Result<Vec<_>>>()?;
    let store = global.open()?;
    global.handle(&store)?.used(memories)?;
    store.close()?;
    output::answer(global.json, &json!({"used": ids.len()}), &format!("{} noted", ids.len()))?;
    Ok(Outcome::Done)
}

fn changed(global: &Global, id: &str, version: u32) -> Result<Outcome> {
    output::answer(global.json, &json!({"id": id, "version": version}), &format!("version {version}"))?;
    Ok(Outcome::Done)
}

fn edits(args: &UpdateArgs) -> Update {
    let mut update = Update::new();
    update = args.text.iter().fold(update, Update::text);
    update = args.untag.iter().fold(update, Update::untag);
    update = args.without_metadata.iter().fold(update, Update::without_metadata);
    update = args.pinned.into_iter().fold(update, Update::pinned);
    update = args.if_version.into_iter().fold(update, Update::if_version);
    if args.archive {
        update = update.archive();
    }
    if args.unarchive {
        update = update.unarchive();
    }
    with_fields(update, &args.fields)
}

fn with_fields(mut update: Update, fields: &MemoryFields) -> Update {
    update = fields.value.iter().fold(update, Update::value);
    update = fields.tag.iter().fold(update, Update::tag);
    update = fields.scene.iter().fold(update, Update::scene);
    update = fields.speaker.iter().fold(update, Update::speaker);
    update = fields.importance.into_iter().fold(update, Update::importance);
    update = fields.confidence.into_iter().fold(update, Update::confidence);
    update = fields.sensitivity.into_iter().fold(update, Update::sensitivity);
    update = fields.visibility.into_iter().fold(update, Update::visibility);
    update = fields.event_at.into_iter().fold(update, Update::event_at);
    update = fields.valid_from.into_iter().fold(update, Update::valid_from);
    update = fields.valid_to.into_iter().fold(update, Update::valid_to);
    fields.metadata.iter().cloned().fold(update, |update, (key, value)| update.metadata(key, value))
}
