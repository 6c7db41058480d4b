//! The n-th call to the disk fails, for every n: a typed error, a known outcome, and a store that opens again.

mod support;

use mnemic::memory::StatusKind;
use mnemic::world::FileSystem;
use mnemic::world::testing::{FaultKind, RecordingFs, Repeat, SplitMix64};
use mnemic::{ErrorKind, Result, Store, Update};
use support::{Seen, State, builder, id, note, state_of, vector, world_over};

type Step = (fn(&Store, Vec<f32>) -> Result<()>, fn(&mut State));

fn seen(text: &str, version: u32) -> Seen {
    Seen { text: text.into(), status: StatusKind::Active, version }
}

fn steps() -> Vec<Step> {
    vec![
        (
            |store, v| store.user("ada")?.remember(note(1, "one", v)).map(drop),
            |s| _ = s.entry("ada".into()).or_default().insert(id(1), seen("one", 1)),
        ),
        (
            |store, v| store.user("ada")?.remember(note(2, "two", v)).map(drop),
            |s| _ = s.get_mut("ada").unwrap().insert(id(2), seen("two", 1)),
        ),
        (
            |store, v| store.user("ada")?.update(id(1), Update::new().text("uno").vector(v)).map(drop),
            |s| _ = s.get_mut("ada").unwrap().insert(id(1), seen("uno", 2)),
        ),
        (|store, _| store.user("ada")?.forget(id(2)).map(drop), |s| _ = s.get_mut("ada").unwrap().remove(&id(2))),
        (
            |store, v| store.user("bob")?.remember(note(3, "bob", v)).map(drop),
            |s| _ = s.entry("bob".into()).or_default().insert(id(3), seen("bob", 1)),
        ),
        (|store, _| store.forget_user("ada").map(drop), |s| _ = s.remove("ada")),
    ]
}

/// Runs the steps until one fails; how many were acknowledged, and the error.
fn run(store: &Store) -> (usize, Option<mnemic::Error>) {
    let mut random = SplitMix64::new(1);
    for (i, (act, _)) in steps().iter().enumerate() {
        if let Err(error) = act(store, vector(&mut random)) {
            return (i, Some(error));
        }
    }
    (steps().len(), None)
}

fn states() -> Vec<State> {
    let mut states = vec![State::new()];
    for (_, model) in steps() {
        let mut next = states.last().unwrap().clone();
        model(&mut next);
        states.push(next);
    }
    states
}

fn fail_once_at(n: u64, kind: FaultKind, repeat: Repeat) -> bool {
    let fs = RecordingFs::new();
    drop(builder(&world_over(&fs, 1)).open().unwrap());
    fs.fail_at(n, kind, repeat);
    let what = format!("{kind:?} at {n}, {repeat:?}");
    let world = world_over(&fs, 2);
    let (done, error) = match builder(&world).open() {
        Ok(store) => run(&store),
        Err(error) => (0, Some(error)),
    };
    let met = fs.faults_met() > 0;
    fs.clear_faults();
    assert!(error.is_none() || met, "{what}: an error without a fault: {error:?}");
    if let Some(error) = &error {
        let kinds = [ErrorKind::Io, ErrorKind::Corrupt];
        assert!(kinds.contains(&error.kind()), "{what}: {error:?}");
    }
    let store = builder(&world_over(&fs, 3)).open().unwrap_or_else(|error| panic!("{what}: does not open: {error:?}"));
    let (found, states) = (state_of(&store).unwrap_or_else(|error| panic!("{what}: {error:?}")), states());
    let most = if error.is_some() { (done + 1).min(steps().len()) } else { done };
    assert!((done..=most).any(|k| states[k] == found), "{what}: after {done} steps and {error:?}: {found:#?}");
    if error.as_ref().is_some_and(|error| error.message().contains("not committed")) {
        assert_eq!(found, states[done], "{what}: said not committed, and is");
    }
    met
}

#[test]
fn every_failing_call_gives_a_true_answer_and_a_store_that_opens() {
    let mut runs = 0;
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                runs += 1;
                if !fail_once_at(n, kind, repeat) {
                    break;
                }
            }
        }
    }
    println!("{runs} runs");
    assert!(runs > 500);
}

#[test]
fn creation_that_fails_at_any_call_can_be_begun_again() {
    for kind in FaultKind::ALL {
        for n in 0.. {
            let fs = RecordingFs::new();
            fs.fail_at(n, kind, Repeat::Forever);
            let outcome = builder(&world_over(&fs, 1)).open().map(drop);
            let met = fs.faults_met() > 0;
            fs.clear_faults();
            assert!(outcome.is_ok() || met);
            let store = builder(&world_over(&fs, 2)).open().unwrap_or_else(|e| panic!("{kind:?} {n}: {e:?}"));
            assert_eq!(state_of(&store).unwrap(), State::new());
            if !met {
                break;
            }
        }
    }
}

#[test]
fn forgetting_works_on_a_full_disk() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(1);
    let store = builder(&world_over(&fs, 1)).reserve_bytes(4 << 20).open().unwrap();
    let ada = store.user("ada").unwrap();
    for n in 0..20 {
        ada.remember(note(n, "to be forgotten", vector(&mut random))).unwrap();
    }
    fs.set_capacity(Some(fs.used_bytes()));
    let mut refused = 0;
    for n in 100..400 {
        match ada.remember(note(n, "no room", vector(&mut random))) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "the disk was never full");
    ada.forget(id(3)).unwrap();
    assert_eq!(ada.get(id(3)).unwrap_err().kind(), ErrorKind::NotFound);
    store.forget_user("ada").unwrap();
    assert_eq!(ada.get(id(4)).unwrap_err().kind(), ErrorKind::NotFound);
    drop(ada);
    drop(store);
    let store = builder(&world_over(&fs, 2)).open().unwrap();
    assert_eq!(store.user_count().unwrap(), 0);
}

#[test]
fn forgetting_goes_on_working_on_a_disk_that_stays_full() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(3);
    let store = builder(&world_over(&fs, 1)).reserve_bytes(4 << 20).open().unwrap();
    for n in 0..100 {
        store.user("ada").unwrap().remember(note(n, "to be forgotten", vector(&mut random))).unwrap();
    }
    // Room for some of the reserve, but not for all of it, once that was given back.
    fs.set_capacity(Some(fs.used_bytes() + (64 << 10)));
    store.close().unwrap();
    for round in 0..3_u64 {
        let store = builder(&world_over(&fs, 10 + round)).reserve_bytes(4 << 20).open().unwrap();
        let ada = store.user("ada").unwrap();
        let refused = (0..3000).any(|n| {
            let text = format!("fills the disk {}", "x".repeat(2000));
            ada.remember(note(1000 * (round + 1) + n, &text, vector(&mut random))).is_err()
        });
        assert!(refused, "the disk was never full");
        for n in 0..10 {
            let id = id(10 * round + n);
            ada.forget(id).unwrap_or_else(|error| panic!("round {round}, {n}: {error:?}"));
            assert_eq!(ada.get(id).unwrap_err().kind(), ErrorKind::NotFound);
        }
        drop(ada);
        store.close().unwrap();
    }
}

#[test]
fn a_store_opens_where_removing_the_rows_of_a_forgotten_user_fails() {
    let base = RecordingFs::new();
    let mut random = SplitMix64::new(5);
    let store = builder(&world_over(&base, 1)).open().unwrap();
    for (user, first) in [("bob", 0), ("ada", 1000)] {
        let notes: Vec<_> = (first..first + 100).map(|n| note(n, "a note", vector(&mut random))).collect();
        assert!(store.user(user).unwrap().remember_all(notes).unwrap().iter().all(Result::is_ok));
    }
    store.close().unwrap();
    let mut served = 0;
    for n in (2..40).step_by(9) {
        let fs = base.snapshot();
        let store = builder(&world_over(&fs, 2)).open().unwrap();
        fs.fail_at(n, FaultKind::Eio, Repeat::Forever);
        let forgotten = store.forget_user("ada").is_ok();
        drop(store);
        fs.clear_faults();
        if !forgotten {
            continue;
        }
        for at in 0.. {
            let full = fs.snapshot();
            full.fail_at(at, FaultKind::Eio, Repeat::Once);
            let opened = builder(&world_over(&full, 3)).open();
            let met = full.faults_met() > 0;
            full.clear_faults();
            let store = match opened {
                Err(error) => {
                    assert!(!error.message().contains("not committed"), "{n}, {at}: {error:?}");
                    continue;
                }
                Ok(store) => store,
            };
            let ada = store.user("ada").unwrap().get(id(1002)).unwrap_err();
            // A shard that could not be read is out of service until the next open.
            if ada.kind() != ErrorKind::Io {
                assert_eq!(ada.kind(), ErrorKind::NotFound);
                assert_eq!(store.user("bob").unwrap().get(id(1)).unwrap().text(), "a note");
                served += usize::from(met);
            }
            drop(store);
            if !met {
                break;
            }
            let store = builder(&world_over(&full, 4)).open().unwrap();
            assert!(store.doctor().unwrap().is_clean());
        }
    }
    assert!(served > 0, "no fault was met by an open that serves");
}

#[test]
fn upkeep_rewrites_a_shard_on_a_full_disk_with_the_room_of_the_reserve() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(6);
    let builder = || builder(&world_over(&fs, 1)).reserve_bytes(2 << 20).rewrite_min_bytes(1 << 16);
    let store = builder().open().unwrap();
    for n in 0..400 {
        let owner = if n % 8 == 0 { "ada" } else { "bob" };
        store.user(owner).unwrap().remember(note(n, &"a note ".repeat(200), vector(&mut random))).unwrap();
    }
    store.forget_user("bob").unwrap();
    fs.set_capacity(Some(fs.used_bytes()));
    let done = store.maintain(std::time::Duration::from_secs(600)).unwrap();
    assert!(done.shards_rewritten > 0 && done.bytes_freed > 0, "{done:?}");
    assert!(store.user("ada").unwrap().get(id(8)).unwrap().text().starts_with("a note"));
    let path = std::path::Path::new(support::PATH).join("RESERVE");
    assert!(fs.exists(&path).unwrap(), "the room is set aside again");
}

#[test]
fn a_full_disk_is_called_full() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(4);
    let store = builder(&world_over(&fs, 1)).open().unwrap();
    store.user("ada").unwrap().remember(note(9000, "the first", vector(&mut random))).unwrap();
    fs.set_capacity(Some(fs.used_bytes()));
    let text = "x".repeat(2000);
    let refused =
        (0..3000).find_map(|n| store.user("ada").unwrap().remember(note(n, &text, vector(&mut random))).err());
    let error = refused.expect("the disk was never full");
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

/// Forgets a user and lets it return while calls fail; whatever was told is true, and the store opens.
fn forget_and_return(base: &RecordingFs, n: u64, kind: FaultKind, repeat: Repeat) -> bool {
    let fs = base.snapshot();
    fs.fail_at(n, kind, repeat);
    let what = format!("{kind:?} at {n}, {repeat:?}");
    let (mut forgotten, mut returned) = (false, false);
    if let Ok(store) = builder(&world_over(&fs, 5)).open() {
        forgotten = store.forget_user("ada").is_ok();
        returned = store.user("ada").unwrap().remember(note(9, "back", vec![1.0; support::DIMS])).is_ok();
    }
    let met = fs.faults_met() > 0;
    fs.clear_faults();
    let store = builder(&world_over(&fs, 6)).open().unwrap_or_else(|error| panic!("{what}: does not open: {error:?}"));
    let found = state_of(&store).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let ada = found.get("ada").cloned().unwrap_or_default();
    assert!(!forgotten || !ada.contains_key(&id(1)), "{what}: what was forgotten is back");
    assert!(!returned || ada.contains_key(&id(9)), "{what}: what was acknowledged is gone");
    store.user("ada").unwrap().remember(note(10, "once more", vec![1.0; support::DIMS])).unwrap();
    met
}

#[test]
fn a_user_forgotten_through_failing_calls_stays_forgotten_and_can_return() {
    let base = RecordingFs::new();
    let store = builder(&world_over(&base, 4)).open().unwrap();
    for n in 1..4 {
        store.user("ada").unwrap().remember(note(n, "to be forgotten", vec![1.0; support::DIMS])).unwrap();
    }
    store.close().unwrap();
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                if !forget_and_return(&base, n, kind, repeat) {
                    break;
                }
            }
        }
    }
}
