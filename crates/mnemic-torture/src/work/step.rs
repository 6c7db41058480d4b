use std::time::Duration;

use mnemic::memory::{MemoryId, Sensitivity, StatusKind};
use mnemic::{Correction, Error, ErrorKind, Forgotten, MasterKey, Restored, Result, Store, Update};

use super::{Model, Row};
use crate::check::{Check, ensure};

/// Stands for an id that a cut-off call did not tell.
pub(crate) const UNKNOWN: MemoryId = MemoryId::from_u128(u128::MAX);

/// One call.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Remember { user: String, rows: Vec<(MemoryId, Row)> },
    Update { user: String, id: MemoryId, text: Option<String>, vector: Option<Vec<f32>>, importance: f32 },
    Correct { user: String, id: MemoryId, text: String, vector: Vec<f32> },
    Confirm { user: String, id: MemoryId },
    Contradict { user: String, id: MemoryId },
    Used { user: String, ids: Vec<MemoryId> },
    Forget { user: String, id: MemoryId },
    ForgetUser { user: String },
    Pause { user: String, on: bool },
    Flush,
    Reopen,
    Snapshot,
    Restore { user: String, snapshot: MemoryId },
    Maintain,
    RotateUser { user: String },
    RotateMaster,
}

/// What the model says of a call before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Done,
    Refused(ErrorKind),
}

/// What a call told.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// Of a new memory, or the bits of a new snapshot's.
    pub(crate) new_id: MemoryId,
    pub(crate) forgotten: Option<Forgotten>,
    pub(crate) restored: Option<Restored>,
}

impl Default for Answer {
    fn default() -> Self {
        Self { new_id: UNKNOWN, forgotten: None, restored: None }
    }
}

impl Step {
    /// A word for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Remember { rows, .. } if rows.len() == 1 => "remember",
            Self::Remember { .. } => "remember_all",
            Self::Update { .. } => "update",
            Self::Correct { .. } => "correct",
            Self::Confirm { .. } => "confirm",
            Self::Contradict { .. } => "contradict",
            Self::Used { .. } => "used",
            Self::Forget { .. } => "forget",
            Self::ForgetUser { .. } => "forget_user",
            Self::Pause { on: true, .. } => "pause",
            Self::Pause { .. } => "resume",
            Self::Flush => "flush",
            Self::Reopen => "close and reopen",
            Self::Snapshot => "snapshot",
            Self::Restore { .. } => "restore",
            Self::Maintain => "maintain",
            Self::RotateUser { .. } => "rotate a user key",
            Self::RotateMaster => "rotate the master key",
        }
    }

    /// Whose memories it concerns.
    pub(crate) fn user(&self) -> Option<&str> {
        match self {
            Self::Remember { user, .. }
            | Self::Update { user, .. }
            | Self::Correct { user, .. }
            | Self::Confirm { user, .. }
            | Self::Contradict { user, .. }
            | Self::Used { user, .. }
            | Self::Forget { user, .. }
            | Self::ForgetUser { user }
            | Self::RotateUser { user }
            | Self::Restore { user, .. }
            | Self::Pause { user, .. } => Some(user),
            Self::Flush | Self::Reopen | Self::Snapshot | Self::Maintain | Self::RotateMaster => None,
        }
    }

    /// Whether everything before it is on disk once it is acknowledged, also in a relaxed store.
    pub(crate) fn is_durable(&self) -> bool {
        matches!(self, Self::Forget { .. } | Self::RotateUser { .. } | Self::Flush | Self::Reopen | Self::Snapshot)
    }

    /// Whether a relaxed store may do without a commit of its own for it.
    pub(crate) fn may_write_nothing(&self) -> bool {
        matches!(self, Self::Restore { .. } | Self::Maintain | Self::RotateMaster)
    }

    /// What should come of it.
    pub(crate) fn expected(&self, model: &Model) -> Expected {
        let state = self.user().and_then(|user| model.get(user));
        let row = |id: &MemoryId| state.and_then(|state| state.rows.get(id));
        match self {
            Self::Remember { .. } if state.is_some_and(|state| state.paused) => Expected::Refused(ErrorKind::Denied),
            Self::ForgetUser { .. } if state.is_none() => Expected::Refused(ErrorKind::NotFound),
            Self::Remember { .. }
            | Self::Pause { .. }
            | Self::ForgetUser { .. }
            | Self::Flush
            | Self::Reopen
            | Self::Snapshot
            | Self::RotateMaster
            | Self::Maintain => Expected::Done,
            Self::RotateUser { .. } => if_there(state.is_some()),
            Self::Restore { user, snapshot } => if_there(state.is_some() && model.copied(user, *snapshot).is_some()),
            Self::Correct { id, .. } if row(id).is_some_and(|row| row.status == StatusKind::Superseded) => {
                Expected::Refused(ErrorKind::Conflict)
            }
            Self::Update { id, .. }
            | Self::Correct { id, .. }
            | Self::Confirm { id, .. }
            | Self::Contradict { id, .. }
            | Self::Forget { id, .. } => if_there(row(id).is_some()),
            Self::Used { ids, .. } => if_there(ids.iter().all(|id| row(id).is_some())),
        }
    }

    /// Makes the call. Reopening is the caller's.
    pub(crate) fn call(&self, store: &Store) -> Result<Answer> {
        let handle = |user: &str| Ok::<_, Error>(store.user(user)?.with_level(Sensitivity::Secret));
        let mut answer = Answer::default();
        match self {
            Self::Remember { user, rows } if rows.len() == 1 => {
                answer.new_id = handle(user)?.remember(rows[0].1.to_new(rows[0].0))?;
            }
            Self::Remember { user, rows } => {
                let all = rows.iter().map(|(id, row)| row.to_new(*id));
                handle(user)?.remember_all(all)?.into_iter().collect::<Result<Vec<_>>>()?;
            }
            Self::Update { user, id, text, vector, importance } => {
                let update = Update::new().importance(*importance);
                let update = text.iter().fold(update, |update, text| update.text(text.clone()));
                let update = vector.iter().fold(update, |update, vector| update.vector(vector.clone()));
                handle(user)?.update(*id, update)?;
            }
            Self::Correct { user, id, text, vector } => {
                let correction = Correction::new(text.clone()).vector(vector.clone());
                answer.new_id = handle(user)?.correct(*id, correction)?;
            }
            Self::Confirm { user, id } => _ = handle(user)?.confirm(*id)?,
            Self::Contradict { user, id } => _ = handle(user)?.contradict(*id)?,
            Self::Used { user, ids } => handle(user)?.used(ids.iter().copied())?,
            Self::Forget { user, id } => answer.forgotten = Some(handle(user)?.forget(*id)?),
            Self::ForgetUser { user } => answer.forgotten = Some(store.forget_user(user)?),
            Self::Pause { user, on: true } => handle(user)?.pause()?,
            Self::Pause { user, on: false } => handle(user)?.resume()?,
            Self::Flush => store.flush()?,
            Self::Snapshot => answer.new_id = MemoryId::from_bytes(*store.snapshot()?.id.as_bytes()),
            Self::Restore { user, snapshot } => {
                answer.restored = Some(store.restore_user(snapshot.to_string().parse()?, user)?);
            }
            Self::Maintain => _ = store.maintain(Duration::MAX)?,
            Self::RotateUser { user } => _ = handle(user)?.rotate_keys()?,
            Self::RotateMaster => store.rotate_keys(&MasterKey::local_file())?,
            Self::Reopen => {}
        }
        Ok(answer)
    }

    /// Compares the outcome of the call with what should come of it.
    pub(crate) fn check(&self, model: &Model, outcome: &Result<Answer>) -> Check {
        match (self.expected(model), outcome) {
            (Expected::Done, Ok(answer)) => self.check_counts(model, answer),
            (Expected::Refused(kind), Err(error)) if error.kind() == kind => Ok(()),
            (expected, outcome) => Err(format!("{}: {expected:?} expected, got {outcome:?}", self.name())),
        }
    }

    fn check_counts(&self, model: &Model, answer: &Answer) -> Check {
        if let (Some(done), Self::Restore { user, snapshot }) = (&answer.restored, self) {
            let expected = model.restored(user, *snapshot, 0).map(|(_, expected)| expected);
            ensure!(Some(*done) == expected, "restore: {done:?}, should be {expected:?}");
        }
        let (Some(forgotten), Some(state)) = (&answer.forgotten, self.user().and_then(|user| model.get(user))) else {
            return Ok(());
        };
        let expected = match self {
            Self::Forget { id, .. } => super::closure_of(&state.rows, *id).len(),
            _ => state.rows.len(),
        };
        ensure!(forgotten.snapshots_lost == 0, "{}: {} snapshots lost", self.name(), forgotten.snapshots_lost);
        ensure!(
            forgotten.memories as usize == expected,
            "{}: {} memories gone, should be {expected}",
            self.name(),
            forgotten.memories
        );
        Ok(())
    }
}

fn if_there(there: bool) -> Expected {
    if there { Expected::Done } else { Expected::Refused(ErrorKind::NotFound) }
}
