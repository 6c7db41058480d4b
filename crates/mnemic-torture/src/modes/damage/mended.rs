//! What a repair leaves: everything that is there is right, or was named.

use std::collections::{BTreeMap, BTreeSet};

use mnemic::memory::{Memory, MemoryId, Sensitivity};
use mnemic::world::testing::RecordingFs;
use mnemic::{Damage, ListOptions, Store, User};

use super::Patient;
use super::probe::allowed;
use crate::check::{Check, Say, ensure};
use crate::work::Plan;
use crate::work::{DIMS, Seen, UserState};

/// Repairs of one store, at most.
const ROUNDS: u64 = 3;

/// How many memories a repair may lose or bring back older, where that is known.
pub(super) struct Bound(pub(super) Option<usize>);

/// Repairs until the doctor is content, which takes a second time where snapshots are concerned. Then all that is there
/// is right, and nothing more is damaged; what is older or gone was named, memory by memory.
pub(super) fn repair(
    patient: &Patient,
    image: &RecordingFs,
    mut store: Store,
    files: &[String],
    Bound(most): Bound,
) -> Check {
    let mut told = Told::default();
    for round in 0..ROUNDS {
        match store.repair() {
            Ok(done) => told.hear(patient, &done),
            // A handle that has met damage may refuse; one that is opened anew does not.
            Err(error) => allowed(&error).say("repair")?,
        }
        drop(store);
        store = patient.setting.open(image, 80 + round).say("open after a repair")?;
        if store.doctor().say("doctor after a repair")?.is_clean() {
            break;
        }
    }
    let found = store.doctor().say("doctor after a repair")?;
    ensure!(found.is_clean(), "after a repair: {:?}", found.damaged);
    let again = store.repair().say("second repair")?;
    ensure!(again.is_unchanged(), "a second repair did something: {again:?}");
    // Keys that are older than what they should open: whom they don't open is named by no more than a hash.
    let has_keys = !files.iter().any(|file| file == "KEYRING" || file == "MASTERKEY");
    let mut changed = 0;
    for (user, state) in patient.model.iter() {
        let handle = store.user(user).say("user")?.with_level(Sensitivity::Secret);
        let one = Mended { patient, told: &told, handle, user, state };
        changed += one.check(has_keys).map_err(|says| format!("user {user:?}, after a repair: {says}"))?;
    }
    let few = most.is_none_or(|most| changed <= most);
    ensure!(few, "{changed} memories are older or gone after a repair, {most:?} were hurt");
    Ok(())
}

/// What repairs said.
#[derive(Default)]
struct Told {
    memories: BTreeSet<(String, MemoryId)>,
    /// Memories of users of whom no more than a hash is known.
    strangers: BTreeSet<MemoryId>,
    /// Users of whom anything may be older.
    users: BTreeSet<String>,
    /// Users of whom memories are gone that nothing names any more.
    nameless: BTreeSet<String>,
    /// A whole file, or a user by a hash alone.
    is_wide: bool,
}

impl Told {
    fn hear(&mut self, patient: &Patient, done: &mnemic::Repaired) {
        for damage in done.older.iter().chain(&done.lost) {
            match damage {
                Damage { user: Some(user), memory: Some(id), .. } => {
                    self.memories.insert((user.clone(), *id));
                    if !patient.model.contains_key(user) {
                        self.strangers.insert(*id);
                    }
                }
                Damage { user: Some(user), part: "users", what, .. } if what.contains("anything") => {
                    self.users.insert(user.clone());
                    self.is_wide |= !patient.model.contains_key(user);
                }
                Damage { user: Some(user), part: "records", .. } if patient.model.contains_key(user) => {
                    self.nameless.insert(user.clone());
                }
                Damage { user: Some(user), .. } if patient.model.contains_key(user) => {}
                _ => self.is_wide = true,
            }
        }
    }
}

/// A user of a repaired store.
struct Mended<'a> {
    patient: &'a Patient,
    told: &'a Told,
    handle: User,
    user: &'a str,
    state: &'a UserState,
}

impl Mended<'_> {
    /// How many memories are not what they were.
    fn check(&self, has_keys: bool) -> Check<usize> {
        let page = self.handle.list(ListOptions::new().limit(usize::MAX)).say("list")?;
        ensure!(page.damaged.is_empty(), "{:?}", page.damaged);
        let mut changed = 0;
        for memory in &page.memories {
            changed += usize::from(self.check_memory(memory)?);
        }
        let there: BTreeSet<MemoryId> = page.memories.iter().map(Memory::id).collect();
        let gone: Vec<MemoryId> = self.state.rows.keys().filter(|id| !there.contains(id)).copied().collect();
        let is_nameless = !has_keys || self.told.is_wide || self.told.nameless.contains(self.user);
        let silent = gone.iter().find(|id| !is_nameless && !self.is_named(**id));
        ensure!(silent.is_none(), "{silent:?} was lost without a word");
        self.check_scores()?;
        Ok(changed + gone.len())
    }

    fn is_named(&self, id: MemoryId) -> bool {
        let told = self.told;
        told.memories.contains(&(self.user.to_owned(), id))
            || told.strangers.contains(&id)
            || told.users.contains(self.user)
    }

    /// Whether it is another than it was, but for its vector.
    fn check_memory(&self, memory: &Memory) -> Check<bool> {
        let id = memory.id();
        let Some(row) = self.state.rows.get(&id) else { return Err(format!("{id} came back")) };
        let (was, is) = (Seen::from(row), Seen::from(memory));
        let named = was == is || self.told.is_wide || self.is_named(id);
        ensure!(named, "{id} is another without a word: {is:?}, not {was:?}");
        Ok(was.whatever_its_vector() != is.whatever_its_vector())
    }

    /// A vector that is not the newest shows in the score.
    fn check_scores(&self) -> Check {
        let plan = Plan::everything(vec![0.25; DIMS], self.patient.now);
        let hits = self.handle.recall(plan.query()).say("recall")?;
        let scores: BTreeMap<MemoryId, f64> = plan.expected(&self.state.rows).iter().copied().collect();
        let is_right = |id: MemoryId, score: f64| scores.get(&id) == Some(&score) || self.is_named(id);
        let wrong = hits[..].iter().find(|hit| !self.told.is_wide && !is_right(hit.id(), hit.score()));
        ensure!(wrong.is_none(), "{:?} has another score without a word", wrong.map(mnemic::Hit::id));
        Ok(())
    }
}
