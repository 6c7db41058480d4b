//! What the library asks of a file system. Object-safe; errors are the system's own.

use std::fmt;
use std::io;
use std::path::Path;

/// A tree of directories and files.
///
/// Nothing is durable before it is synced: bytes by [`File::sync`], names by
/// [`sync_dir`](Self::sync_dir) of the directory that holds them. Any call may answer
/// [`io::ErrorKind::Interrupted`]; [`retry_interrupted`](super::retry_interrupted) repeats it.
#[cfg_attr(
    feature = "testing",
    expect(clippy::missing_errors_doc, reason = "every call fails as the operating system's call does")
)]
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// Makes a directory; `AlreadyExists` where the name is taken.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory and its missing parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Whether a file or directory has this name.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// Facts about what has this name.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn File>>;

    /// Renames, replacing a file that has the new name, at once or not at all.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Takes a file's name away. Its open handles still work.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory and all below it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Opens or makes a file and locks it against every other handle, here and in other processes.
    ///
    /// The returned file is the lock's guard: dropping it unlocks, except in a forked child, whose
    /// parent keeps the lock. `None`: another handle holds the lock.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn File>>>;
}

/// An open file. Positions are explicit, so handles can be shared by threads.
#[cfg_attr(
    feature = "testing",
    expect(clippy::missing_errors_doc, reason = "every call fails as the operating system's call does")
)]
#[cfg_attr(feature = "testing", expect(clippy::len_without_is_empty, reason = "a file is not a collection"))]
pub trait File: Send + Sync + fmt::Debug {
    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Cuts the file, or extends it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Fills `buffer` from `offset`; `UnexpectedEof` where the file ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`. After an error any part of it may be written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes contents and length durable.
    ///
    /// After an error nothing is known of the writes since the last success, and a second sync
    /// proves nothing about them: the system may have dropped them.
    fn sync(&self) -> io::Result<()>;

    /// Makes contents and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;

    /// Which file this is, whatever its name is by now.
    fn id(&self) -> io::Result<FileId>;
}

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, to read.
    Read,
    /// An existing file, to read and write.
    ReadWrite,
    /// A new file, to read and write; `AlreadyExists` where the name is taken.
    CreateNew,
    /// Like [`CreateNew`](Self::CreateNew), readable by its owner alone (0600) from the start.
    CreateNewPrivate,
    /// An existing or a new file, to read and write; existing bytes stay.
    Create,
}

/// A file's identity: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
}

/// Facts about a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// The length in bytes.
    pub len: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Whether only its owner has any right to it.
    pub is_private: bool,
    /// Which file it is.
    pub id: FileId,
}
