use std::collections::BTreeMap;

use mnemic::memory::{Memory, MemoryId, Sensitivity};
use mnemic::world::testing::RecordingFs;
use mnemic::{EmptyReason, Error, ErrorKind, ListOptions, Store, User};

use super::{Patient, mended};
use crate::check::{Check, Say, ensure};
use crate::work::{DIMS, Model, Plan, Row, Seen, Step, UserState, advance};

/// What damage may be called.
pub(super) const KINDS: [ErrorKind; 3] = [ErrorKind::Corrupt, ErrorKind::Denied, ErrorKind::Unsupported];
/// Said of a user whose row in table `users` redb no longer finds: nothing seals that table as a whole yet.
pub(super) const VANISHED: &str = "a whole user vanished";

/// Asks a damaged store everything.
pub(super) fn probe(
    patient: &Patient,
    image: &RecordingFs,
    files: &[String],
    writes: bool,
    repairs: Option<mended::Bound>,
) -> Check {
    let store = match patient.setting.open(image, 77) {
        Ok(store) => store,
        Err(error) => {
            let may = files.iter().any(|file| Patient::may_refuse(file));
            ensure!(may && is_typed(&error), "does not open: {error:?}");
            return Ok(());
        }
    };
    let whole = ask_all(patient, &store, &patient.model, files)?;
    let clean = match store.doctor() {
        Ok(found) => found.is_clean(),
        // An error is told as well.
        Err(error) => allowed(&error).map(|()| false).say("doctor")?,
    };
    ensure!(whole || !clean, "damage was met, and the doctor found none");
    if let (Some(bound), false) = (repairs, clean) {
        return mended::repair(patient, image, store, files, bound);
    }
    if writes {
        let model = write_all(patient, &store, files)?;
        ask_all(patient, &store, &model, files).map_err(|says| format!("after writes: {says}"))?;
        store.close().or_else(|error| allowed(&error)).say("close")?;
        drop(store);
        let store = patient.setting.open(image, 78).say("reopen after writes")?;
        ask_all(patient, &store, &model, files).map_err(|says| format!("after writes and reopening: {says}"))?;
    }
    Ok(())
}

/// Whether everything was there.
fn ask_all(patient: &Patient, store: &Store, model: &Model, files: &[String]) -> Check<bool> {
    let mut all_whole = true;
    for (user, state) in model.iter() {
        let handle = store.user(user).say("user")?.with_level(Sensitivity::Secret);
        let concerned = files.iter().any(|file| patient.concerns(file, user));
        let asked = Asked { handle, state, now: patient.now };
        let whole = asked.ask().map_err(|says| format!("user {user:?}: {says}"))?;
        all_whole &= whole;
        ensure!(whole || concerned, "user {user:?}: damage of another's file reached it");
    }
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        match store.users(after, 100) {
            Ok(page) => {
                listed.extend(page.users.iter().map(|user| user.as_str().to_owned()));
                after = page.next;
            }
            Err(error) => return allowed(&error).say("users").map(|()| false),
        }
        if after.is_none() {
            break;
        }
    }
    listed.sort_unstable();
    ensure!(listed.iter().eq(model.keys()), "users: {VANISHED}: {listed:?}");
    match store.user_count() {
        Ok(count) => ensure!(count as usize == model.len(), "user_count: {VANISHED}: {count} of {}", model.len()),
        Err(error) => {
            allowed(&error).say("user_count")?;
            all_whole = false;
        }
    }
    Ok(all_whole)
}

/// One user of a damaged store.
struct Asked<'a> {
    handle: User,
    state: &'a UserState,
    now: i64,
}

impl Asked<'_> {
    /// Whether everything is there.
    fn ask(&self) -> Check<bool> {
        if self.has_vanished() {
            return Err(VANISHED.to_owned());
        }
        let listed = self.list()?;
        let recalled = self.recall()?;
        let mut gotten = true;
        let rows = &self.state.rows;
        for (id, row) in rows.iter().take(2).chain(rows.iter().next_back()) {
            gotten &= self.get(*id, row)?;
        }
        Ok(listed && recalled && gotten)
    }

    fn has_vanished(&self) -> bool {
        let hits = self.handle.recall(Plan::everything(vec![0.25; DIMS], self.now).query());
        hits.is_ok_and(|hits| hits.reason() == Some(EmptyReason::NothingStored) && hits.damaged().is_empty())
            && !self.state.rows.is_empty()
    }

    fn list(&self) -> Check<bool> {
        let page = match self.handle.list(ListOptions::new().limit(usize::MAX)) {
            Ok(page) => page,
            Err(error) => return allowed(&error).say("list").map(|()| false),
        };
        for memory in &page.memories {
            self.check_memory("list", memory)?;
        }
        let whole = page.damaged.is_empty();
        let (found, expected) = (page.memories.len(), self.state.rows.len());
        ensure!(!whole || found == expected, "list: {found} of {expected} memories without a word");
        Ok(whole)
    }

    fn recall(&self) -> Check<bool> {
        let plan = Plan::everything(vec![0.25; DIMS], self.now);
        let hits = match self.handle.recall(plan.query()) {
            Ok(hits) => hits,
            // It takes a record that is missing for one that is being written.
            Err(error) if error.kind() == ErrorKind::Busy => return Ok(false),
            Err(error) => return allowed(&error).say("recall").map(|()| false),
        };
        let expected = plan.expected(&self.state.rows);
        let scores: BTreeMap<MemoryId, f64> = expected.iter().copied().collect();
        for hit in &hits[..] {
            self.check_memory("recall", hit.memory())?;
            let score = scores.get(&hit.id());
            ensure!(score == Some(&hit.score()), "recall: score {} should be {score:?}", hit.score());
        }
        let whole = hits.damaged().is_empty();
        ensure!(!whole || hits.len() == expected.len(), "recall: {} of {} without a word", hits.len(), expected.len());
        Ok(whole)
    }

    fn get(&self, id: MemoryId, row: &Row) -> Check<bool> {
        match self.handle.get(id) {
            Ok(memory) => self.check_memory("get", &memory)?,
            Err(error) => return allowed(&error).say("get").map(|()| false),
        }
        match self.handle.history(id) {
            Ok(history) => {
                ensure!(history.len() == row.changes.len(), "history: {} of {}", history.len(), row.changes.len());
            }
            Err(error) => return allowed(&error).say("history").map(|()| false),
        }
        Ok(true)
    }

    fn check_memory(&self, verb: &str, memory: &Memory) -> Check {
        let row = self.state.rows.get(&memory.id());
        let right = row.is_some_and(|row| Seen::from(row) == Seen::from(memory));
        ensure!(right, "{verb}: {} is not what was stored: {:?}", memory.id(), Seen::from(memory));
        Ok(())
    }
}

/// Writes to every user; what was acknowledged has to be there.
fn write_all(patient: &Patient, store: &Store, files: &[String]) -> Check<Model> {
    let mut model = patient.model.clone();
    let mut random = mnemic::world::testing::SplitMix64::new(9);
    let mut next_id = 1 << 50;
    for user in patient.model.keys() {
        let step = crate::work::some_rows(&mut random, user, 1, &mut next_id, patient.now);
        let Step::Remember { user, .. } = &step else { continue };
        if model[user].paused {
            continue;
        }
        match step.call(store) {
            Ok(answer) => advance(&mut model, &step, &answer, patient.now),
            Err(error) => {
                let concerned = files.iter().any(|file| patient.concerns(file, user));
                ensure!(concerned, "user {user:?}: cannot write for damage of another's file: {error:?}");
                allowed(&error).say("remember")?;
            }
        }
    }
    Ok(model)
}

fn is_typed(error: &Error) -> bool {
    KINDS.contains(&error.kind())
}

pub(super) fn allowed(error: &Error) -> mnemic::Result<()> {
    if is_typed(error) { Ok(()) } else { Err(Error::new(error.kind(), error.message())) }
}
