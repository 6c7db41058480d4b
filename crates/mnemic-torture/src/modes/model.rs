//! Random calls against a map and brute force, with closing, power cuts and jumps of the clock.

use mnemic::memory::Timestamp;
use mnemic::world::testing::{CrashChoice, TestWorld};

use crate::check::{Check, Say};
use crate::runner::Case;
use crate::work::{Game, Mix, Setting, Upkeep, check_recall, pick};

/// Calls of one case.
const STEPS: u64 = 60;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let mut setting = Setting::random(&mut case.random);
    setting.every = None;
    let mut game = Game::new(case.seed, setting)?;
    let is_big = case.below(6) == 0;
    if is_big {
        // Enough for blocks that bounds can rule out.
        game.fill("ada", 250 + case.below(600))?;
    }
    let mix = Mix { batch_max: 8, users: 1 + case.below(4) as usize, reopens: true, upkeep: Upkeep::All, round: 0 };
    for number in 0..STEPS {
        step(case, &mut game, mix, is_big).map_err(|says| format!("step {number}: {says}"))?;
        case.pass();
        if case.is_over() {
            return Ok(());
        }
    }
    game.check()
}

fn step(case: &mut Case<'_>, game: &mut Game, mix: Mix, is_big: bool) -> Check {
    match case.below(20) {
        0 => game.now += Timestamp::DAY_MICROS * (case.below(200) as i64 - 60),
        1 if !is_big => cut(case, game)?,
        2..8 => {}
        _ => {
            let mut step = game.next(mix);
            if is_big && step.user() == Some("ada") && matches!(step, crate::work::Step::ForgetUser { .. }) {
                step = crate::work::Step::Flush;
            }
            game.play(&step).map_err(|says| format!("{}: {says}", step.name()))?;
        }
    }
    let mut users: Vec<String> = game.model.keys().cloned().collect();
    users.push("nobody".to_owned());
    let user = pick(&mut case.random, &users).clone();
    check_recall(&mut case.random, &game.store, &game.model, &user, game.now)
}

/// A power cut: everything was acknowledged, so everything is there.
fn cut(case: &mut Case<'_>, game: &mut Game) -> Check {
    let choice = CrashChoice::mix(case.random.next_u64(), 6).nth(case.below(6) as usize).unwrap_or(CrashChoice::None);
    let image = game.fs.crash_image(game.fs.op_count(), choice);
    game.world = TestWorld::with_fs(case.random.next_u64(), image.clone());
    game.world.set_micros(game.now);
    let store = game.setting.builder(&game.world).open().say("after a power cut")?;
    // The old handle's files are gone with the power.
    // It closes into the file system of before, which nobody looks at again.
    drop(std::mem::replace(&mut game.store, store));
    game.fs = image;
    game.check().map_err(|says| format!("after a power cut ({choice:?}): {says}"))
}
