//! What approximate answers have measured outlives the process: with the next commit of the user, or with an upkeep.

mod support;

use std::time::Duration;

use mnemic::memory::NewMemory;
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{Query, Store, User};
use support::{builder, note, vector, world_over};

const ROWS: u64 = 9000;
/// The first questions of a user that are answered exactly as well, to check the others.
const CHECKED: [usize; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

fn open(fs: &RecordingFs) -> Store {
    builder(&world_over(fs, 1)).open().unwrap()
}

fn fill(user: &User, random: &mut SplitMix64) {
    let rows: Vec<u64> = (0..ROWS).collect();
    for numbers in rows.chunks(1000) {
        let news: Vec<NewMemory> = numbers.iter().map(|n| note(*n, &format!("memory {n}"), vector(random))).collect();
        assert!(user.remember_all(news).unwrap().iter().all(Result::is_ok));
    }
}

/// Which of the next questions were answered exactly, by number.
fn exact(user: &User, questions: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut ask = || user.recall(Query::vector(vector(random)).approximate(0.9)).unwrap();
    let answers: Vec<bool> = (0..questions).map(|_| ask().approximate().is_none()).collect();
    (1..).zip(answers).filter(|(_, exact)| *exact).map(|(number, _)| number).collect()
}

#[test]
fn what_was_measured_is_there_after_an_upkeep_and_after_a_write() {
    let (fs, mut random) = (RecordingFs::default(), SplitMix64::new(1));
    let store = open(&fs);
    let user = store.user("ada").unwrap();
    fill(&user, &mut random);
    assert_eq!(exact(&user, 10, &mut random), CHECKED);
    store.close().unwrap();
    drop((user, store));

    let store = open(&fs);
    let user = store.user("ada").unwrap();
    assert_eq!(exact(&user, 9, &mut random), CHECKED, "nothing was written since it was measured");
    store.maintain(Duration::from_secs(60)).unwrap();
    store.close().unwrap();
    drop((user, store));

    let store = open(&fs);
    let user = store.user("ada").unwrap();
    assert_eq!(exact(&user, 6, &mut random), Vec::<usize>::new(), "these are the 10th to the 15th");
    user.remember(note(ROWS, "one more", vector(&mut random))).unwrap();
    store.close().unwrap();
    drop((user, store));

    let store = open(&fs);
    assert_eq!(exact(&store.user("ada").unwrap(), 3, &mut random), [1], "the 16th");
    assert!(store.doctor().unwrap().is_clean());
}
