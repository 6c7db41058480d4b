//! redb's errors and panics, in our terms.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// The error of a call on a shard.
pub(crate) fn shard_error(shard: u32, cause: impl Into<redb::Error>) -> Error {
    let cause = cause.into();
    let name = format!("shard {shard:02}");
    match &cause {
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Error::corrupt(format!("{name}: the file is cut short")).with_source(cause)
        }
        // What redb says of a file that is none of its own.
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Error::corrupt(format!("{name}: not a shard's file")).with_source(cause)
        }
        redb::Error::Io(error) if is_full(error) => Error::io(format!("{name}: the disk is full")).with_source(cause),
        redb::Error::Io(_) | redb::Error::PreviousIo => {
            Error::io(format!("{name}: the disk failed")).with_source(cause)
        }
        redb::Error::DatabaseClosed => Error::closed(format!("{name}: closed")),
        redb::Error::UpgradeRequired(version) => {
            Error::corrupt(format!("{name}: a file of redb's format {version}, which no version of mnemic writes"))
        }
        _ => Error::corrupt(format!("{name}: damaged")).with_source(cause),
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// Runs a call into redb; a panic in it, which damaged pages can cause, becomes `Corrupt`.
pub(crate) fn contained<T>(shard: u32, call: impl FnOnce() -> Result<T>) -> Result<T> {
    sabotage!(21, return call());
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(damaged(shard)))
}

/// What is said of a shard whose own pages are damaged.
pub(crate) fn damaged(shard: u32) -> Error {
    Error::corrupt(format!("shard {shard:02}: damaged pages; run `mnemic doctor --repair`"))
}
