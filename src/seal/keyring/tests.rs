use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::ErrorKind;
use crate::codec::head::SlotRef;
use crate::seal::MasterKey;
use crate::world::testing::TestWorld;

const STORE: [u8; 16] = [9; 16];

fn world() -> World {
    TestWorld::new(5).world()
}

fn create(world: &World, master: &MasterKey) -> Keyring {
    world.fs().create_dir_all(Path::new("s")).unwrap();
    Keyring::create(world, Path::new("s"), STORE, Suite::best(), master).unwrap()
}

fn open(world: &World, master: &MasterKey) -> Result<Keyring> {
    Keyring::open(world, Path::new("s"), STORE, master)
}

#[test]
fn a_wrong_key_is_denied_and_damage_is_corrupt() {
    let world = world();
    let right = MasterKey::callback(|| Ok([1; 32]));
    drop(create(&world, &right));
    assert!(open(&world, &right).is_ok());
    let wrong = MasterKey::callback(|| Ok([2; 32]));
    assert_eq!(open(&world, &wrong).unwrap_err().kind(), ErrorKind::Denied);
    assert_eq!(open(&world, &MasterKey::local_file()).unwrap_err().kind(), ErrorKind::Denied);
    let file = world.fs().open(Path::new("s/KEYRING"), crate::world::OpenMode::ReadWrite).unwrap();
    file.write_at(40, &[0xff; 8]).unwrap();
    let healed = open(&world, &right).expect("one damaged copy is survived");
    assert_eq!(healed.damaged_header_copies().unwrap(), ["A"], "and told of, though it was written anew");
    assert!(open(&world, &right).unwrap().damaged_header_copies().unwrap().is_empty());
    file.write_at(40, &[0xff; 8]).unwrap();
    file.write_at(4096 + 40, &[0xff; 8]).unwrap();
    assert_eq!(open(&world, &right).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn slots_come_back_and_the_next_free_one_is_found() {
    let world = world();
    let master = MasterKey::local_file();
    let keyring = create(&world, &master);
    let user = UserHash([3; 16]);
    let keys = UserKeys::random(&world).unwrap();
    for expected in 0..40 {
        let slot = keyring.take_slot().unwrap();
        assert_eq!(slot, expected);
        let value = keyring.live_slot(&world, SlotOwner { user, generation: 1, epoch: 0 }, &keys).unwrap();
        keyring.write_slot(slot, Copy::A, &value).unwrap();
        keyring.write_slot(slot, Copy::B, &value).unwrap();
    }
    drop(keyring);
    let keyring = open(&world, &master).unwrap();
    assert_eq!(keyring.take_slot().unwrap(), 40);
    let copies = keyring.read_slot(39).unwrap();
    let read = keyring.keys_of(&copies.a.unwrap()).unwrap();
    assert_eq!(read.user.bytes(), keys.user.bytes());
    assert_eq!(read.tombstone.bytes(), keys.tombstone.bytes());
}

#[test]
fn the_epoch_of_the_rows_decides_between_two_copies() {
    let world = world();
    let keyring = create(&world, &MasterKey::local_file());
    let user = UserHash([3; 16]);
    let keys = UserKeys::random(&world).unwrap();
    let slot = |generation, epoch| keyring.live_slot(&world, SlotOwner { user, generation, epoch }, &keys).ok();
    let erased =
        |generation| Some(Keyring::erased_slot(SlotOwner { user, generation, epoch: 0 }, Timestamp::from_micros(1)));
    let row = |generation, epoch, erased| SlotRef { slot: 0, generation, epoch, erased };
    let resolve = |row: SlotRef, a, b| resolve::resolve(user, &row, SlotCopies { a, b });
    let repair = |standing| match standing {
        Ok(Standing::Live { repair, .. }) => repair,
        _ => panic!("not live"),
    };
    assert_eq!(repair(resolve(row(1, 4, false), slot(1, 4), slot(1, 4))), None);
    assert_eq!(repair(resolve(row(1, 4, false), slot(1, 5), slot(1, 4))), Some(Copy::A));
    assert_eq!(repair(resolve(row(1, 5, false), slot(1, 5), slot(1, 4))), Some(Copy::B));
    assert_eq!(repair(resolve(row(1, 5, false), slot(1, 5), None)), Some(Copy::B));
    assert!(resolve(row(1, 9, false), slot(1, 5), slot(1, 4)).is_err());
    assert!(resolve(row(1, 0, false), None, None).is_err());
    assert!(matches!(resolve(row(1, 0, false), erased(1), slot(1, 0)), Ok(Standing::Unfinished)));
    assert!(matches!(resolve(row(1, 0, false), slot(1, 0), erased(1)), Ok(Standing::Unfinished)));
    assert!(matches!(resolve(row(1, 0, true), erased(1), erased(1)), Ok(Standing::Erased)));
    assert!(matches!(resolve(row(1, 0, true), slot(2, 0), erased(1)), Ok(Standing::Erased)));
    assert!(resolve(row(1, 0, true), slot(1, 0), slot(1, 0)).is_err(), "an older KEYRING is refused");
    assert_eq!(repair(resolve(row(2, 0, false), slot(2, 0), erased(1))), Some(Copy::B));
}

#[test]
fn an_intent_is_read_until_it_is_cleared() {
    let world = world();
    let keyring = create(&world, &MasterKey::local_file());
    assert_eq!(keyring.read_intent(3).unwrap(), None);
    keyring.write_intent(3, Some(UserHash([1; 16]))).unwrap();
    assert_eq!(keyring.read_intent(3).unwrap(), Some(UserHash([1; 16])));
    assert_eq!(keyring.read_intent(2).unwrap(), None);
    keyring.write_intent(3, None).unwrap();
    assert_eq!(keyring.read_intent(3).unwrap(), None);
    let _ = Arc::new(keyring);
}
