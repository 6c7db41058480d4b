use std::collections::{BTreeMap, BTreeSet};

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, StatusKind, Timestamp};

use super::{Answer, Expected, Step};

/// Users, and what each should have.
pub(crate) type Model = BTreeMap<String, UserState>;

/// What one user should have.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserState {
    pub(crate) paused: bool,
    pub(crate) rows: BTreeMap<MemoryId, Row>,
}

/// What a memory should be.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) text: String,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    pub(crate) level: Sensitivity,
    pub(crate) status: StatusKind,
    pub(crate) pinned: bool,
    pub(crate) created_at: i64,
    pub(crate) time: i64,
    pub(crate) version: u32,
    pub(crate) tags: Vec<String>,
    pub(crate) derived_from: Vec<MemoryId>,
    /// Entries of its history.
    pub(crate) changes: usize,
}

impl Row {
    /// As it is handed to the store.
    pub(crate) fn to_new(&self, id: MemoryId) -> NewMemory {
        let new = NewMemory::note(self.text.clone())
            .id(id)
            .importance(self.importance)
            .confidence(self.confidence)
            .sensitivity(self.level)
            .pinned(self.pinned)
            .created_at(Timestamp::from_micros(self.created_at));
        let new = self.tags.iter().fold(new, |new, tag| new.tag(tag.clone()));
        let new = self.derived_from.iter().fold(new, |new, id| new.derived_from(*id));
        match &self.vector {
            Some(vector) => new.vector(vector.clone()),
            None => new,
        }
    }
}

/// What goes with a memory: itself, and what was made of gone ones alone.
pub(crate) fn closure_of(rows: &BTreeMap<MemoryId, Row>, id: MemoryId) -> BTreeSet<MemoryId> {
    let mut gone = BTreeSet::from([id]);
    loop {
        let orphan = rows.iter().find(|(id, row)| {
            !gone.contains(id) && !row.derived_from.is_empty() && row.derived_from.iter().all(|of| gone.contains(of))
        });
        match orphan {
            Some((id, _)) => _ = gone.insert(*id),
            None => return gone,
        }
    }
}

/// Does to the model what the step does to a store at `now`.
pub(crate) fn advance(model: &mut Model, step: &Step, answer: &Answer, now: i64) {
    if step.expected(model) != Expected::Done {
        return;
    }
    match step {
        Step::Remember { user, rows } => {
            model.entry(user.clone()).or_default().rows.extend(rows.iter().cloned());
        }
        Step::Pause { user, on } => model.entry(user.clone()).or_default().paused = *on,
        Step::ForgetUser { user } => _ = model.remove(user),
        Step::Flush | Step::Reopen => {}
        Step::Forget { user, id } => {
            let rows = rows_of(model, user);
            let gone = closure_of(rows, *id);
            rows.retain(|id, _| !gone.contains(id));
            rows.values_mut().for_each(|row| row.derived_from.retain(|id| !gone.contains(id)));
        }
        Step::Correct { user, id, text, vector } => {
            let rows = rows_of(model, user);
            let Some(old) = rows.get_mut(id) else { return };
            let before = old.clone();
            (old.status, old.version, old.changes) = (StatusKind::Superseded, old.version + 1, old.changes + 1);
            let (status, confidence) = (StatusKind::Active, 1.0);
            let new = Row {
                text: text.clone(),
                vector: Some(vector.clone()),
                confidence,
                created_at: now,
                time: now,
                version: 1,
                status,
                derived_from: Vec::new(),
                changes: 1,
                ..before
            };
            rows.insert(answer.new_id, new);
        }
        Step::Update { user, id, .. } | Step::Confirm { user, id } | Step::Contradict { user, id } => {
            rows_of(model, user).entry(*id).and_modify(|row| change(row, step, now));
        }
        Step::Used { user, ids } => {
            for id in ids {
                rows_of(model, user).entry(*id).and_modify(|row| change(row, step, now));
            }
        }
    }
}

fn rows_of<'m>(model: &'m mut Model, user: &str) -> &'m mut BTreeMap<MemoryId, Row> {
    &mut model.entry(user.to_owned()).or_default().rows
}

fn change(row: &mut Row, step: &Step, now: i64) {
    row.version += 1;
    row.changes += 1;
    match step {
        Step::Update { text, vector, importance, .. } => {
            if let Some(text) = text {
                row.text.clone_from(text);
                row.vector.clone_from(vector);
            } else if vector.is_some() {
                row.vector.clone_from(vector);
            }
            row.importance = *importance;
        }
        Step::Confirm { .. } => {
            row.confidence += (1.0 - row.confidence) * 0.5;
            row.time = row.time.max(now);
        }
        Step::Contradict { .. } => row.confidence *= 0.5,
        _ => row.time = row.time.max(now),
    }
}
