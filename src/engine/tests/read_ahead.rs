//! A user of so many blocks that they are read ahead: the same rows, and the same errors.

use super::open;
use crate::codec::Table;
use crate::codec::table::numbered;
use crate::engine::Core;
use crate::error::Result;
use crate::memory::{MemoryId, NewMemory, UserId};
use crate::storage::{Sync, WriteSet};
use crate::world::testing::{FaultKind, RecordingFs, Repeat};
use crate::{Error, ErrorKind};

const ROWS: u32 = 70 * 256 + 5;

fn filled(user: &UserId) -> RecordingFs {
    let fs = RecordingFs::new();
    let core = open(&fs, 1);
    let new = |n: u32| NewMemory::note("a note").id(MemoryId::from_u128(u128::from(n) + 1)).vector(vec![1.0; 8]);
    for first in (0..ROWS).step_by(2560) {
        let batch = (first..ROWS.min(first + 2560)).map(new).collect();
        assert!(core.remember_all(user, batch).unwrap().iter().all(Result::is_ok));
    }
    core.close().unwrap();
    fs
}

/// Row numbers in the index, and the values that were damaged.
fn rows(core: &Core, user: &UserId) -> Result<(Vec<u32>, usize)> {
    let read = core.with_index(core.user_hash(user), |_, index| {
        let mut rows: Vec<u32> = index.arena.iter().map(|facts| facts.row).collect();
        rows.sort_unstable();
        Ok((rows, index.damaged.len()))
    });
    read?.ok_or_else(|| Error::not_found("the user"))
}

#[test]
fn all_rows_are_there_and_a_damaged_block_is_named() {
    let ada = UserId::new("ada").unwrap();
    let fs = filled(&ada);
    let core = open(&fs, 2);
    assert_eq!(rows(&core, &ada).unwrap(), ((0..ROWS).collect(), 0));
    let hash = core.user_hash(&ada);
    let mut block = core.read(hash).unwrap().get(Table::Blocks, &numbered(hash, 66)).unwrap().unwrap();
    *block.last_mut().unwrap() ^= 1;
    let shard = core.shard_of(hash).serving().unwrap();
    let mut writes = WriteSet::default();
    writes.put(Table::Blocks, &numbered(hash, 66), block);
    shard.commit(&writes, shard.last_seq().unwrap() + 1, Sync::Now).unwrap();
    core.close().unwrap();
    let core = open(&fs, 3);
    let (left, damaged) = rows(&core, &ada).unwrap();
    assert_eq!((left.len() as u32, damaged), (ROWS - 256, 1));
}

#[test]
fn a_disk_that_fails_meanwhile_is_told_of_and_nothing_is_left_out() {
    let ada = UserId::new("ada").unwrap();
    let fs = filled(&ada);
    let mut failed = 0;
    for n in [0, 1, 3, 10, 30, 50, 69] {
        let core = open(&fs, 2);
        fs.fail_at(n, FaultKind::Eio, Repeat::Once);
        match rows(&core, &ada) {
            Ok(found) => assert_eq!(found, ((0..ROWS).collect(), 0)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error}");
                failed += 1;
            }
        }
        fs.clear_faults();
        let _ = core.close();
        assert_eq!(rows(&open(&fs, 3), &ada).unwrap(), ((0..ROWS).collect(), 0), "after the fault");
    }
    assert!(failed > 0, "no fault was met");
}
