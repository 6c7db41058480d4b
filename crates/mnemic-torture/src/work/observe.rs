use std::collections::BTreeMap;

use mnemic::memory::{Memory, MemoryId, Sensitivity, StatusKind};
use mnemic::{ListOptions, Query, Store, User};

use super::{DIMS, Model, Row, UNKNOWN};
use crate::check::{Check, Say, ensure};

/// Users, whether each is paused, and what each has.
pub(crate) type Found = BTreeMap<String, (bool, BTreeMap<MemoryId, Seen>)>;

/// What is comparable of a memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    text: String,
    importance: f32,
    confidence: f32,
    level: Sensitivity,
    status: StatusKind,
    pinned: bool,
    created_at: i64,
    version: u32,
    tags: Vec<String>,
    derived_from: Vec<MemoryId>,
    pending: bool,
}

impl Seen {
    /// The same, whether it has a vector or not.
    pub(crate) fn whatever_its_vector(self) -> Self {
        Self { pending: false, ..self }
    }
}

impl From<&Row> for Seen {
    fn from(row: &Row) -> Self {
        Self {
            text: row.text.clone(),
            importance: row.importance,
            confidence: row.confidence,
            level: row.level,
            status: row.status,
            pinned: row.pinned,
            created_at: row.created_at,
            version: row.version,
            tags: row.tags.clone(),
            derived_from: row.derived_from.clone(),
            pending: row.vector.is_none(),
        }
    }
}

impl From<&Memory> for Seen {
    fn from(memory: &Memory) -> Self {
        Self {
            text: memory.text().to_owned(),
            importance: memory.importance(),
            confidence: memory.confidence(),
            level: memory.sensitivity(),
            status: memory.status().kind(),
            pinned: memory.pinned(),
            created_at: memory.created_at().as_micros(),
            version: memory.version(),
            tags: memory.tags().to_vec(),
            derived_from: memory.derived_from().to_vec(),
            pending: memory.is_pending(),
        }
    }
}

/// What a store should show that follows the model.
pub(crate) fn shown_by(model: &Model) -> Found {
    let seen = |state: &super::UserState| state.rows.iter().map(|(id, row)| (*id, Seen::from(row))).collect();
    model.iter().map(|(user, state)| (user.clone(), (state.paused, seen(state)))).collect()
}

/// Everything that a whole store holds, read through its public API.
pub(crate) fn found_of(store: &Store) -> Check<Found> {
    let mut found = Found::new();
    let mut after = None;
    loop {
        let page = store.users(after, 3).say("users")?;
        for user in &page.users {
            let handle = handle(store, user.as_str())?;
            let listed = handle.list(ListOptions::new().limit(usize::MAX)).say("list")?;
            ensure!(listed.damaged.is_empty(), "damaged: {:?}", listed.damaged);
            ensure!(listed.total == listed.memories.len(), "list: {} of {}", listed.memories.len(), listed.total);
            let seen = listed.memories.iter().map(|memory| (memory.id(), Seen::from(memory))).collect();
            found.insert(user.as_str().to_owned(), (handle.stats().say("stats")?.paused, seen));
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let count = store.user_count().say("user_count")?;
    ensure!(count == found.len() as u64, "{count} users counted, {} listed", found.len());
    Ok(found)
}

fn handle(store: &Store, user: &str) -> Check<User> {
    Ok(store.user(user).say("user")?.with_level(Sensitivity::Secret))
}

/// The index finds what the records hold, and the log knows what was done.
pub(crate) fn check_deeply(store: &Store, model: &Model) -> Check {
    let query = Query::vector(vec![1.0; DIMS]).limit(usize::MAX);
    for (user, state) in model.iter() {
        let handle = handle(store, user)?;
        let hits = handle.recall(&query).say("recall")?;
        ensure!(hits.damaged().is_empty(), "recall: damaged {:?}", hits.damaged());
        let searched = |row: &&Row| row.status == StatusKind::Active && row.vector.is_some();
        let expected = state.rows.values().filter(searched).count();
        ensure!(hits.len() == expected, "index of {user:?}: {} of {expected} hits", hits.len());
        for hit in &hits[..] {
            ensure!(hit.verify(), "hit {} does not verify", hit.id());
            let known = known_row(state, hit.id(), hit.memory());
            ensure!(known, "index of {user:?}: hit {} is not what is stored", hit.id());
        }
        let mut at_ends = state.rows.iter().take(1).chain(state.rows.iter().next_back());
        at_ends.try_for_each(|(id, row)| check_history(&handle, *id, row))?;
    }
    Ok(())
}

fn known_row(state: &super::UserState, id: MemoryId, memory: &Memory) -> bool {
    state.rows.get(&id).or_else(|| state.rows.get(&UNKNOWN)).is_some_and(|row| Seen::from(row) == Seen::from(memory))
}

fn check_history(handle: &User, id: MemoryId, row: &Row) -> Check {
    if id == UNKNOWN {
        return Ok(());
    }
    let history = handle.history(id).say("history")?;
    let (most, trimmed) = (row.changes.len(), row.trimmed);
    let is_right = (most - trimmed..=most).contains(&history.len());
    ensure!(is_right, "history of {id}: {} changes, should be {most} less at most {trimmed}", history.len());
    Ok(())
}

/// Gives the one memory that the model does not know the name of a cut-off correction.
pub(crate) fn settle_ids(mut found: Found, expected: &Found) -> Found {
    for (user, (_, rows)) in expected {
        let Some((_, seen)) = found.get_mut(user).filter(|_| rows.contains_key(&UNKNOWN)) else { continue };
        let strange: Vec<MemoryId> = seen.keys().filter(|id| !rows.contains_key(id)).copied().collect();
        if let [one] = strange[..] {
            let row = seen.remove(&one);
            seen.extend(row.map(|row| (UNKNOWN, row)));
        }
    }
    found
}

/// Where two states first differ, in words.
pub(crate) fn show_difference(expected: &Found, found: &Found) -> String {
    for user in expected.keys().chain(found.keys()) {
        let (should, is) = (expected.get(user), found.get(user));
        let (Some((paused, should)), Some((is_paused, is))) = (should, is) else {
            return format!("user {user:?}: there {}, should be {}", is.is_some(), should.is_some());
        };
        if paused != is_paused {
            return format!("user {user:?}: paused {is_paused}, should be {paused}");
        }
        for id in should.keys().chain(is.keys()) {
            if should.get(id) != is.get(id) {
                return format!("user {user:?}, {id}: {:?}, should be {:?}", is.get(id), should.get(id));
            }
        }
    }
    "no difference".to_owned()
}
