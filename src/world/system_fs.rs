//! The operating system's files.
#![expect(clippy::disallowed_methods, reason = "this is the door to files")]

#[cfg(not(unix))]
compile_error!("mnemic needs a Unix system: its files are addressed by offset and inode");

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::fs::{File, FileId, FileSystem, Metadata, OpenMode};

const PRIVATE: u32 = 0o600;
const OTHERS: u32 = 0o077;

/// The operating system's file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemFs;

impl FileSystem for SystemFs {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(dir)?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let found = fs::metadata(path)?;
        let (is_dir, is_private) = (found.is_dir(), found.mode() & OTHERS == 0);
        Ok(Metadata { len: found.len(), is_dir, is_private, id: identity(&found) })
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(mode != OpenMode::Read);
        match mode {
            OpenMode::Read | OpenMode::ReadWrite => &mut options,
            OpenMode::CreateNew => options.create_new(true),
            OpenMode::CreateNewPrivate => options.create_new(true).mode(PRIVATE),
            OpenMode::Create => options.create(true).truncate(false),
        };
        Ok(Box::new(SystemFile { file: options.open(path)?, lock_owner: None }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn File>>> {
        let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(SystemFile { file, lock_owner: Some(std::process::id()) }))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(cause)) => Err(cause),
        }
    }
}

fn identity(found: &fs::Metadata) -> FileId {
    FileId { device: found.dev(), inode: found.ino() }
}

#[derive(Debug)]
struct SystemFile {
    file: fs::File,
    /// The process that locked the file through this handle.
    lock_owner: Option<u32>,
}

impl File for SystemFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn id(&self) -> io::Result<FileId> {
        Ok(identity(&self.file.metadata()?))
    }
}

impl Drop for SystemFile {
    fn drop(&mut self) {
        // The lock is on the open file, which a forked child shares: an unlock in the child would
        // take the lock from its parent, and without one here a living child would keep it.
        if self.lock_owner == Some(std::process::id()) {
            self.file.unlock().ok();
        }
    }
}

#[cfg(test)]
mod tests;
