//! The doctor on the command line: whole stores, damaged ones, and repairs.

mod support;

use support::Place;

/// What the program ends with where something is damaged.
const DAMAGED: i32 = 4;

/// Where sealed values of a table begin in a file: magic and code, as `docs/file-format.md` has them.
fn frames(bytes: &[u8], table: u8) -> Vec<usize> {
    let magic = [b'M', b'N', b'F', 1, table];
    bytes.windows(5).enumerate().filter(|(_, window)| *window == magic).map(|(at, _)| at).collect()
}

/// Flips a bit in every copy of every value of a table, in whatever shard.
fn spoil(place: &Place, table: u8) -> usize {
    let mut spoilt = 0;
    for entry in std::fs::read_dir(place.path("store/shards")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let found = frames(&bytes, table);
        found.iter().for_each(|at| bytes[at + 90] ^= 1);
        spoilt += found.len();
        std::fs::write(&path, bytes).unwrap();
    }
    spoilt
}

#[test]
fn a_whole_store_is_called_clean() {
    let place = Place::new();
    place.remember(&["Prefers window seats"]);
    let run = place.as_nobody(&["doctor"]).expect(0);
    assert!(run.stdout.contains("nothing is damaged"), "{}", run.stdout);
    let found = place.as_nobody(&["doctor", "--json"]).expect(0).json();
    assert_eq!((&found["found"]["clean"], &found["found"]["users"]), (&true.into(), &1.into()));
    // There is nothing to repair either.
    let run = place.as_nobody(&["doctor", "--repair"]).expect(0);
    assert!(!run.stdout.contains("built anew"), "{}", run.stdout);
}

#[test]
fn a_flipped_byte_is_named_repaired_and_clean_again() {
    const TERMS: u8 = 6;
    let place = Place::new();
    let seat = place.remember(&["Prefers window seats"]);
    assert!(spoil(&place, TERMS) > 0);
    let damaged = place.as_nobody(&["doctor"]).expect(DAMAGED);
    assert!(damaged.stdout.contains("damaged: shard") && damaged.stdout.contains("terms of ada"), "{}", damaged.stdout);
    let done = place.as_nobody(&["doctor", "--repair", "--json"]).expect(0).json();
    assert_eq!((&done["found"]["clean"], &done["after"]["clean"]), (&false.into(), &true.into()));
    assert_eq!(done["repaired"][0]["lost"].as_array().unwrap().len(), 0, "{done}");
    place.as_nobody(&["doctor"]).expect(0);
    assert!(place.run(&["show", &seat]).expect(0).stdout.contains("Prefers window seats"));
    let found = place.run(&["recall", "window seats", "--json"]).expect(0).json();
    assert_eq!(found["hits"][0]["memory"]["id"], seat.as_str());
}

#[test]
fn a_memory_that_is_gone_is_listed_by_its_id() {
    const RECORDS: u8 = 2;
    let place = Place::new();
    let seat = place.remember(&["Prefers window seats"]);
    place.run(&["update", &seat, "--text", "Prefers aisle seats"]).expect(0);
    assert!(spoil(&place, RECORDS) > 0);
    let done = place.as_nobody(&["doctor", "--repair"]).expect(0);
    assert!(done.stdout.contains("lost: ") && done.stdout.contains(&seat), "{}", done.stdout);
    assert!(done.stdout.contains("kept: quarantine/"), "{}", done.stdout);
    place.as_nobody(&["doctor"]).expect(0);
    place.run(&["show", &seat]).expect(1);
    place.remember(&["Prefers window seats"]);
    place.as_nobody(&["doctor"]).expect(0);
}
