//! Why a command failed, and the exit code that says so.

use std::fmt;

use mnemic::ErrorKind;

/// The result of a command's parts.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    NothingFound,
    /// Reported already: some of it was refused, at first for this reason.
    Refused(ErrorKind),
}

impl Outcome {
    pub(crate) fn of_count(count: usize) -> Self {
        if count == 0 { Self::NothingFound } else { Self::Done }
    }

    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NothingFound => 1,
            Self::Refused(kind) => exit_code(kind),
        }
    }
}

/// One line for people, a kind for programs.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: ErrorKind,
    message: String,
    unheard: bool,
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), unheard: false }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// A file that could not be read or written.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{}: {error}", path.display()))
    }

    /// The reader of stdout went away: there is nobody to tell.
    pub(crate) fn is_unheard(&self) -> bool {
        self.unheard
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind.as_str()
    }

    pub(crate) fn exit_code(&self) -> u8 {
        exit_code(self.kind)
    }
}

fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::NotFound => 1,
        ErrorKind::Invalid => 2,
        ErrorKind::Conflict | ErrorKind::Busy | ErrorKind::Denied | ErrorKind::Unsupported => 3,
        ErrorKind::Corrupt => 4,
        _ => 5,
    }
}

impl fmt::Display for Failure {
    /// One line, whatever the message holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl From<mnemic::Error> for Failure {
    fn from(error: mnemic::Error) -> Self {
        let source = std::error::Error::source(&error);
        let io = source.and_then(|cause| cause.downcast_ref::<std::io::Error>());
        let unheard = io.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe);
        let cause = source.map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { unheard, ..Self::new(error.kind(), format!("{error}{cause}")) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let unheard = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { unheard, ..Self::new(ErrorKind::Io, error.to_string()) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() {
            return std::io::Error::from(error).into();
        }
        Self::new(ErrorKind::Invalid, error.to_string())
    }
}
