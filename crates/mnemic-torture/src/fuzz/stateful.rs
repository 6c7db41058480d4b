//! Calls of the fuzzer's choice on a store whose disk fails when the fuzzer says so, against a plain model.

use mnemic::Store;
use mnemic::memory::{NewMemory, Timestamp};
use mnemic::world::testing::{CrashChoice, FaultKind, RecordingFs, Repeat, START_MICROS, TestWorld};

use crate::check::{Check, Say};
use crate::work::{
    Bytes, DIMS, Dice, Mix, Model, Setting, Step, Told, UNKNOWN, Upkeep, check_kind, check_recall, generate, pick,
};

/// Moves of one input, at most.
const MOVES_MAX: usize = 60;
/// Failed calls after which the store is reopened: each doubles what may be true.
const ERRORS_MAX: usize = 3;
const MIX: Mix = Mix { batch_max: 4, users: 3, reopens: true, upkeep: Upkeep::All, round: 0 };

/// A store in memory, and what is known of it.
struct Run {
    fs: RecordingFs,
    world: TestWorld,
    setting: Setting,
    /// None only while it is opened again.
    store: Option<Store>,
    told: Told,
    /// Whether a fault may be met.
    is_armed: bool,
    /// Whether it may be a sync that fails.
    may_lose: bool,
    /// Whether a sync failed, and the store was opened again: files show what the disk never got.
    shows_more: bool,
    now: i64,
    next_id: u64,
    opened: u64,
}

/// Makes the calls that the input names. Acknowledged is there, refused is not, an unknown outcome is known after a
/// reopening, recall is brute force, and nobody else's memories change.
pub(super) fn against_a_model(input: &[u8]) -> Check {
    let bytes = &mut Bytes(input);
    let mut run = Run::new(bytes)?;
    for number in 0..MOVES_MAX {
        if bytes.is_used_up() {
            break;
        }
        run.one_move(bytes).map_err(|says| format!("move {number}: {says}"))?;
    }
    run.settle()
}

/// Lets a store know its space: `remember_all` may take memories without a vector where the space can't be written.
fn declare(store: &Store) -> mnemic::Result<()> {
    store.user("first")?.remember(NewMemory::note("a vector").vector(vec![1.0; DIMS]))?;
    store.forget_user("first").map(drop)
}

impl Run {
    fn new(bytes: &mut Bytes<'_>) -> Check<Self> {
        let mut setting = Setting::durable(1 + bytes.below(2) as u32);
        setting.cache_bytes = if bytes.below(4) == 0 { 0 } else { setting.cache_bytes };
        let (fs, told) = (RecordingFs::new(), Told::new(Model::new()));
        let world = TestWorld::with_fs(1, fs.clone());
        let store = setting.builder(&world).open().say("creation")?;
        declare(&store).say("the first vector")?;
        Ok(Self {
            fs,
            world,
            setting,
            store: Some(store),
            told,
            is_armed: false,
            may_lose: false,
            shows_more: false,
            now: START_MICROS,
            next_id: 0,
            opened: 1,
        })
    }

    fn store(&self) -> Check<&Store> {
        self.store.as_ref().ok_or_else(|| "the store does not open".to_owned())
    }

    fn one_move(&mut self, bytes: &mut Bytes<'_>) -> Check {
        self.now += 1_000_000;
        self.world.set_micros(self.now);
        match bytes.below(24) {
            0..3 => {
                let (kind, forever) = (*pick(bytes, &FaultKind::ALL), bytes.below(3) == 0);
                let repeat = if forever { Repeat::Forever } else { Repeat::Once };
                self.fs.fail_at(bytes.below(48), kind, repeat);
                self.may_lose |= matches!(kind, FaultKind::Eio | FaultKind::FailedSync);
                self.is_armed = true;
                Ok(())
            }
            3 => self.settle(),
            4 => self.power_cut(bytes),
            5 => {
                self.now += Timestamp::DAY_MICROS * (bytes.below(200) as i64 - 60);
                Ok(())
            }
            6..9 => self.recall(bytes),
            _ => self.call(bytes),
        }
    }

    fn call(&mut self, bytes: &mut Bytes<'_>) -> Check {
        let mut step = generate(bytes, MIX, &self.told.possible[0], &mut self.next_id, self.now);
        if self.is_armed && matches!(step, Step::Snapshot) {
            // What it holds would not be known.
            step = Step::Maintain;
        }
        if matches!(step, Step::Reopen) {
            return self.reopen();
        }
        let outcome = step.call(self.store()?);
        if !self.is_armed {
            step.check(&self.told.possible[0], &outcome)?;
        }
        let errors = self.told.errors.len();
        self.told.hear(&step, &outcome, self.now).map_err(|says| format!("{}: {says}", step.name()))?;
        let failed = self.told.errors.len() > errors;
        if failed && matches!(step, Step::Forget { .. } | Step::ForgetUser { .. }) {
            // The copies of what was to be forgotten may be gone already.
            self.told.possible.iter_mut().for_each(|model| model.snapshots.clear());
        }
        // A correction makes an id, and an unknown outcome leaves one unknown.
        let is_nameless = failed && matches!(step, Step::Correct { .. });
        if is_nameless || self.told.errors.len() >= ERRORS_MAX { self.settle() } else { Ok(()) }
    }

    /// Closes the store as it should be closed. On a failing disk that may fail, and loses nothing.
    fn reopen(&mut self) -> Check {
        if let Err(error) = self.store()?.close() {
            check_kind("close", &error)?;
        }
        self.settle()
    }

    /// The power goes; what was not synced may be gone with it.
    fn power_cut(&mut self, bytes: &mut Bytes<'_>) -> Check {
        if self.shows_more {
            // No store can tell what a failed sync lost from what is on the disk, so it is not promised.
            return self.settle();
        }
        let choices = CrashChoice::mix(bytes.below(256), 6);
        let choice = choices.take(6).nth(bytes.below(6) as usize).unwrap_or(CrashChoice::None);
        self.fs = self.fs.crash_image(self.fs.op_count(), choice);
        self.may_lose = false;
        self.settle().map_err(|says| format!("after a power cut ({choice:?}): {says}"))
    }

    /// Mends the disk, opens the store again and learns from it what was unknown.
    fn settle(&mut self) -> Check {
        self.shows_more |= self.may_lose && self.fs.faults_met() > 0;
        self.fs.clear_faults();
        (self.is_armed, self.may_lose) = (false, false);
        self.opened += 1;
        self.world = TestWorld::with_fs(self.opened, self.fs.clone());
        self.world.set_micros(self.now);
        // The lock of the old handle has to go before the new one opens.
        self.store = None;
        let errors = std::mem::take(&mut self.told.errors);
        let store = self.setting.builder(&self.world).open().say(format!("after {errors:?}: does not open"))?;
        self.store = Some(store);
        let model = self.told.check(self.store()?).map_err(|says| format!("after {errors:?}: {says}"))?.clone();
        self.told = Told::new(self.named(model)?);
        Ok(())
    }

    /// The model with the id of a correction that did not tell it.
    fn named(&self, mut model: Model) -> Check<Model> {
        for (user, state) in &mut model.users {
            let Some(row) = state.rows.remove(&UNKNOWN) else { continue };
            let found = crate::work::found_of(self.store()?)?;
            let ids = found.get(user).into_iter().flat_map(|(_, rows)| rows.keys());
            let id = ids.copied().find(|id| !state.rows.contains_key(id)).unwrap_or(UNKNOWN);
            state.rows.values_mut().filter(|row| row.by == Some(UNKNOWN)).for_each(|row| row.by = Some(id));
            state.rows.insert(id, row);
        }
        Ok(model)
    }

    fn recall(&mut self, bytes: &mut Bytes<'_>) -> Check {
        if self.is_armed || !self.told.errors.is_empty() {
            return Ok(());
        }
        let model = &self.told.possible[0];
        let mut users: Vec<&str> = model.keys().map(String::as_str).collect();
        users.push("nobody");
        let user = *pick(bytes, &users);
        check_recall(bytes, self.store()?, model, user, self.now)
    }
}
