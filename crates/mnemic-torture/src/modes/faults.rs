//! The n-th call to the disk fails: a typed error, a true outcome, a store that opens again.

use mnemic::Store;
use mnemic::world::testing::{FaultKind, RecordingFs, Repeat, TestWorld};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{Expected, Game, Mix, Model, Setting, Step, Told, Upkeep, advance, check_kind, found_of};

/// Failed calls after which a run ends: each doubles what may be true.
const ERRORS_MAX: usize = 4;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    if case.below(2) == 0 {
        full_disk(case)?;
        creation(case)?;
    }
    let script = Script::rehearse(case)?;
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                let met = script.run(n, kind, repeat).map_err(|says| {
                    let steps: Vec<_> = script.steps.iter().map(|(step, _)| step.name()).collect();
                    format!("{kind:?} at call {n}, {repeat:?}, {steps:?}, {:?}: {says}", script.setting)
                })?;
                case.pass();
                if case.is_over() {
                    return Ok(());
                }
                if !met {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// A store that was closed, and calls that work on it.
struct Script {
    base: RecordingFs,
    setting: Setting,
    before: Model,
    steps: Vec<(Step, i64)>,
    seed: u64,
}

impl Script {
    fn rehearse(case: &mut Case<'_>) -> Check<Self> {
        let setting = Setting { every: None, ..Setting::random(&mut case.random) };
        let mut game = Game::new(case.seed, setting)?;
        let mix = Mix { batch_max: 5, users: 2, reopens: false, upkeep: Upkeep::All, round: 0 };
        if case.below(6) == 0 {
            game.fill("ada", 253)?;
        }
        game.play_random(mix, 6)?;
        if game.random.below(2) == 0 {
            game.play(&Step::Snapshot)?;
        }
        game.store.close().say("close")?;
        let (base, before) = (game.fs.snapshot(), game.model.clone());
        let seed = case.random.next_u64();
        game.world = TestWorld::with_fs(seed, game.fs.clone());
        game.store = setting.builder(&game.world).open().say("reopen")?;
        let mut steps = Vec::new();
        for _ in 0..(3 + case.below(4)) {
            let mut step = game.next(mix);
            if matches!(step, Step::Snapshot) {
                // Its id would differ after a fault; those of before are gone back to.
                step = Step::Maintain;
            }
            game.play(&step)?;
            steps.push((step, game.now));
        }
        Ok(Self { base, setting, before, steps, seed })
    }

    /// Whether the fault was met.
    fn run(&self, n: u64, kind: FaultKind, repeat: Repeat) -> Check<bool> {
        let fs = self.base.snapshot();
        fs.fail_at(n, kind, repeat);
        let world = TestWorld::with_fs(self.seed, fs.clone());
        let mut told = Told::new(self.before.clone());
        match self.setting.builder(&world).open() {
            Ok(store) => {
                self.play(&store, &world, &mut told)?;
                drop(store);
            }
            Err(error) => check_kind("open", &error)?,
        }
        let met = fs.faults_met() > 0;
        fs.clear_faults();
        let says = format!("after {:?}: does not open", told.errors);
        let store = self.setting.open(&fs, self.seed ^ 1).say(says)?;
        told.check(&store).map_err(|says| format!("after {:?}: {says}", told.errors))?;
        Ok(met)
    }

    /// Makes the calls; `told` becomes what may be true after them.
    fn play(&self, store: &Store, world: &TestWorld, told: &mut Told) -> Check {
        for (step, now) in &self.steps {
            world.set_micros(*now);
            told.hear(step, &step.call(store), *now)?;
            if told.errors.len() >= ERRORS_MAX {
                break;
            }
        }
        Ok(())
    }
}

/// Creation fails at any call, and can be begun again.
fn creation(case: &mut Case<'_>) -> Check {
    let setting = Setting { every: None, ..Setting::random(&mut case.random) };
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                let fs = RecordingFs::new();
                fs.fail_at(n, kind, repeat);
                let outcome = setting.open(&fs, case.seed);
                let met = fs.faults_met() > 0;
                let says = format!("creation, {kind:?} at call {n}, {repeat:?}");
                match outcome {
                    Ok(store) => drop(store),
                    Err(error) => check_kind(&says, &error)?,
                }
                fs.clear_faults();
                let store = setting.open(&fs, case.seed ^ 1).say(format!("{says}: does not open"))?;
                let found = found_of(&store).map_err(|error| format!("{says}: {error}"))?;
                ensure!(found.is_empty(), "{says}: {} users", found.len());
                case.pass();
                if case.is_over() {
                    return Ok(());
                }
                if !met {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// On a full disk forgetting works.
fn full_disk(case: &mut Case<'_>) -> Check {
    let setting = Setting { reserve_bytes: 4 << 20, ..Setting::durable(1) };
    let mut game = Game::new(case.seed, setting)?;
    let mix = Mix { batch_max: 20, users: 2, reopens: false, upkeep: Upkeep::All, round: 0 };
    game.fill("ada", 20 + case.below(300))?;
    game.fill("bob", 5)?;
    game.play_random(mix, 4)?;
    game.fs.set_capacity(Some(game.fs.used_bytes()));
    let refused = fill_up(&mut game)?;
    ensure!(refused, "the disk was never full");
    for user in ["ada", "bob"] {
        let Some(id) = game.model.get(user).and_then(|state| state.rows.keys().next().copied()) else { continue };
        game.play(&Step::Forget { user: user.to_owned(), id }).map_err(|says| format!("on a full disk: {says}"))?;
    }
    for user in game.model.keys().cloned().collect::<Vec<_>>() {
        game.play(&Step::ForgetUser { user }).map_err(|says| format!("on a full disk: {says}"))?;
    }
    let (fs, world) = (game.fs.clone(), case.random.next_u64());
    drop(game.store);
    let store = setting.open(&fs, world).say("reopen on a full disk")?;
    ensure!(found_of(&store)?.is_empty(), "users are left on a full disk");
    case.pass_many(2);
    Ok(())
}

/// Remembers until there is no room; what was refused is not there.
fn fill_up(game: &mut Game) -> Check<bool> {
    let mut refused = 0;
    for _ in 0..400 {
        let step = crate::work::some_rows(&mut game.random, "ada", 1, &mut game.next_id, game.now);
        match step.call(&game.store) {
            Ok(answer) => advance(&mut game.model, &step, &answer, game.now),
            Err(error) if step.expected(&game.model) == Expected::Refused(error.kind()) => return Ok(true),
            Err(error) => {
                check_kind("remember on a full disk", &error)?;
                ensure!(error.message().contains("not committed"), "remember on a full disk: {error:?}");
                refused += 1;
            }
        }
        if refused > 3 {
            return Ok(true);
        }
    }
    Ok(refused > 0)
}
