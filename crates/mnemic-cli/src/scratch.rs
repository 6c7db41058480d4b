//! A directory that goes away again.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::{Failure, Result};

const ATTEMPTS: u128 = 100;

/// A new directory of this process, removed with everything in it when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(purpose: &str) -> Result<Self> {
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        for attempt in 0..ATTEMPTS {
            let name = format!("mnemic-{purpose}-{}-{:x}", std::process::id(), stamp + attempt);
            let path = std::env::temp_dir().join(name);
            match create_private(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::file(&path, &error)),
            }
        }
        Err(Failure::new(mnemic::ErrorKind::Io, "no free name for a temporary directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes it now, and says whether that worked.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_dir_all(&self.0).map_err(|error| Failure::file(&self.0, &error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A directory for its owner alone.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
