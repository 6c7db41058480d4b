use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, StatusKind, Timestamp};

use super::undo::Copied;
use super::{Answer, Expected, Step};

/// Users, and what each should have; and what snapshots should have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) users: BTreeMap<String, UserState>,
    pub(crate) snapshots: Vec<Copied>,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

impl Deref for Model {
    type Target = BTreeMap<String, UserState>;

    fn deref(&self) -> &Self::Target {
        &self.users
    }
}

impl DerefMut for Model {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.users
    }
}

/// What one user should have.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserState {
    pub(crate) paused: bool,
    pub(crate) rows: BTreeMap<MemoryId, Row>,
}

/// What a memory should be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) text: String,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    pub(crate) level: Sensitivity,
    pub(crate) status: StatusKind,
    /// What superseded it.
    pub(crate) by: Option<MemoryId>,
    pub(crate) archived_at: Option<i64>,
    pub(crate) pinned: bool,
    pub(crate) created_at: i64,
    /// How often it was used, and when at last.
    pub(crate) used: (u32, Option<i64>),
    /// How often it was confirmed, and when at last.
    pub(crate) confirmed: (u32, Option<i64>),
    pub(crate) contradicted: u32,
    pub(crate) version: u32,
    pub(crate) tags: Vec<String>,
    pub(crate) derived_from: Vec<MemoryId>,
    /// When each entry of its history was made.
    pub(crate) changes: Vec<i64>,
    /// How many of them an upkeep may have trimmed.
    pub(crate) trimmed: usize,
}

impl Row {
    /// From when on it fades.
    pub(crate) fn time(&self) -> i64 {
        [self.used.1, self.confirmed.1].into_iter().flatten().fold(self.created_at, i64::max)
    }

    /// Notes a change.
    pub(crate) fn changed(&mut self, now: i64) {
        self.version += 1;
        self.changes.push(now);
    }

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

/// How long changes can be looked up.
const LOG_MICROS: i64 = 30 * Timestamp::DAY_MICROS;

/// Does to the model what the step does to a store at `now`.
pub(crate) fn advance(model: &mut Model, step: &Step, answer: &Answer, now: i64) {
    if step.expected(model) != Expected::Done {
        return;
    }
    match step {
        Step::Remember { user, rows } => {
            let new = rows.iter().map(|(id, row)| (*id, Row { changes: vec![now], ..row.clone() }));
            model.entry(user.clone()).or_default().rows.extend(new);
        }
        Step::Pause { user, on } => model.entry(user.clone()).or_default().paused = *on,
        Step::ForgetUser { user } => {
            model.remove(user);
            model.snapshots.iter_mut().for_each(|copied| _ = copied.users.remove(user));
        }
        Step::Flush | Step::Reopen | Step::RotateUser { .. } | Step::RotateMaster => {}
        Step::Snapshot => model.copy(answer.new_id),
        Step::Restore { user, snapshot } => {
            if let Some((state, _)) = model.restored(user, *snapshot, now) {
                model.insert(user.clone(), state);
            }
        }
        Step::Maintain => {
            let begins = now - LOG_MICROS;
            for row in model.values_mut().flat_map(|state| state.rows.values_mut()) {
                row.trimmed = row.trimmed.max(row.changes.iter().filter(|at| **at < begins).count());
            }
        }
        Step::Forget { user, id } => {
            let gone = closure_of(rows_of(model, user), *id);
            take_out(rows_of(model, user), &gone);
            for copied in model.snapshots.iter_mut().filter_map(|copied| copied.users.get_mut(user)) {
                copied.forgotten += take_out(&mut copied.state.rows, &gone);
            }
        }
        Step::Correct { user, id, text, vector } => {
            let rows = rows_of(model, user);
            let Some(old) = rows.get_mut(id) else { return };
            let before = old.clone();
            old.changed(now);
            (old.status, old.by) = (StatusKind::Superseded, Some(answer.new_id));
            let (status, confidence) = (StatusKind::Active, 1.0);
            let new = Row {
                text: text.clone(),
                vector: Some(vector.clone()),
                confidence,
                created_at: now,
                used: (0, None),
                confirmed: (0, None),
                contradicted: 0,
                version: 1,
                status,
                archived_at: None,
                derived_from: Vec::new(),
                changes: vec![now],
                trimmed: 0,
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

/// Takes out what goes, and references to it; how many went.
fn take_out(rows: &mut BTreeMap<MemoryId, Row>, gone: &BTreeSet<MemoryId>) -> u64 {
    let before = rows.len();
    rows.retain(|id, _| !gone.contains(id));
    for row in rows.values_mut() {
        row.derived_from.retain(|id| !gone.contains(id));
        row.by = row.by.filter(|id| !gone.contains(id));
    }
    (before - rows.len()) as u64
}

fn change(row: &mut Row, step: &Step, now: i64) {
    row.changed(now);
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
            row.confirmed = (row.confirmed.0 + 1, Some(now));
        }
        Step::Contradict { .. } => {
            row.confidence *= 0.5;
            row.contradicted += 1;
        }
        _ => row.used = (row.used.0 + 1, Some(row.used.1.map_or(now, |before| before.max(now)))),
    }
}
