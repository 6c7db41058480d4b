use mnemic::memory::{MetaValue, NewMemory};
use serde_json::json;

use crate::access::memory_id;
use crate::args::{Global, MemoryFields, RememberArgs};
use crate::failure::{Outcome, Result};
use crate::output;

pub(crate) fn remember(global: &Global, args: &RememberArgs) -> Result<Outcome> {
    let memory = new_memory(args)?;
    global.user_id()?;
    let store = global.open_or_create()?;
    let id = global.handle(&store)?.remember(memory)?;
    store.close()?;
    output::answer(global.json, &json!({"id": id.to_string()}), &id.to_string())?;
    Ok(Outcome::Done)
}

fn new_memory(args: &RememberArgs) -> Result<NewMemory> {
    let mut memory = NewMemory::new(args.kind, args.text.as_str()).pinned(args.pinned);
    memory = args.slot.iter().fold(memory, |memory, (subject, attribute)| memory.slot(subject, attribute));
    memory = args.language.iter().fold(memory, NewMemory::language);
    memory = args.evidence.into_iter().fold(memory, NewMemory::evidence);
    memory = args.created_at.into_iter().fold(memory, NewMemory::created_at);
    if let Some(id) = &args.id {
        memory = memory.id(memory_id(id)?);
    }
    if args.candidate {
        memory = memory.candidate();
    }
    Ok(with_fields(memory, &args.fields))
}

fn with_fields(mut memory: NewMemory, fields: &MemoryFields) -> NewMemory {
    memory = fields.value.iter().fold(memory, NewMemory::value);
    memory = fields.tag.iter().fold(memory, NewMemory::tag);
    memory = fields.scene.iter().fold(memory, NewMemory::scene);
    memory = fields.speaker.iter().fold(memory, NewMemory::speaker);
    memory = fields.importance.into_iter().fold(memory, NewMemory::importance);
    memory = fields.confidence.into_iter().fold(memory, NewMemory::confidence);
    memory = fields.sensitivity.into_iter().fold(memory, NewMemory::sensitivity);
    memory = fields.visibility.into_iter().fold(memory, NewMemory::visibility);
    memory = fields.event_at.into_iter().fold(memory, NewMemory::event_at);
    memory = fields.valid_from.into_iter().fold(memory, NewMemory::valid_from);
    memory = fields.valid_to.into_iter().fold(memory, NewMemory::valid_to);
    let entries = fields.metadata.iter().cloned();
    entries.fold(memory, |memory, (key, value): (String, MetaValue)| memory.metadata(key, value))
}
