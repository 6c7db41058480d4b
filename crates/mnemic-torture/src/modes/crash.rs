//! A power cut at each operation: what was acknowledged is there, nothing is half there.

use mnemic::Store;
use mnemic::memory::MemoryId;
use mnemic::world::testing::{CrashChoice, RecordingFs, START_MICROS, SplitMix64};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{
    Expected, Found, Game, Mix, Model, Setting, Step, Upkeep, check_deeply, found_of, show_difference, shown_by,
};

/// Images of an operation in a small store.
const IMAGES: usize = 5;
/// The doctor looks at one image of so many.
const DOCTOR_EVERY: u64 = 16;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let run = Recorded::play(case)?;
    let ops = run.fs.op_count();
    for op in 0..=ops {
        let images = if run.is_big {
            // The blocks are what is new here; creation and filling are left to small stores.
            if op < run.begun[1] || case.below(3) > 0 { 0 } else { 3 }
        } else {
            IMAGES
        };
        for choice in CrashChoice::mix(case.random.next_u64(), images) {
            run.check_image(op, choice, case.seed)?;
            case.pass();
            if case.is_over() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The states after each step, and the operations between which it ran.
pub(crate) struct Recorded {
    pub(crate) fs: RecordingFs,
    pub(crate) setting: Setting,
    pub(crate) is_big: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) states: Vec<Model>,
    shown: Vec<Found>,
    pub(crate) begun: Vec<usize>,
    acknowledged: Vec<usize>,
}

impl Recorded {
    /// Plays some steps on a new store.
    pub(crate) fn play(case: &mut Case<'_>) -> Check<Self> {
        let mut setting = Setting::random(&mut case.random);
        if case.below(3) == 0 {
            setting.every = Some(2 + case.below(4) as u32);
        }
        if setting.every.is_some() {
            // What relaxed commits lose is a prefix of each shard, not of all.
            setting.shards = 1;
        }
        let is_big = case.below(5) == 0;
        let mut game = Game::new(case.seed, setting)?;
        let mut run = Self {
            fs: game.fs.clone(),
            setting,
            is_big,
            steps: vec![Step::Flush],
            states: vec![Model::new()],
            shown: Vec::new(),
            begun: vec![0],
            acknowledged: vec![game.fs.op_count()],
        };
        if is_big {
            let filled = 236 + case.below(20);
            game.fill("ada", filled)?;
            game.store.flush().say("flush")?;
            (run.states[0], run.acknowledged[0]) = (game.model.clone(), game.fs.op_count());
        }
        let mix = Mix {
            batch_max: if is_big { 30 } else { 6 },
            users: 1 + case.below(3) as usize,
            reopens: true,
            upkeep: Upkeep::All,
            round: 0,
        };
        for _ in 0..(6 + case.below(8)) {
            let step = game.next(mix);
            run.begun.push(game.fs.op_count());
            game.play(&step).map_err(|says| format!("step {}: {says}", run.steps.len()))?;
            run.acknowledged.push(game.fs.op_count());
            run.states.push(game.model.clone());
            run.steps.push(step);
        }
        run.shown = run.states.iter().map(shown_by).collect();
        // What a clean close writes belongs to no step.
        std::mem::forget(game.store);
        Ok(run)
    }

    /// The first and the last step after which the state may be that of a cut at `op`.
    pub(crate) fn bounds(&self, op: usize) -> (usize, usize) {
        let mut least = self.acknowledged.iter().rposition(|end| *end <= op).unwrap_or(0);
        let most = self.begun.iter().rposition(|begin| *begin < op).unwrap_or(0);
        // A step that changes nothing on disk begins and ends at one operation.
        let most = most.max(least);
        let mut may_lose = self.setting.every.map_or(0, |every| every - 1);
        while least > 0 {
            // A call that was refused wrote nothing: nothing to lose, and nothing that carries others to the disk.
            let wrote = self.steps[least].expected(&self.states[least - 1]) == Expected::Done;
            let wrote_for_sure = wrote && !self.steps[least].may_write_nothing();
            if wrote && self.steps[least].is_durable() || wrote_for_sure && may_lose == 0 {
                break;
            }
            may_lose -= u32::from(wrote_for_sure);
            least -= 1;
        }
        (least, most)
    }

    /// The states that a cut at `op` may leave.
    pub(crate) fn possible(&self, op: usize) -> Vec<(&Found, &Model)> {
        let (least, most) = self.bounds(op);
        (least..=most).map(|k| (&self.shown[k], &self.states[k])).collect()
    }

    /// A relaxed store may lose the newest commits of others while a user whose keys died stays forgotten.
    fn forgotten_alone(&self, op: usize, found: &Found) -> bool {
        let (least, most) = self.bounds(op);
        let Step::ForgetUser { user } = &self.steps[most] else { return false };
        self.setting.every.is_some()
            && (least..most).any(|k| {
                let mut without = self.shown[k].clone();
                without.remove(user);
                without == *found
            })
    }

    fn check_image(&self, op: usize, choice: CrashChoice, seed: u64) -> Check {
        let image = self.fs.crash_image(op, choice);
        self.check_one(&image, op, seed).map_err(|says| {
            let (least, most) = self.bounds(op);
            let steps: Vec<_> = (least..=most).map(|k| format!("{k} {}", self.steps[k].name())).collect();
            format!(
                "cut at op {op} of {} ({choice:?}), steps {steps:?}, {:?}: {says}",
                self.fs.op_count(),
                self.setting
            )
        })
    }

    /// Snapshots that were acknowledged are there, and none that was not begun.
    fn check_snapshots(&self, store: &Store, op: usize) -> Check {
        let (there, (least, most)) = (listed(store)?, self.bounds(op));
        let ids = |k: usize| self.states[k].snapshots.iter().map(|copied| copied.id);
        ensure!(ids(least).all(|id| there.contains(&id)), "a snapshot is gone");
        ensure!(there.iter().all(|id| ids(most).any(|begun| begun == *id)), "a snapshot that nobody took");
        Ok(())
    }

    fn check_one(&self, image: &RecordingFs, op: usize, seed: u64) -> Check {
        let store = self.setting.open(image, seed ^ 0x5eed).say("does not open")?;
        let mut found = found_of(&store)?;
        let possible = self.possible(op);
        match possible.iter().rev().find(|(shown, _)| **shown == found) {
            Some((_, model)) => {
                check_deeply(&store, model)?;
                self.check_snapshots(&store, op)?;
                // Dear, and the same at most operations.
                if op.is_multiple_of(4) {
                    found = check_undo(&store, model, found)?;
                }
            }
            None => ensure!(
                self.forgotten_alone(op, &found),
                "not the state after any of them: {}",
                possible.first().map(|(shown, _)| show_difference(shown, &found)).unwrap_or_default()
            ),
        }
        check_by_doctor(&store, seed ^ op as u64)?;
        check_second_open(store, self.setting, image, seed, &found)
    }
}

/// What was recovered is whole, value by value; of one image in sixteen, for it is dear.
pub(crate) fn check_by_doctor(store: &Store, seed: u64) -> Check {
    if SplitMix64::new(seed).below(DOCTOR_EVERY) > 0 {
        return Ok(());
    }
    let mut damaged = store.doctor().say("doctor")?.damaged;
    // One of the two copies of a header may be torn: that is what there are two for. The next close writes both.
    let torn = |what: &str| what.starts_with("copy ") && what.ends_with(" of the header is damaged");
    if damaged.iter().filter(|damage| torn(&damage.what)).count() == 1 {
        damaged.retain(|damage| !torn(&damage.what));
    }
    ensure!(damaged.is_empty(), "the doctor found {damaged:?}");
    Ok(())
}

/// Going back to the newest snapshot that is there does with a user what the model says.
pub(crate) fn check_undo(store: &Store, model: &Model, found: Found) -> Check<Found> {
    let there = listed(store)?;
    let Some(copied) = model.snapshots.iter().rev().find(|copied| there.contains(&copied.id)) else { return Ok(found) };
    let Some(user) = copied.users.keys().find(|user| model.contains_key(*user)) else { return Ok(found) };
    let step = Step::Restore { user: user.clone(), snapshot: copied.id };
    let outcome = step.call(store);
    step.check(model, &outcome).map_err(|says| format!("going back: {says}"))?;
    let mut model = model.clone();
    crate::work::advance(&mut model, &step, &outcome.unwrap_or_default(), START_MICROS);
    let (expected, found) = (shown_by(&model), found_of(store)?);
    ensure!(found == expected, "gone back: {}", show_difference(&expected, &found));
    Ok(found)
}

/// The snapshots that are there, none of them damaged.
pub(crate) fn listed(store: &Store) -> Check<Vec<MemoryId>> {
    let all = store.snapshots().say("snapshots")?;
    ensure!(all.iter().all(|one| one.damaged.is_empty()), "a snapshot is damaged: {all:?}");
    Ok(all.iter().map(|one| MemoryId::from_bytes(*one.id.as_bytes())).collect())
}

/// Closing and opening again changes nothing.
pub(crate) fn check_second_open(store: Store, setting: Setting, fs: &RecordingFs, seed: u64, found: &Found) -> Check {
    store.close().say("close")?;
    drop(store);
    let store = setting.open(fs, SplitMix64::new(seed).next_u64()).say("second open")?;
    let again = found_of(&store).map_err(|says| format!("second open: {says}"))?;
    ensure!(again == *found, "a second open changed something: {}", show_difference(found, &again));
    Ok(())
}
