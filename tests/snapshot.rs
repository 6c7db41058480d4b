//! Going back to a snapshot: mistakes are undone, what was forgotten stays away.

mod support;

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, StatusKind};
use mnemic::world::testing::{CrashChoice, FaultKind, RecordingFs, Repeat, SplitMix64, TestWorld};
use mnemic::{ErrorKind, ListOptions, Query, Restored, Store, Update, User};
use support::{DIMS, PATH, builder, id, note, state_of, vector, world_over};

fn open(fs: &RecordingFs, seed: u64) -> Store {
    builder(&world_over(fs, seed)).open().unwrap()
}

fn user(store: &Store, name: &str) -> User {
    store.user(name).unwrap().with_level(Sensitivity::Secret)
}

fn fill(user: &User, numbers: std::ops::Range<u64>, random: &mut SplitMix64) {
    let news: Vec<NewMemory> = numbers.map(|n| note(n, &format!("memory {n}"), vector(random))).collect();
    assert!(user.remember_all(news).unwrap().iter().all(Result::is_ok));
}

/// Every memory by id: its text, state, and score for one query.
fn seen(user: &User) -> Vec<(MemoryId, String, StatusKind, Option<u64>)> {
    let hits = user.recall(Query::vector(vec![1.0; DIMS]).limit(usize::MAX)).unwrap();
    let score = |id| hits.iter().find(|hit| hit.id() == id).map(|hit| hit.score().to_bits());
    let page = user.list(ListOptions::new().limit(usize::MAX)).unwrap();
    assert!(page.damaged.is_empty());
    let shown = page.memories.iter().map(|m| (m.id(), m.text().to_owned(), m.status().kind(), score(m.id())));
    shown.collect()
}

fn files(fs: &RecordingFs, extension: &str) -> Vec<String> {
    use mnemic::world::FileSystem;
    let names = fs.list(std::path::Path::new(PATH).join("snapshots").as_path()).unwrap();
    names.into_iter().filter(|name| name.ends_with(extension)).collect()
}

#[test]
fn a_memory_whose_vector_is_damaged_is_copied_without_it_and_named() {
    const VECTORS: u8 = 3;
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(1));
    let store = open(&fs, 1);
    fill(&user(&store, "ada"), 0..300, &mut random);
    store.close().unwrap();
    let mut bytes = support::read(&fs, "shards/00.redb");
    let magic = [b'M', b'N', b'F', 1, VECTORS];
    // Set in the numbers of packs, the fourth of the eight bytes at the end of the key.
    let is_pack = |at: &usize| bytes.get(at + 6 + 16 + 3) == Some(&1);
    let packs: Vec<usize> = (0..bytes.len() - 5).filter(|at| bytes[*at..at + 5] == magic).filter(is_pack).collect();
    assert!(!packs.is_empty());
    packs.iter().for_each(|at| bytes[at + 90] ^= 1);
    support::write(&fs, "shards/00.redb", &bytes);
    let snapshot = open(&fs, 2).snapshot().unwrap();
    assert_eq!((snapshot.memories, snapshot.damaged.len()), (300, 0), "{:?}", snapshot.damaged);
    let closed: Vec<MemoryId> = (0..256).map(id).collect();
    assert_eq!(snapshot.without_vector, closed);
}

#[test]
fn a_restore_undoes_changes_and_archives_what_is_newer() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(1));
    let store = open(&fs, 1);
    let ada = user(&store, "ada");
    // A closed block, a tail, an overlay and a vector of its own.
    fill(&ada, 0..300, &mut random);
    ada.update(id(3), Update::new().text("changed before").vector(vector(&mut random))).unwrap();
    ada.remember(NewMemory::note("without a vector").id(id(900))).unwrap();
    let before = seen(&ada);
    let snapshot = store.snapshot().unwrap();
    assert_eq!((snapshot.users, snapshot.memories, snapshot.damaged.len()), (1, 301, 0));
    assert_eq!(store.snapshots().unwrap(), std::slice::from_ref(&snapshot));

    for n in [3, 7, 299] {
        ada.update(id(n), Update::new().text("a mistake").vector(vector(&mut random))).unwrap();
    }
    ada.update(id(8), Update::new().importance(0.1)).unwrap();
    ada.confirm(id(9)).unwrap();
    ada.correct(id(10), mnemic::Correction::new("wrong").vector(vector(&mut random))).unwrap();
    fill(&ada, 1000..1005, &mut random);

    let done = store.restore_user(snapshot.id, "ada").unwrap();
    let expected = Restored { users: 1, restored: 6, unchanged: 295, archived: 6, ..Restored::default() };
    assert_eq!(done, expected);
    let after = seen(&ada);
    let known: Vec<_> = after.iter().filter(|row| before.iter().any(|b| b.0 == row.0)).cloned().collect();
    assert_eq!(known, before);
    assert!(after.iter().filter(|row| !before.contains(row)).all(|row| row.2 == StatusKind::Archived));
    assert_eq!(ada.history(id(7)).unwrap().last().unwrap().before.as_ref().unwrap().text(), "a mistake");
    let again = store.restore_user(snapshot.id, "ada").unwrap();
    assert_eq!((again.restored, again.unchanged, again.archived), (0, 301, 0));
    let state = state_of(&store).unwrap();
    store.close().unwrap();
    assert_eq!(state_of(&open(&fs, 2)).unwrap(), state);
}

#[test]
fn what_was_forgotten_stays_forgotten() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(2));
    let store = open(&fs, 1);
    for name in ["ada", "bob", "cleo"] {
        fill(&user(&store, name), 0..10, &mut random);
    }
    let ada = user(&store, "ada");
    let derived = NewMemory::note("made of two").id(id(50)).derived_from(id(1)).derived_from(id(2));
    ada.remember(derived).unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(ada.forget(id(1)).unwrap().snapshots_lost, 0);
    ada.forget(id(4)).unwrap();
    ada.update(id(50), Update::new().text("a mistake")).unwrap();
    store.forget_user("bob").unwrap();
    fill(&user(&store, "bob"), 0..3, &mut random);
    store.forget_user("cleo").unwrap();
    // Stated again after it was forgotten: newer than the snapshot.
    ada.remember(note(4, "memory 4", vector(&mut random))).unwrap();

    let done = store.restore(snapshot.id).unwrap();
    let expected = Restored {
        users: 1,
        users_refused: 2,
        restored: 1,
        unchanged: 8,
        archived: 1,
        refused: 2,
        ..Restored::default()
    };
    assert_eq!(done, expected);
    assert_eq!(ada.get(id(1)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ada.get(id(50)).unwrap().derived_from(), [id(2)]);
    assert_eq!(ada.get(id(50)).unwrap().text(), "made of two");
    assert_eq!(user(&store, "bob").list(ListOptions::new()).unwrap().total, 3);
    assert_eq!(store.user_count().unwrap(), 2);
    for name in ["bob", "cleo", "nobody"] {
        assert_eq!(store.restore_user(snapshot.id, name).unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[test]
fn what_was_stated_again_before_a_snapshot_outlives_the_next_forgetting() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(3));
    let store = open(&fs, 1);
    let ada = user(&store, "ada");
    fill(&ada, 0..4, &mut random);
    ada.forget(id(1)).unwrap();
    fill(&ada, 1..2, &mut random);
    let snapshot = store.snapshot().unwrap();
    ada.update(id(1), Update::new().text("a mistake")).unwrap();
    ada.forget(id(2)).unwrap();
    let done = store.restore_user(snapshot.id, "ada").unwrap();
    assert_eq!((done.restored, done.unchanged, done.refused), (1, 2, 1));
    assert_eq!(ada.get(id(1)).unwrap().text(), "memory 1");
}

#[test]
fn snapshots_are_listed_and_deleted() {
    let fs = RecordingFs::new();
    let store = open(&fs, 1);
    let first = store.snapshot().unwrap();
    let second = store.snapshot().unwrap();
    assert_eq!((first.users, first.memories), (0, 0));
    assert_eq!(store.snapshots().unwrap(), [first.clone(), second.clone()]);
    store.delete_snapshot(first.id).unwrap();
    assert_eq!(store.delete_snapshot(first.id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.restore(first.id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.snapshots().unwrap(), std::slice::from_ref(&second));
    assert_eq!((files(&fs, ".rows").len(), files(&fs, ".keys").len()), (1, 1));
    assert_eq!(second.id.to_string().parse::<mnemic::memory::SnapshotId>().unwrap(), second.id);
    assert!(files(&fs, ".rows")[0].starts_with(&second.id.to_string()));
}

#[test]
fn no_more_are_kept_than_the_limit_says() {
    let store = open(&RecordingFs::new(), 1);
    for _ in 0..mnemic::memory::limits::SNAPSHOTS_MAX {
        store.snapshot().unwrap();
    }
    assert_eq!(store.snapshot().unwrap_err().kind(), ErrorKind::Unsupported);
    store.delete_snapshot(store.snapshots().unwrap()[0].id).unwrap();
    store.snapshot().unwrap();
}

#[test]
fn a_flipped_bit_is_named_or_harms_nothing() {
    use mnemic::world::{FileSystem, OpenMode};
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(4));
    let store = open(&fs, 1);
    let ada = user(&store, "ada");
    fill(&ada, 0..3, &mut random);
    let before = seen(&ada);
    let snapshot = store.snapshot().unwrap();
    ada.update(id(1), Update::new().text("a mistake")).unwrap();
    store.close().unwrap();
    let (mut named, mut whole) = (0, 0);
    for extension in [".rows", ".keys"] {
        let path = std::path::Path::new(PATH).join("snapshots").join(&files(&fs, extension)[0]);
        let len = fs.metadata(&path).unwrap().len;
        for offset in (0..len).step_by(7) {
            let image = fs.snapshot();
            let file = image.open(&path, OpenMode::ReadWrite).unwrap();
            let mut byte = [0];
            file.read_at(offset, &mut byte).unwrap();
            file.write_at(offset, &[byte[0] ^ 1 << random.below(8)]).unwrap();
            let store = open(&image, 5);
            match store.restore_user(snapshot.id, "ada") {
                Ok(done) if done.damaged == 0 => {
                    whole += 1;
                    assert_eq!(seen(&user(&store, "ada")), before, "{extension} {offset}");
                }
                Ok(done) => {
                    named += 1;
                    assert_eq!(done.archived, 0, "{extension} {offset}");
                }
                Err(error) => {
                    named += 1;
                    let kinds = [ErrorKind::Corrupt, ErrorKind::Unsupported];
                    assert!(kinds.contains(&error.kind()), "{extension} {offset}: {error}");
                }
            }
        }
    }
    println!("{named} named, {whole} without effect");
    assert!(named > 50 && whole > 10);
}

/// What a cut while forgetting leaves: the snapshot restores everything else, and never what is forgotten.
#[test]
fn a_power_cut_at_any_step_keeps_snapshots_true() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(6));
    let store = open(&fs, 1);
    let ada = user(&store, "ada");
    fill(&ada, 0..5, &mut random);
    let empty = fs.op_count();
    let snapshot = store.snapshot().unwrap();
    let taken = fs.op_count();
    ada.forget(id(2)).unwrap();
    let forgotten = fs.op_count();
    let mut images = 0;
    for op in empty..=forgotten {
        for choice in CrashChoice::mix(op as u64, 5) {
            let image = fs.crash_image(op, choice);
            let store = open(&image, 9);
            let there = !store.snapshots().unwrap().is_empty();
            assert!(there || op < taken, "op {op} {choice:?}: an acknowledged snapshot is gone");
            let ada = user(&store, "ada");
            let lives = ada.get(id(2)).is_ok();
            if there {
                ada.update(id(1), Update::new().text("a mistake")).unwrap();
                let done = store.restore(snapshot.id).unwrap();
                let expected = (1, 1, 3 + u64::from(lives), u64::from(!lives));
                let found = (done.users, done.restored, done.unchanged, done.refused);
                assert_eq!(found, expected, "op {op} of {empty}, {taken}, {forgotten} {choice:?}");
            }
            assert_eq!(ada.get(id(2)).is_ok(), lives);
            assert_eq!(files(&image, ".tmp"), Vec::<String>::new());
            assert_eq!(files(&image, ".keys").len(), usize::from(there));
            images += 1;
        }
    }
    println!("{images} images");
}

#[test]
fn writers_go_on_while_a_snapshot_is_taken() {
    let world = TestWorld::new(8);
    let store = builder(&world).shards(2).open();
    let store = store.unwrap();
    fill(&user(&store, "ada"), 0..600, &mut SplitMix64::new(8));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["ada", "bob"] {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                let (user, mut random) = (user(store, name), SplitMix64::new(9));
                for n in 1000..u64::MAX {
                    user.remember(note(n, "in between", vector(&mut random))).unwrap();
                    user.forget(id(n)).unwrap();
                    if stop.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        for _ in 0..10 {
            let snapshot = store.snapshot().unwrap();
            assert!(snapshot.damaged.is_empty(), "{:?}", snapshot.damaged);
            assert!((600..=602).contains(&snapshot.memories), "{}", snapshot.memories);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    for snapshot in store.snapshots().unwrap() {
        let done = store.restore(snapshot.id).unwrap();
        assert_eq!((done.unchanged, done.restored, done.damaged), (600, 0, 0));
    }
}

/// Whatever fails, there is a whole snapshot or none, nothing else is touched, and forgetting goes on.
#[test]
fn a_disk_that_fails_at_any_call_leaves_a_whole_snapshot_or_none() {
    let (base, mut random) = (RecordingFs::new(), SplitMix64::new(7));
    let store = open(&base, 1);
    fill(&user(&store, "ada"), 0..4, &mut random);
    fill(&user(&store, "bob"), 0..2, &mut random);
    store.close().unwrap();
    let mut runs = 0;
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                let says = format!("{kind:?} {repeat:?} at call {n}");
                let fs = base.snapshot();
                let store = open(&fs, 2);
                let before = state_of(&store).unwrap();
                fs.fail_at(n, kind, repeat);
                let taken = store.snapshot();
                let met = fs.faults_met() > 0;
                fs.clear_faults();
                let listed = store.snapshots().unwrap();
                match &taken {
                    Ok(snapshot) => assert_eq!(listed, std::slice::from_ref(snapshot), "{says}"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{says}: {error}"),
                }
                assert_eq!(state_of(&store).unwrap(), before, "{says}");
                assert_eq!(user(&store, "ada").forget(id(1)).unwrap().snapshots_lost, 0, "{says}");
                for snapshot in listed {
                    assert!(snapshot.damaged.is_empty(), "{says}");
                    let done = store.restore(snapshot.id).unwrap();
                    assert_eq!((done.users, done.unchanged, done.refused), (2, 5, 1), "{says}");
                }
                // What can't be removed then is removed later.
                assert!(files(&fs, ".tmp").is_empty() || repeat == Repeat::Forever, "{says}");
                store.maintain(std::time::Duration::MAX).unwrap();
                assert_eq!(files(&fs, ".tmp").len(), 0, "{says}");
                runs += 1;
                if !met {
                    break;
                }
            }
        }
    }
    println!("{runs} runs");
}

/// A forgetting whose writes to a snapshot fail is done all the same, and says which snapshots it took the user from.
#[test]
fn a_disk_that_fails_while_forgetting_costs_snapshots_at_most() {
    let (base, mut random) = (RecordingFs::new(), SplitMix64::new(8));
    let store = open(&base, 1);
    fill(&user(&store, "ada"), 0..4, &mut random);
    let snapshots = [store.snapshot().unwrap().id, store.snapshot().unwrap().id];
    store.close().unwrap();
    let (mut runs, mut lost) = (0, 0);
    for kind in FaultKind::ALL {
        for repeat in [Repeat::Once, Repeat::Forever] {
            for n in 0.. {
                let says = format!("{kind:?} {repeat:?} at call {n}");
                let fs = base.snapshot();
                let store = open(&fs, 2);
                fs.fail_at(n, kind, repeat);
                let forgotten = user(&store, "ada").forget(id(1));
                let met = fs.faults_met() > 0;
                fs.clear_faults();
                drop(store);
                let store = open(&fs, 3);
                let lives = user(&store, "ada").get(id(1)).is_ok();
                assert!(forgotten.is_err() || !lives, "{says}");
                let gone = snapshots.iter().filter(|id| match store.restore_user(**id, "ada") {
                    Ok(done) => {
                        assert_eq!(done.refused, u64::from(!lives), "{says}");
                        false
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt, "{says}: {error}");
                        true
                    }
                });
                let gone = gone.count() as u32;
                if let Ok(forgotten) = &forgotten {
                    assert_eq!(gone, forgotten.snapshots_lost, "{says}");
                }
                assert_eq!(user(&store, "ada").get(id(1)).is_ok(), lives, "{says}");
                (runs, lost) = (runs + 1, lost + gone);
                if !met {
                    break;
                }
            }
        }
    }
    println!("{runs} runs, {lost} snapshots lost the user");
}

#[test]
fn snapshot_keys_that_were_cut_to_nothing_are_repaired_once_and_for_all() {
    let (fs, mut random) = (RecordingFs::new(), SplitMix64::new(40));
    let store = open(&fs, 40);
    ["ada", "bob"].iter().zip(0..).for_each(|(name, n)| fill(&user(&store, name), 10 * n..10 * n + 10, &mut random));
    store.snapshot().unwrap();
    store.close().unwrap();
    support::write(&fs, &format!("snapshots/{}", files(&fs, ".keys")[0]), &[]);
    let store = open(&fs, 41);
    assert!(!store.doctor().unwrap().is_clean());
    store.repair().unwrap();
    drop(store);
    let after = open(&fs, 42).doctor().unwrap();
    assert!(after.is_clean(), "{after:?}");
}

#[test]
fn a_store_that_was_copied_without_its_empty_directories_takes_snapshots() {
    use mnemic::world::FileSystem;
    let fs = RecordingFs::new();
    open(&fs, 50).close().unwrap();
    fs.remove_dir_all(&std::path::Path::new(PATH).join("snapshots")).unwrap();
    let store = open(&fs, 51);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(store.snapshots().unwrap(), [snapshot]);
}
