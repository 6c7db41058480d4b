//! What going back to a snapshot should do.

use mnemic::Restored;
use mnemic::memory::{MemoryId, StatusKind};

use super::{Model, Row, UserState};

/// What a snapshot should hold.
#[derive(Debug, Clone)]
pub(crate) struct Copied {
    /// Its id, as the bits of a memory's.
    pub(crate) id: MemoryId,
    pub(crate) users: std::collections::BTreeMap<String, CopiedUser>,
}

/// What it should hold of one user.
#[derive(Debug, Clone)]
pub(crate) struct CopiedUser {
    pub(crate) state: UserState,
    /// Memories that were forgotten since.
    pub(crate) forgotten: u64,
}

impl Model {
    /// A snapshot of everything.
    pub(crate) fn copy(&mut self, id: MemoryId) {
        let copied = |state: &UserState| CopiedUser { state: state.clone(), forgotten: 0 };
        let users = self.users.iter().map(|(user, state)| (user.clone(), copied(state))).collect();
        self.snapshots.push(Copied { id, users });
    }

    /// What the snapshot holds of the user.
    pub(crate) fn copied(&self, user: &str, snapshot: MemoryId) -> Option<&CopiedUser> {
        self.snapshots.iter().find(|copied| copied.id == snapshot)?.users.get(user)
    }

    /// The user after going back, and the counts that should be told.
    pub(crate) fn restored(&self, user: &str, snapshot: MemoryId, now: i64) -> Option<(UserState, Restored)> {
        let (copied, mut state) = (self.copied(user, snapshot)?, self.users.get(user)?.clone());
        let mut done = Restored { users: 1, refused: copied.forgotten, ..Restored::default() };
        for (id, row) in &mut state.rows {
            match copied.state.rows.get(id) {
                Some(then) if go_back(row, then, now) => done.restored += 1,
                Some(_) => done.unchanged += 1,
                None if matches!(row.status, StatusKind::Active | StatusKind::Candidate) => {
                    row.changed(now);
                    (row.status, row.archived_at) = (StatusKind::Archived, Some(now));
                    done.archived += 1;
                }
                None => {}
            }
        }
        Some((state, done))
    }
}

/// Makes a row what it was; whether it was anything else.
fn go_back(row: &mut Row, then: &Row, now: i64) -> bool {
    if row.version == then.version {
        return false;
    }
    let mut back = then.clone();
    (back.version, back.changes, back.trimmed) = (row.version, row.changes.clone(), row.trimmed);
    if back.vector.is_none() && back.text == row.text {
        back.vector.clone_from(&row.vector);
    }
    if back == *row {
        return false;
    }
    back.changed(now);
    *row = back;
    true
}
