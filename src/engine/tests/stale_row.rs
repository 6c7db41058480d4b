//! An older row of a user who was forgotten and has come back: no forgetting to be finished, and nobody unknown.

use std::path::Path;

use crate::ErrorKind;
use crate::codec::{Table, UserHash};
use crate::engine::{Core, Durability, Settings};
use crate::kernel::Dispatch;
use crate::memory::{NewMemory, UserId};
use crate::seal::MasterKey;
use crate::storage::{Setup, Sync, WriteSet};
use crate::world::testing::{RecordingFs, TestWorld};

fn open(fs: &RecordingFs) -> Core {
    let master = MasterKey::callback(|| Ok([7; 32]));
    let setup = Setup { master, shards: Some(1), create: true, reserve_bytes: 0, suite: None };
    let settings = Settings {
        durability: Durability::Durable,
        cache_bytes: 1 << 20,
        kernel: Dispatch::best(),
        embedder: None,
        rewrite_min_bytes: 0,
    };
    Core::open(TestWorld::with_fs(5, fs.clone()).world(), Path::new("store"), &setup, settings).unwrap()
}

fn row(core: &Core, user: UserHash) -> Vec<u8> {
    core.read(user).unwrap().get(Table::Users, &user.0).unwrap().unwrap()
}

fn put_row(core: &Core, user: UserHash, row: &[u8]) {
    let shard = core.shard_of(user).serving().unwrap();
    let mut writes = WriteSet::default();
    writes.put(Table::Users, &user.0, row.to_vec());
    shard.commit(&writes, shard.last_seq().unwrap() + 1, Sync::Now).unwrap();
}

#[test]
fn an_older_row_of_a_user_who_came_back_is_damage_and_takes_nothing_with_it() {
    let (fs, ada) = (RecordingFs::new(), UserId::new("ada").unwrap());
    let core = open(&fs);
    let hash = core.user_hash(&ada);
    let remember = |text: &str| core.remember_all(&ada, vec![NewMemory::note(text)]).unwrap();
    assert!(remember("of the first life")[0].is_ok());
    let first = row(&core, hash);
    core.forget_user(&ada).unwrap();
    let erased = row(&core, hash);
    assert!(remember("of the second life")[0].is_ok());
    let latest = row(&core, hash);
    core.close().unwrap();
    for (says, older) in [("of the first life", first), ("of the forgetting", erased)] {
        let core = open(&fs);
        put_row(&core, hash, &older);
        core.close().unwrap();
        let core = open(&fs);
        let listed = core.with_index(hash, |_, index| Ok(index.arena.iter().count()));
        assert_eq!(listed.unwrap_err().kind(), ErrorKind::Corrupt, "{says}");
        let again = core.remember_all(&ada, vec![NewMemory::note("once more")]);
        assert_eq!(again.unwrap_err().kind(), ErrorKind::Corrupt, "{says}");
        put_row(&core, hash, &latest);
        core.close().unwrap();
        let core = open(&fs);
        assert_eq!(core.with_index(hash, |_, index| Ok(index.arena.iter().count())).unwrap(), Some(1), "{says}");
        core.close().unwrap();
    }
}
