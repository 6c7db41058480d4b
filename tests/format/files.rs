//! Fixtures as files, and a world over the real ones whose clock stands still.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemic::world::testing::TestWorld;
use mnemic::world::{Clock, FileSystem, OpenMode, SystemFs, SystemProcess, SystemRandom, World};

use crate::script::NOW;

/// What to do where a fixture is not read as it was written.
pub(crate) const FROZEN: &str = "the format is frozen: write a new version beside it (CONTRIBUTING.md, \"Changing bytes\"); \
                          never regenerate a fixture";

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format")
}

struct Still;

impl Clock for Still {
    fn now_micros(&self) -> i64 {
        NOW
    }

    fn monotonic_micros(&self) -> u64 {
        0
    }
}

/// Real files, and an instant that never passes.
pub(crate) fn still_world() -> World {
    World::new(Arc::new(Still), Arc::new(SystemRandom), Arc::new(SystemProcess), Arc::new(SystemFs))
}

/// Copies a committed fixture.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Every file below `dir`, with its bytes.
pub(crate) fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

/// Writes the files of a world in memory to the disk, but for the lock.
pub(crate) fn dump(world: &TestWorld, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in world.fs().list(from).unwrap() {
        let (from, to) = (from.join(&name), to.join(&name));
        if world.fs().list(&from).is_ok() {
            dump(world, &from, &to);
        } else if name != "LOCK" {
            let file = world.fs().open(&from, OpenMode::Read).unwrap();
            let mut bytes = vec![0; file.len().unwrap() as usize];
            file.read_at(0, &mut bytes).unwrap();
            fs::write(to, bytes).unwrap();
        }
    }
}

/// Compares with a committed text, line by line.
#[track_caller]
pub(crate) fn assert_as_committed(name: &str, found: &str, says: &str) {
    let committed = fs::read_to_string(root().join(name)).unwrap();
    for (at, (committed, found)) in committed.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, committed, "{name}, line {}: {says}", at + 1);
    }
    assert_eq!(found.lines().count(), committed.lines().count(), "{name}: {says}");
}
