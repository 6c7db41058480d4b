//! From nothing to a store, so that a crash at any step leaves nothing or a store.

use std::path::Path;

use super::{CREATING, LOCK, MANIFEST, SHARDS, SNAPSHOTS, Setup};
use crate::codec::features::Features;
use crate::codec::manifest::Manifest;
use crate::error::{Error, Result};
use crate::memory::limits;
use crate::seal::{Keyring, Suite};
use crate::storage::{Shard, reserve};
use crate::world::{OpenMode, World, file_error, retry_interrupted, write_new_durable};

/// Shards of a store that does not say how many.
const SHARDS_DEFAULT: u32 = 4;
/// Everything that an unfinished creation may leave.
const OURS: [&str; 8] = ["KEYRING", "MASTERKEY", "RESERVE", "MANIFEST.tmp", SHARDS, SNAPSHOTS, CREATING, LOCK];

/// What lies in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// No directory, an empty one, or an unfinished creation.
    Nothing,
    /// A store.
    Store,
}

/// Looks without touching.
pub(crate) fn look(world: &World, path: &Path) -> Result<Found> {
    let failed = |error| file_error("read", path, error);
    if !retry_interrupted(|| world.fs().exists(path)).map_err(failed)? {
        return Ok(Found::Nothing);
    }
    let names = retry_interrupted(|| world.fs().list(path)).map_err(failed)?;
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(MANIFEST) {
        return Ok(Found::Store);
    }
    if has(CREATING) {
        return Ok(Found::Nothing);
    }
    if has("KEYRING") || has(SHARDS) || has("MASTERKEY") {
        return Err(Error::corrupt(format!("store {}: MANIFEST is missing", path.display())));
    }
    match names.iter().find(|name| *name != LOCK) {
        Some(_) => Err(Error::invalid(format!("{} is not empty and holds no store", path.display()))),
        None => Ok(Found::Nothing),
    }
}

/// Makes a store in `path`, whose lock is held. MANIFEST comes last; CREATING says until then that it is unfinished.
pub(crate) fn create(world: &World, path: &Path, setup: &Setup) -> Result<Keyring> {
    let shards = setup.shards.unwrap_or(SHARDS_DEFAULT);
    if !limits::SHARDS.contains(&(shards as usize)) {
        return Err(Error::invalid(format!("shards: {shards}, must be 1 to {}", limits::SHARDS.end())));
    }
    wipe(world, path)?;
    touch(world, &path.join(CREATING))?;
    sync_dir(world, path)?;
    let mut store_id = [0; 16];
    world.fill(&mut store_id)?;
    let suite = setup.suite.unwrap_or_else(Suite::best);
    let keyring = Keyring::create(world, path, store_id, suite, &setup.master)?;
    if setup.reserve_bytes > 0 {
        reserve::create(world, path, setup.reserve_bytes)?;
    }
    for dir in [SHARDS, SNAPSHOTS] {
        let dir = path.join(dir);
        retry_interrupted(|| world.fs().create_dir(&dir)).map_err(|error| file_error("create", &dir, error))?;
    }
    (0..shards).try_for_each(|number| Shard::create(world, &path.join(SHARDS), store_id, number))?;
    let (spaces, features, extra) = (Vec::new(), Features::default(), Vec::new());
    let manifest = Manifest { store_id, shards, suite: suite.code(), spaces, features, extra };
    sync_dir(world, path)?;
    write_new_durable(world.fs(), &path.join(MANIFEST), &manifest.encode())?;
    Ok(keyring)
}

/// Makes a directory and its missing parents, each durable in the one above it.
pub(crate) fn create_dir(world: &World, path: &Path) -> Result<()> {
    let failed = |error| file_error("create", path, error);
    let named = |dir: &&Path| !dir.as_os_str().is_empty();
    let mut missing = Vec::new();
    for dir in path.ancestors().filter(named) {
        if retry_interrupted(|| world.fs().exists(dir)).map_err(failed)? {
            break;
        }
        missing.push(dir);
    }
    retry_interrupted(|| world.fs().create_dir_all(path)).map_err(failed)?;
    let above = |dir: &Path| dir.parent().filter(named).unwrap_or(Path::new(".")).to_owned();
    missing.into_iter().try_for_each(|dir| sync_dir(world, &above(dir)))
}

/// Removes what an earlier, unfinished creation left: our own names and no other.
fn wipe(world: &World, path: &Path) -> Result<()> {
    let failed = |error| file_error("clear", path, error);
    for name in retry_interrupted(|| world.fs().list(path)).map_err(failed)? {
        if !OURS.contains(&name.as_str()) || name == LOCK || name == CREATING {
            continue;
        }
        let entry = path.join(&name);
        if name == SHARDS || name == SNAPSHOTS {
            retry_interrupted(|| world.fs().remove_dir_all(&entry)).map_err(failed)?;
        } else {
            retry_interrupted(|| world.fs().remove_file(&entry)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Removes CREATING from a finished store, and temporaries that no rename followed.
pub(crate) fn remove_strays(world: &World, path: &Path) -> Result<()> {
    let mut removed = remove_named(world, path, |name| name == CREATING || name == "MANIFEST.tmp")?;
    for dir in [SHARDS, SNAPSHOTS] {
        removed += remove_temporaries(world, &path.join(dir))?;
    }
    if removed > 0 { sync_dir(world, path) } else { Ok(()) }
}

/// Removes the temporaries in a directory; how many there were.
pub(super) fn remove_temporaries(world: &World, dir: &Path) -> Result<u32> {
    remove_named(world, dir, |name| Path::new(name).extension().is_some_and(|extension| extension == "tmp"))
}

fn remove_named(world: &World, dir: &Path, is_stray: impl Fn(&str) -> bool) -> Result<u32> {
    let names = match retry_interrupted(|| world.fs().list(dir)) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(file_error("read", dir, error)),
    };
    let mut removed = 0;
    for name in names.iter().filter(|name| is_stray(name)) {
        let stray = dir.join(name);
        retry_interrupted(|| world.fs().remove_file(&stray)).map_err(|error| file_error("remove", &stray, error))?;
        removed += 1;
    }
    Ok(removed)
}

fn touch(world: &World, path: &Path) -> Result<()> {
    let file = retry_interrupted(|| world.fs().open(path, OpenMode::Create));
    let file = file.map_err(|error| file_error("create", path, error))?;
    retry_interrupted(|| file.sync_all()).map_err(|error| file_error("sync", path, error))
}

fn sync_dir(world: &World, path: &Path) -> Result<()> {
    retry_interrupted(|| world.fs().sync_dir(path)).map_err(|error| file_error("sync", path, error))
}
