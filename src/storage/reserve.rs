//! RESERVE: room set aside, so that a forget can commit on a full disk.

use std::path::Path;

use crate::error::Result;
use crate::world::{OpenMode, World, file_error, retry_interrupted};

/// Bytes set aside.
pub(crate) const BYTES: u64 = 8 << 20;
const NAME: &str = "RESERVE";
const CHUNK_BYTES: usize = 1 << 20;

/// Writes the reserve anew. Not compressible to nothing: a sparse file would hold no room.
pub(crate) fn create(world: &World, store: &Path, bytes: u64) -> Result<()> {
    let path = store.join(NAME);
    let failed = |error| file_error("create", &path, error);
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes as usize)];
    world.fill(&mut chunk)?;
    let file = retry_interrupted(|| world.fs().open(&path, OpenMode::Create)).map_err(failed)?;
    for offset in (0..bytes).step_by(CHUNK_BYTES) {
        let len = (bytes - offset).min(CHUNK_BYTES as u64) as usize;
        retry_interrupted(|| file.write_at(offset, &chunk[..len])).map_err(failed)?;
    }
    retry_interrupted(|| file.sync_all()).map_err(failed)
}

/// Gives the room back to the file system.
pub(crate) fn release(world: &World, store: &Path) -> Result<()> {
    let path = store.join(NAME);
    match retry_interrupted(|| world.fs().remove_file(&path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(file_error("release", &path, error)),
        _ => retry_interrupted(|| world.fs().sync_dir(store)).map_err(|error| file_error("sync", store, error)),
    }
}

/// Whether the reserve is in place.
pub(crate) fn exists(world: &World, store: &Path) -> bool {
    world.fs().exists(&store.join(NAME)).unwrap_or(false)
}
