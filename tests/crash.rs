//! A power cut at every operation of the write path: what was acknowledged is there, nothing is half there.

mod support;

use mnemic::memory::StatusKind;
use mnemic::world::testing::{CrashChoice, RecordingFs, SplitMix64};
use mnemic::{Correction, Durability, Query, Store, Update};
use support::{Seen, State, builder, id, note, state_of, vector, world_over};

/// One verb with what it does to the model.
type Step = (&'static str, Box<dyn Fn(&Store, &mut SplitMix64)>, Box<dyn Fn(&mut State)>);

fn seen(text: &str) -> Seen {
    Seen { text: text.into(), status: StatusKind::Active, version: 1 }
}

fn put(user: &'static str, number: u64, text: &'static str) -> Step {
    let act = move |store: &Store, random: &mut SplitMix64| {
        store.user(user).unwrap().remember(note(number, text, vector(random))).unwrap();
    };
    let model = move |state: &mut State| {
        state.entry(user.into()).or_default().insert(id(number), seen(text));
    };
    ("remember", Box::new(act), Box::new(model))
}

fn put_many(user: &'static str, first: u64, count: u64) -> Step {
    let act = move |store: &Store, random: &mut SplitMix64| {
        let all: Vec<_> = (first..first + count).map(|n| note(n, "one of many", vector(random))).collect();
        assert!(store.user(user).unwrap().remember_all(all).unwrap().iter().all(Result::is_ok));
    };
    let model = move |state: &mut State| {
        let all = (first..first + count).map(|n| (id(n), seen("one of many")));
        state.entry(user.into()).or_default().extend(all);
    };
    ("remember_all", Box::new(act), Box::new(model))
}

fn update(user: &'static str, number: u64, text: &'static str) -> Step {
    let act = move |store: &Store, random: &mut SplitMix64| {
        store.user(user).unwrap().update(id(number), Update::new().text(text).vector(vector(random))).unwrap();
    };
    let model = move |state: &mut State| {
        let memory = state.get_mut(user).unwrap().get_mut(&id(number)).unwrap();
        memory.text = text.into();
        memory.version += 1;
    };
    ("update", Box::new(act), Box::new(model))
}

fn forget(user: &'static str, number: u64) -> Step {
    let act = move |store: &Store, _: &mut SplitMix64| _ = store.user(user).unwrap().forget(id(number)).unwrap();
    let model = move |state: &mut State| _ = state.get_mut(user).unwrap().remove(&id(number));
    ("forget", Box::new(act), Box::new(model))
}

fn forget_user(user: &'static str) -> Step {
    let act = move |store: &Store, _: &mut SplitMix64| _ = store.forget_user(user).unwrap();
    let model = move |state: &mut State| _ = state.remove(user);
    ("forget_user", Box::new(act), Box::new(model))
}

fn steps() -> Vec<Step> {
    vec![
        put("ada", 1, "first"),
        put("bob", 2, "of bob"),
        put_many("ada", 10, 5),
        update("ada", 11, "changed"),
        forget("ada", 12),
        put("ada", 3, "after a forgetting"),
        forget_user("bob"),
        put("bob", 4, "bob is back"),
        forget("ada", 1),
        forget_user("ada"),
        put("cyd", 5, "third user"),
    ]
}

/// The states after each step, and the operations between which it ran.
struct Run {
    fs: RecordingFs,
    states: Vec<State>,
    begun: Vec<usize>,
    acknowledged: Vec<usize>,
}

fn run(seed: u64) -> Run {
    let fs = RecordingFs::new();
    let world = world_over(&fs, seed);
    let mut random = SplitMix64::new(seed);
    let store = builder(&world).open().unwrap();
    let (mut states, mut begun, mut acknowledged) = (vec![State::new()], vec![0], vec![fs.op_count()]);
    for (_, act, model) in steps() {
        begun.push(fs.op_count());
        act(&store, &mut random);
        acknowledged.push(fs.op_count());
        let mut state = states.last().unwrap().clone();
        model(&mut state);
        states.push(state);
    }
    // What a clean close writes belongs to no step.
    std::mem::forget(store);
    Run { fs, states, begun, acknowledged }
}

fn check_image(run: &Run, op: usize, choice: CrashChoice, seed: u64) {
    let image = run.fs.crash_image(op, choice);
    let world = world_over(&image, seed ^ 0x5eed);
    let what = format!("op {op}, {choice:?}, seed {seed}");
    let store = builder(&world).open().unwrap_or_else(|error| panic!("{what}: does not open: {error:?}"));
    let found = state_of(&store).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let least = run.acknowledged.iter().rposition(|end| *end <= op).unwrap_or(0);
    let most = run.begun.iter().rposition(|begin| *begin < op).unwrap_or(0);
    let fits = (least..=most).any(|k| run.states[k] == found);
    assert!(fits, "{what}: not the state after any of steps {least}..={most}: {found:#?}");
    check_index(&store, &found, &what);
    store.close().unwrap();
    let again = builder(&world).open().unwrap();
    assert_eq!(state_of(&again).unwrap(), found, "{what}: a second open changed something");
}

/// The index finds what the records hold.
fn check_index(store: &Store, state: &State, what: &str) {
    for (user, memories) in state {
        let query = Query::vector(vec![1.0; support::DIMS]).limit(usize::MAX);
        let hits = store.user(user).unwrap().recall(&query).unwrap();
        assert_eq!(hits.len(), memories.len(), "{what}: index of {user}");
        assert!(hits.iter().all(|hit| hit.verify() && memories.contains_key(&hit.id())), "{what}");
    }
}

#[test]
fn every_acknowledged_write_survives_a_power_cut_at_every_operation() {
    let seed = 7;
    let run = run(seed);
    let mut images = 0;
    for op in 0..=run.fs.op_count() {
        for choice in CrashChoice::mix(op as u64 ^ seed, 5) {
            check_image(&run, op, choice, seed);
            images += 1;
        }
    }
    println!("{images} images of {} operations", run.fs.op_count());
    assert!(images > 1000);
}

#[test]
fn a_power_cut_while_recovering_from_a_power_cut_loses_nothing() {
    let seed = 11;
    let run = run(seed);
    let mut random = SplitMix64::new(seed);
    for _ in 0..60 {
        let op = random.below(run.fs.op_count() as u64 + 1) as usize;
        let first = run.fs.crash_image(op, CrashChoice::mix(random.next_u64(), 5).last().unwrap());
        let world = world_over(&first, seed);
        let before = first.op_count();
        std::mem::forget(builder(&world).open().unwrap());
        for _ in 0..4 {
            let at = before + random.below((first.op_count() - before) as u64 + 1) as usize;
            let image = first.crash_image(at, CrashChoice::mix(random.next_u64(), 5).nth(3).unwrap());
            let nested = Run { fs: image.clone(), states: run.states.clone(), begun: vec![], acknowledged: vec![] };
            let store = builder(&world_over(&nested.fs, seed)).open().unwrap();
            let found = state_of(&store).unwrap();
            let least = run.acknowledged.iter().rposition(|end| *end <= op).unwrap_or(0);
            let most = run.begun.iter().rposition(|begin| *begin < op).unwrap_or(0);
            assert!((least..=most).any(|k| run.states[k] == found), "op {op}, then {at}: {found:#?}");
        }
    }
}

#[test]
fn a_correction_is_whole_or_absent_after_a_power_cut() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(3);
    let store = builder(&world_over(&fs, 3)).open().unwrap();
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "Lives in Paris", vector(&mut random))).unwrap();
    let before = fs.op_count();
    let new = ada.correct(id(1), Correction::new("Lives in Rome").vector(vector(&mut random))).unwrap();
    for op in before..=fs.op_count() {
        for choice in CrashChoice::mix(op as u64, 5) {
            let store = builder(&world_over(&fs.crash_image(op, choice), 4)).open().unwrap();
            let ada = store.user("ada").unwrap();
            let old = ada.get(id(1)).unwrap().status().kind();
            let corrected = ada.get(new).is_ok();
            assert_eq!(old == StatusKind::Superseded, corrected, "op {op} {choice:?}");
            assert!(corrected || op < fs.op_count());
        }
    }
}

#[test]
fn a_block_that_closes_or_is_sealed_again_survives_a_power_cut() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(5);
    let store = builder(&world_over(&fs, 5)).open().unwrap();
    let (mut state, mut states, mut ends) = (State::new(), Vec::new(), Vec::new());
    let steps = [
        put_many("ada", 0, 250),
        put_many("ada", 250, 20),
        forget("ada", 7),
        update("ada", 9, "overlaid"),
        forget("ada", 9),
    ];
    for (_, act, model) in steps {
        ends.push(fs.op_count());
        states.push(state.clone());
        act(&store, &mut random);
        model(&mut state);
    }
    ends.push(fs.op_count());
    states.push(state);
    let mut images = 0;
    for op in ends[1]..=fs.op_count() {
        for choice in CrashChoice::mix(op as u64, 3) {
            let store = builder(&world_over(&fs.crash_image(op, choice), 6)).open().unwrap();
            let found = state_of(&store).unwrap();
            let least = ends.iter().rposition(|end| *end <= op).unwrap_or(0);
            assert!(states[least..=(least + 1).min(5)].contains(&found), "op {op} {choice:?}");
            check_index(&store, &found, "blocks");
            images += 1;
        }
    }
    println!("{images} images");
}

/// At every operation after `before`: as many users are counted as are listed, and a user who was forgotten can return.
fn check_users(fs: &RecordingFs, before: usize, open: impl Fn(&RecordingFs) -> Store) {
    for op in before..=fs.op_count() {
        for choice in CrashChoice::mix(op as u64, 12) {
            let store = open(&fs.crash_image(op, choice));
            let listed = state_of(&store).unwrap_or_else(|error| panic!("op {op} {choice:?}: {error:?}")).len();
            assert_eq!(store.user_count().unwrap() as usize, listed, "op {op} {choice:?}");
            store.user("ada").unwrap().remember(note(9, "back again", vec![1.0; support::DIMS])).unwrap();
        }
    }
}

#[test]
fn a_forgotten_user_is_not_counted_after_a_power_cut() {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 8)).open().unwrap();
    store.user("ada").unwrap().remember(note(1, "first", vec![1.0; support::DIMS])).unwrap();
    let before = fs.op_count();
    store.forget_user("ada").unwrap();
    check_users(&fs, before, |fs| builder(&world_over(fs, 9)).open().unwrap());
}

#[test]
fn a_user_who_returns_to_a_relaxed_store_survives_a_power_cut() {
    let open = |fs: &RecordingFs, seed| {
        builder(&world_over(fs, seed)).durability(Durability::Relaxed { every: 5 }).open().unwrap()
    };
    let fs = RecordingFs::new();
    let store = open(&fs, 10);
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "first", vec![1.0; support::DIMS])).unwrap();
    store.flush().unwrap();
    let before = fs.op_count();
    store.forget_user("ada").unwrap();
    let forgotten = fs.op_count();
    for op in before..forgotten {
        for choice in CrashChoice::mix(op as u64, 6) {
            let image = fs.crash_image(op, choice);
            let store = open(&image, 11);
            let returns = image.op_count();
            store.user("ada").unwrap().remember(note(2, "back", vec![1.0; support::DIMS])).unwrap();
            check_users(&image, returns, |fs| open(fs, 12));
            std::mem::forget(store);
        }
    }
}
