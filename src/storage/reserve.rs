//! RESERVE: room set aside, so that a forget can commit on a full disk.

use std::path::Path;

use crate::error::Result;
use crate::world::{OpenMode, World, file_error, retry_interrupted};

/// Bytes set aside.
pub(crate) const BYTES: u64 = 8 << 20;
const NAME: &str = "RESERVE";
const CHUNK_BYTES: usize = 1 << 20;
/// Less than a page of a shard is no help.
const SMALLEST_STEP: usize = 4 << 10;

/// Sets `bytes` aside, or what the disk has; how many there are now. Not compressible to nothing: a sparse file would
/// hold no room.
///
/// A disk with less room keeps all of it for forgetting: what was given back would else go to the next write.
pub(crate) fn create(world: &World, store: &Path, bytes: u64) -> Result<u64> {
    let path = store.join(NAME);
    let failed = |error| file_error("create", &path, error);
    let file = retry_interrupted(|| world.fs().open(&path, OpenMode::Create)).map_err(failed)?;
    let mut there = file.len().map_err(failed)?.min(bytes);
    if there == bytes {
        return Ok(there);
    }
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes as usize)];
    world.fill(&mut chunk)?;
    let mut step = chunk.len();
    while there < bytes && step >= SMALLEST_STEP {
        let len = (bytes - there).min(step as u64) as usize;
        match retry_interrupted(|| file.write_at(there, &chunk[..len])) {
            Ok(()) => there += len as u64,
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => step /= 2,
            Err(error) => return Err(failed(error)),
        }
    }
    retry_interrupted(|| file.sync_all()).map_err(failed)?;
    Ok(there)
}

/// Gives the room back to the file system.
pub(crate) fn release(world: &World, store: &Path) -> Result<()> {
    let path = store.join(NAME);
    match retry_interrupted(|| world.fs().remove_file(&path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(file_error("release", &path, error)),
        _ => retry_interrupted(|| world.fs().sync_dir(store)).map_err(|error| file_error("sync", store, error)),
    }
}
