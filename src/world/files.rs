//! Whole small files on top of [`FileSystem`].

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::fs::{File, FileSystem, OpenMode};
use crate::error::{Error, Result};

/// Calls until the answer is not [`io::ErrorKind::Interrupted`].
///
/// # Errors
///
/// The first other error.
pub fn retry_interrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// The crate's error for a failed call on `path`. Only the file's name is told, not where it lies.
pub fn file_error(doing: &str, path: &Path, cause: io::Error) -> Error {
    let message = format!("cannot {doing} {}", name_of(path));
    let error = match cause.kind() {
        io::ErrorKind::PermissionDenied => Error::denied(message),
        io::ErrorKind::WouldBlock => Error::busy(message),
        _ => Error::io(message),
    };
    error.with_source(cause)
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

/// Reads a whole file of at most `cap` bytes; `None` where there is no such file.
///
/// # Errors
///
/// `Corrupt`: the file is longer than `cap`, or changed its length meanwhile. `Denied`, `Io`: the
/// operating system refused.
pub fn read_to_vec(fs: &dyn FileSystem, path: &Path, cap: usize) -> Result<Option<Vec<u8>>> {
    let file = match retry_interrupted(|| fs.open(path, OpenMode::Read)) {
        Ok(file) => file,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(file_error("open", path, cause)),
    };
    let len = retry_interrupted(|| file.len()).map_err(|cause| file_error("read", path, cause))?;
    if len > cap as u64 {
        return Err(Error::corrupt(format!("{} has {len} bytes, at most {cap} are possible", name_of(path))));
    }
    let mut bytes = vec![0; len as usize];
    match retry_interrupted(|| file.read_at(0, &mut bytes)) {
        Ok(()) => Ok(Some(bytes)),
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
            Err(Error::corrupt(format!("{} shrank while it was read", name_of(path))).with_source(cause))
        }
        Err(cause) => Err(file_error("read", path, cause)),
    }
}

/// Puts `bytes` under the name `path`, replacing a file there, at once or not at all, and durably.
///
/// The bytes are written and synced under `path` + `.tmp` with rights for the owner alone, renamed,
/// and the directory is synced. A leftover of an interrupted call is replaced.
///
/// # Errors
///
/// `Denied`, `Io`: the operating system refused. The old or the new file has the name, and which one
/// outlives a power cut is unknown.
pub fn write_new_durable(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let renamed =
        write_temporary(fs, &temporary, bytes).and_then(|()| retry_interrupted(|| fs.rename(&temporary, path)));
    if renamed.is_err() {
        // A full disk should not stay fuller than it was; if this fails too, the next call replaces it.
        fs.remove_file(&temporary).ok();
    }
    sabotage!(11, return renamed.map_err(|cause| file_error("write", path, cause)));
    renamed
        .and_then(|()| retry_interrupted(|| fs.sync_dir(parent(path))))
        .map_err(|cause| file_error("write", path, cause))
}

fn write_temporary(fs: &dyn FileSystem, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    match retry_interrupted(|| fs.remove_file(temporary)) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let file = retry_interrupted(|| fs.open(temporary, OpenMode::CreateNewPrivate))?;
    retry_interrupted(|| file.write_at(0, bytes))?;
    retry_interrupted(|| file.sync_all())
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    PathBuf::from(name)
}

/// The directory that holds `path`; `.` for a bare name.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `file` is still what has the name `path`: not unlinked, not replaced.
///
/// # Errors
///
/// `Denied`, `Io`: the operating system refused.
pub fn is_same_file(fs: &dyn FileSystem, path: &Path, file: &dyn File) -> Result<bool> {
    let open = retry_interrupted(|| file.id()).map_err(|cause| file_error("look at", path, cause))?;
    match retry_interrupted(|| fs.metadata(path)) {
        Ok(found) => Ok(found.id == open),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(file_error("look at", path, cause)),
    }
}

#[cfg(test)]
mod tests;
