//! A power cut while recovering from a power cut, or in what follows the recovery.

use mnemic::world::testing::{CrashChoice, RecordingFs, SplitMix64, TestWorld};

use super::crash::{Recorded, check_by_doctor, check_second_open, check_undo, listed};
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{
    Found, Mix, Model, Step, Upkeep, advance, check_deeply, found_of, generate, show_difference, shown_by,
};

/// First cuts of one run.
const FIRST_CUTS: usize = 12;
/// Second cuts of each of them.
const SECOND_CUTS: usize = 8;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let run = Recorded::play(case)?;
    let mut ops: Vec<usize> =
        (0..FIRST_CUTS).map(|_| case.random.below(run.fs.op_count() as u64 + 1) as usize).collect();
    if run.is_big {
        ops.retain(|op| *op >= run.begun[1]);
    }
    ops.sort_unstable();
    for op in ops {
        let choice = CrashChoice::mix(case.random.next_u64(), 6).nth(case.random.below(6) as usize);
        let image = run.fs.crash_image(op, choice.unwrap_or(CrashChoice::All));
        let says = |says| format!("first cut at op {op} ({choice:?}), {:?}: {says}", run.setting);
        let second = Second::play(&run, image, op, &mut case.random).map_err(says)?;
        for _ in 0..SECOND_CUTS {
            second.cut(&run, &mut case.random).map_err(says)?;
            case.pass();
            if case.is_over() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A recovery with one call after it.
struct Second {
    fs: RecordingFs,
    opened: usize,
    acknowledged: usize,
    step: Step,
    /// States that are possible before the store was seen to be open.
    before: Vec<(Found, Model)>,
    after_open: (Found, Model),
    after_step: (Found, Model),
}

impl Second {
    fn play(run: &Recorded, fs: RecordingFs, op: usize, random: &mut SplitMix64) -> Check<Self> {
        let world = TestWorld::with_fs(random.next_u64(), fs.clone());
        let store = run.setting.builder(&world).open().say("first recovery")?;
        let opened = fs.op_count();
        let found = found_of(&store)?;
        let possible = run.possible(op);
        let Some((_, model)) = possible.iter().rev().find(|(shown, _)| **shown == found) else {
            ensure!(run.setting.every.is_some(), "first recovery: not a state that was");
            // Only a relaxed store may show what no prefix shows; the rest of this test needs a prefix.
            return Ok(Self::still(fs, &found));
        };
        let mut model = (*model).clone();
        // The one that was under way when the power went may be there or not.
        let there = listed(&store)?;
        model.snapshots.retain(|copied| there.contains(&copied.id));
        let after_open = (found, model.clone());
        let step = choose(random, &model);
        let now = 1_900_000_000_000_000;
        world.set_micros(now);
        let outcome = step.call(&store);
        step.check(&model, &outcome).map_err(|says| format!("after the recovery: {says}"))?;
        advance(&mut model, &step, &outcome.unwrap_or_default(), now);
        let acknowledged = fs.op_count();
        std::mem::forget(store);
        let before = possible.iter().map(|(shown, model)| ((*shown).clone(), (*model).clone())).collect();
        Ok(Self { fs, opened, acknowledged, step, before, after_open, after_step: (shown_by(&model), model) })
    }

    fn still(fs: RecordingFs, found: &Found) -> Self {
        let state = (found.clone(), Model::new());
        let opened = fs.op_count();
        Self {
            fs,
            opened,
            acknowledged: usize::MAX,
            step: Step::Flush,
            before: Vec::new(),
            after_open: state.clone(),
            after_step: state,
        }
    }

    fn cut(&self, run: &Recorded, random: &mut SplitMix64) -> Check {
        if self.before.is_empty() {
            return Ok(());
        }
        let at = random.below(self.fs.op_count() as u64 + 1) as usize;
        let choice = CrashChoice::mix(random.next_u64(), 6).nth(random.below(6) as usize).unwrap_or(CrashChoice::None);
        let image = self.fs.crash_image(at, choice);
        let mut possible: Vec<&(Found, Model)> = Vec::new();
        if at < self.opened {
            possible.extend(&self.before);
        }
        // A relaxed commit is acknowledged before it is durable.
        if at < self.acknowledged || (run.setting.every.is_some() && !self.step.is_durable()) {
            possible.push(&self.after_open);
        }
        if at >= self.opened {
            possible.push(&self.after_step);
        }
        let says = |says: String| {
            let (ops, step) = (self.fs.op_count(), self.step.name());
            format!("second cut at op {at} of {ops} ({choice:?}), opened at {}, in {step}: {says}", self.opened)
        };
        let seed = random.next_u64();
        check(run, &image, &possible, seed).map_err(says)
    }
}

fn check(run: &Recorded, image: &RecordingFs, possible: &[&(Found, Model)], seed: u64) -> Check {
    let store = run.setting.open(image, seed).say("does not open")?;
    let found = found_of(&store)?;
    let Some((_, model)) = possible.iter().rev().find(|(shown, _)| *shown == found) else {
        let first = possible.first().map(|(shown, _)| show_difference(shown, &found)).unwrap_or_default();
        return Err(format!("not a state that was: {first}"));
    };
    check_deeply(&store, model)?;
    let found = check_undo(&store, model, found)?;
    check_by_doctor(&store, seed)?;
    check_second_open(store, run.setting, image, seed, &found)
}

/// A forgetting where there is something to forget.
fn choose(random: &mut SplitMix64, model: &Model) -> Step {
    let mix = Mix { batch_max: 5, users: 3, reopens: false, upkeep: Upkeep::All, round: 0 };
    let mut next_id = 1 << 40;
    for _ in 0..20 {
        let step = generate(random, mix, model, &mut next_id, 1_900_000_000_000_000);
        let often = matches!(step, Step::Forget { .. } | Step::ForgetUser { .. } | Step::Snapshot | Step::Maintain);
        if often || random.below(6) == 0 {
            return step;
        }
    }
    Step::Flush
}
