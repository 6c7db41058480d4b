//! From memory to record.

use mnemic::memory::{Memory, MemoryId, Source, Status, Timestamp};

use super::{Record, SlotRecord, SourceRecord, TurnRecord, metadata};

impl Record {
    pub(crate) fn of(memory: &Memory) -> Self {
        let (status_reason, superseded_by, archived_since) = particulars(memory.status());
        Self {
            id: Some(memory.id().to_string()),
            kind: Some(memory.kind().to_string()),
            text: memory.text().to_owned(),
            slot: memory
                .slot()
                .map(|slot| SlotRecord { subject: slot.subject().to_owned(), attribute: slot.attribute().to_owned() }),
            value: memory.value().map(str::to_owned),
            tags: memory.tags().to_vec(),
            scene: memory.scene().map(str::to_owned),
            speaker: memory.speaker().map(str::to_owned),
            language: memory.language().map(str::to_owned),
            turn: memory.turn().map(|turn| TurnRecord { session: turn.session().to_owned(), seq: turn.seq() }),
            importance: shortest(memory.importance()),
            confidence: shortest(memory.confidence()),
            evidence: Some(memory.evidence().to_string()),
            status: Some(memory.status().kind().to_string()),
            status_reason,
            superseded_by,
            archived_since,
            sensitivity: Some(memory.sensitivity().to_string()),
            visibility: Some(memory.visibility().to_string()),
            pinned: memory.pinned(),
            created_at: Some(memory.created_at().to_string()),
            event_at: shown(memory.event_at()),
            valid_from: shown(memory.valid_from()),
            valid_to: shown(memory.valid_to()),
            updated_at: shown(Some(memory.updated_at()).filter(|_| memory.version() > 1)),
            last_used_at: shown(memory.last_used_at()),
            last_confirmed_at: shown(memory.last_confirmed_at()),
            used_count: memory.used_count(),
            confirmed_count: memory.confirmed_count(),
            contradicted_count: memory.contradicted_count(),
            version: Some(memory.version()),
            source: SourceRecord::of(memory.source()),
            derived_from: memory.derived_from().iter().map(MemoryId::to_string).collect(),
            supersedes: memory.supersedes().iter().map(MemoryId::to_string).collect(),
            pending: memory.is_pending(),
            metadata: metadata::to_json(memory.metadata()),
        }
    }
}

impl SourceRecord {
    fn of(source: &Source) -> Self {
        Self {
            session: source.session.clone(),
            turns: source.turns,
            actor: source.actor.clone(),
            trust: source.trust.map(|trust| trust.to_string()),
            extractor: source.extractor.clone(),
            extracted_at: shown(source.extracted_at),
        }
    }
}

/// Reason, successor and since when, where the status has them.
fn particulars(status: Status) -> (Option<String>, Option<String>, Option<String>) {
    match status {
        Status::Active | Status::Candidate => (None, None, None),
        Status::Superseded { by, reason } => (Some(reason.to_string()), by.map(|id| id.to_string()), None),
        Status::Archived { since, reason } => (Some(reason.to_string()), None, Some(since.to_string())),
    }
}

fn shown(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// The f64 that shows as the f32 does.
fn shortest(value: f32) -> Option<f64> {
    value.to_string().parse().ok()
}
