//! From record to a memory that can be stored.

use mnemic::memory::{Kind, MemoryId, NewMemory, Source, StatusKind, Timestamp};

use super::{Record, SourceRecord, metadata};

/// What a line asks to be stored.
pub(crate) struct Incoming {
    pub(crate) memory: NewMemory,
    /// It was superseded or archived where it comes from, and is to be kept out of recall here too.
    pub(crate) retired: bool,
}

impl Incoming {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| told(&error))?;
        record.into_incoming()
    }
}

/// What is wrong, and in which column: the line is named by who reads the file.
fn told(error: &serde_json::Error) -> String {
    let says = error.to_string();
    let says = says.rsplit_once(" at line ").map_or(says.as_str(), |(says, _)| says);
    let what = if error.is_data() { "not as an export has it" } else { "not JSON" };
    format!("column {}: {what}: {says}", error.column())
}

impl Record {
    fn into_incoming(self) -> Result<Incoming, String> {
        let kind = read(self.kind.as_deref())?.unwrap_or(Kind::Note);
        let status = read(self.status.as_deref())?.unwrap_or(StatusKind::Active);
        let mut memory = self.times(self.classes(self.names(NewMemory::new(kind, self.text.as_str())))?)?;
        memory = memory.pinned(self.pinned).source(self.source.source()?);
        for id in &self.derived_from {
            memory = memory.derived_from(id.parse().map_err(|error| format!("derived_from: {error}"))?);
        }
        for (key, value) in &self.metadata {
            memory = memory.metadata(key, metadata::from_json(key, value)?);
        }
        if let Some(id) = read::<MemoryId>(self.id.as_deref())? {
            memory = memory.id(id);
        }
        if status != StatusKind::Active {
            memory = memory.candidate();
        }
        Ok(Incoming { memory, retired: matches!(status, StatusKind::Superseded | StatusKind::Archived) })
    }

    fn names(&self, mut memory: NewMemory) -> NewMemory {
        memory = self.tags.iter().fold(memory, NewMemory::tag);
        memory = self.slot.iter().fold(memory, |memory, slot| memory.slot(&slot.subject, &slot.attribute));
        memory = self.turn.iter().fold(memory, |memory, turn| memory.turn(&turn.session, turn.seq));
        memory = self.value.iter().fold(memory, NewMemory::value);
        memory = self.scene.iter().fold(memory, NewMemory::scene);
        memory = self.speaker.iter().fold(memory, NewMemory::speaker);
        self.language.iter().fold(memory, NewMemory::language)
    }

    fn classes(&self, mut memory: NewMemory) -> Result<NewMemory, String> {
        memory = single(self.importance).fold(memory, NewMemory::importance);
        memory = single(self.confidence).fold(memory, NewMemory::confidence);
        memory = read(self.evidence.as_deref())?.into_iter().fold(memory, NewMemory::evidence);
        memory = read(self.sensitivity.as_deref())?.into_iter().fold(memory, NewMemory::sensitivity);
        Ok(read(self.visibility.as_deref())?.into_iter().fold(memory, NewMemory::visibility))
    }

    fn times(&self, mut memory: NewMemory) -> Result<NewMemory, String> {
        memory = instant("created_at", self.created_at.as_ref())?.into_iter().fold(memory, NewMemory::created_at);
        memory = instant("event_at", self.event_at.as_ref())?.into_iter().fold(memory, NewMemory::event_at);
        memory = instant("valid_from", self.valid_from.as_ref())?.into_iter().fold(memory, NewMemory::valid_from);
        Ok(instant("valid_to", self.valid_to.as_ref())?.into_iter().fold(memory, NewMemory::valid_to))
    }
}

impl SourceRecord {
    fn source(self) -> Result<Source, String> {
        Ok(Source {
            trust: read(self.trust.as_deref())?,
            extracted_at: instant("extracted_at", self.extracted_at.as_ref())?,
            session: self.session,
            turns: self.turns,
            actor: self.actor,
            extractor: self.extractor,
        })
    }
}

fn read<T: std::str::FromStr<Err = mnemic::Error>>(text: Option<&str>) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|error: mnemic::Error| error.to_string())).transpose()
}

fn instant(field: &str, text: Option<&String>) -> Result<Option<Timestamp>, String> {
    text.map(|text| crate::time::parse(text).map_err(|error| format!("{field}: {error}"))).transpose()
}

fn single(number: Option<f64>) -> impl Iterator<Item = f32> {
    number.map(|number| number as f32).into_iter()
}
