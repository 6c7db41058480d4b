//! A real kill -9: everything that the child acknowledged is there.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mnemic::memory::MemoryId;
use mnemic::world::testing::{START_MICROS, SplitMix64};
use mnemic::world::{Clock, SystemFs, SystemProcess, SystemRandom, World};
use mnemic::{Durability, Store};

use crate::check::{Check, Say};
use crate::runner::Case;
use crate::work::{
    Answer, Mix, Model, Step, Upkeep, advance, check_deeply, found_of, generate, settle_ids, show_difference, shown_by,
};

/// Kills of one directory.
const ROUNDS: u64 = 5;
/// Calls after which a child that nobody killed ends.
const STEPS: u64 = 400;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let dir = tempfile::tempdir().say("temporary directory")?;
    let path = dir.path().join("store");
    let mut settled = Model::new();
    for round in 1..=ROUNDS {
        let possible = kill_one(&path, case, round, &settled).map_err(|says| format!("kill {round}: {says}"))?;
        settled = reopened(&path, possible).map_err(|says| format!("after kill {round}: {says}"))?;
        case.pass();
        if case.is_over() {
            break;
        }
    }
    Ok(())
}

/// Starts a child and kills it; the states that may be left.
fn kill_one(path: &Path, case: &mut Case<'_>, round: u64, settled: &Model) -> Check<Vec<Model>> {
    let mut child = start(path, case.seed, round)?;
    let output = child.stdout.take().ok_or("the child has no output")?;
    let acknowledged = case.below(12);
    let spins = case.below(4_000);
    let mut script = Script::new(case.seed, round, settled.clone());
    let mut lines = BufReader::new(output);
    for _ in 0..acknowledged {
        if !script.follow(&mut lines)? {
            break;
        }
    }
    let until = World::system().monotonic_micros() + spins;
    while World::system().monotonic_micros() < until {
        std::hint::spin_loop();
    }
    child.kill().say("kill")?;
    child.wait().say("wait")?;
    while script.follow(&mut lines)? {}
    // The call that was cut off may have been done or not.
    let done = script.model.clone();
    script.advance(&Answer::default());
    Ok(vec![done, script.model])
}

fn start(path: &Path, seed: u64, round: u64) -> Check<Child> {
    let program = std::env::current_exe().say("own path")?;
    Command::new(program)
        .arg("child")
        .arg(path)
        .args([seed.to_string(), round.to_string(), crate::sabotage::current().to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .say("child")
}

/// The store holds one of the states; which one.
fn reopened(path: &Path, possible: Vec<Model>) -> Check<Model> {
    let store = builder(path, &Arc::default()).open().say("does not open")?;
    let found = found_of(&store)?;
    let mut differs = String::new();
    for mut model in possible {
        let shown = shown_by(&model);
        if settle_ids(found.clone(), &shown) == shown {
            check_deeply(&store, &model)?;
            let unknown = model.values().any(|state| state.rows.contains_key(&crate::work::UNKNOWN));
            if unknown {
                // The id that the cut-off correction gave.
                name_unknown(&mut model, &found);
            }
            store.close().say("close")?;
            return Ok(model);
        }
        differs = show_difference(&shown, &found);
    }
    Err(format!("not what was acknowledged: {differs}"))
}

fn name_unknown(model: &mut Model, found: &crate::work::Found) {
    for (user, state) in model.iter_mut() {
        let Some(row) = state.rows.remove(&crate::work::UNKNOWN) else { continue };
        let strange = found.get(user).and_then(|(_, seen)| seen.keys().find(|id| !state.rows.contains_key(id)));
        state.rows.extend(strange.map(|id| (*id, row)));
    }
}

/// What the child does, by the seed: both sides make the same.
struct Script {
    random: SplitMix64,
    mix: Mix,
    model: Model,
    own: Model,
    next_id: u64,
    now: i64,
    step: Step,
}

impl Script {
    fn new(seed: u64, round: u64, model: Model) -> Self {
        let mut random = SplitMix64::new(seed ^ round);
        let mix =
            Mix { batch_max: 40, users: 1 + random.below(4) as usize, reopens: false, upkeep: Upkeep::Tidied, round };
        let now = START_MICROS + round as i64 * 1_000_000_000;
        let mut script = Self { random, mix, model, own: Model::new(), next_id: round << 32, now, step: Step::Flush };
        script.choose();
        script
    }

    fn choose(&mut self) {
        self.now += 1_000_000;
        self.step = generate(&mut self.random, self.mix, &self.own, &mut self.next_id, self.now);
    }

    /// Notes that the step was done, and takes the next one.
    fn advance(&mut self, answer: &Answer) {
        advance(&mut self.own, &self.step, answer, self.now);
        advance(&mut self.model, &self.step, answer, self.now);
        self.choose();
    }

    /// Follows one line of the child's; false at its end.
    fn follow(&mut self, lines: &mut BufReader<ChildStdout>) -> Check<bool> {
        let mut line = String::new();
        lines.read_line(&mut line).say("the child's output")?;
        let Some(line) = line.strip_suffix('\n') else { return Ok(false) };
        let id = line.strip_prefix("done ").ok_or_else(|| format!("the child says: {line}"))?;
        let new_id = id.parse::<MemoryId>().say("the child's id")?;
        self.advance(&Answer { new_id, ..Answer::default() });
        Ok(true)
    }
}

/// The process that is killed: makes the calls of the seed and says of each that it is done.
pub(crate) fn child(path: &Path, seed: u64, round: u64) -> ExitCode {
    let outcome = work(path, seed, round);
    if let Err(says) = outcome {
        println!("{says}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn work(path: &Path, seed: u64, round: u64) -> Check {
    let clock = Arc::<SetClock>::default();
    let store = builder(path, &clock).open().say("child: open")?;
    let mut script = Script::new(seed, round, Model::new());
    for _ in 0..STEPS {
        clock.0.store(script.now, Ordering::Relaxed);
        let outcome = script.step.call(&store);
        script.step.check(&script.own, &outcome)?;
        let answer = outcome.unwrap_or_default();
        println!("done {}", answer.new_id);
        std::io::stdout().flush().say("pipe")?;
        script.advance(&answer);
    }
    Ok(())
}

fn builder(path: &Path, clock: &Arc<SetClock>) -> mnemic::Builder {
    let world = World::new(
        Arc::clone(clock) as Arc<dyn Clock>,
        Arc::new(SystemRandom),
        Arc::new(SystemProcess),
        Arc::new(SystemFs),
    );
    Store::builder(path).world(world).reserve_bytes(0).rewrite_min_bytes(0).durability(Durability::Durable)
}

/// The system's world with a clock that both processes know.
#[derive(Default)]
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now_micros(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn monotonic_micros(&self) -> u64 {
        World::system().monotonic_micros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ensure;

    #[test]
    fn both_sides_make_the_same_calls() -> Check {
        let (mut a, mut b) = (Script::new(5, 1, Model::new()), Script::new(5, 1, Model::new()));
        for _ in 0..50 {
            ensure!(format!("{:?}", a.step) == format!("{:?}", b.step), "differ");
            a.advance(&Answer::default());
            b.advance(&Answer::default());
        }
        Ok(())
    }
}
