//! The one public error.

use std::error::Error as StdError;
use std::fmt;

/// The result of every fallible call in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in terms of what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The named user, memory or store does not exist: check the name, or treat it as an absence.
    NotFound,
    /// An argument breaks a stated rule or limit, which the message names: correct it. Nothing was changed.
    Invalid,
    /// What is stored contradicts the call, such as the same id with other content: read, then decide.
    Conflict,
    /// Another handle or process holds what is needed: wait and try again.
    Busy,
    /// The key or the rights do not fit: supply the right key. The data is not known to be damaged.
    Denied,
    /// The disk or the operating system failed. The outcome may be unknown: reopen and look.
    Io,
    /// Stored bytes are not what was written: run the doctor, or restore.
    Corrupt,
    /// The handle was closed, or belongs to the parent of a fork: open the store again.
    Closed,
    /// This build, store or embedder cannot do what was asked: the message says what would.
    Unsupported,
}

impl ErrorKind {
    /// The kind's name in lower case, stable across versions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::Denied => "denied",
            Self::Io => "io",
            Self::Corrupt => "corrupt",
            Self::Closed => "closed",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is said of everything that only a newer version can read: it is not damaged.
pub(crate) const NEWER: &str = "written by a newer version of mnemic";

/// An error: a [kind](ErrorKind) to act on, a message for people, and the cause where there is one.
///
/// Messages name fields, limits and files. They never hold a key, a vector or remembered text.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Attaches the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message, without the cause.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Of something that is whole, in a form that this version does not know.
    pub(crate) fn newer(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, format!("{what}, {NEWER}"))
    }

    /// Whether it is of one stored value alone, damaged or newer than this version: it is named, and the rest is served.
    pub(crate) fn is_of_a_value(&self) -> bool {
        matches!(self.kind, ErrorKind::Corrupt | ErrorKind::Unsupported)
    }

    /// The same error for a further waiter: kind and message, with the cause's text folded in.
    pub(crate) fn duplicate(&self) -> Self {
        let message = match &self.source {
            Some(cause) => format!("{}: {cause}", self.message),
            None => self.message.clone(),
        };
        Self::new(self.kind, message)
    }
}

macro_rules! constructors {
    ($($name:ident => $kind:ident),+ $(,)?) => {
        impl Error {
            $(pub(crate) fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            })+
        }
    };
}

constructors! {
    not_found => NotFound,
    invalid => Invalid,
    conflict => Conflict,
    busy => Busy,
    denied => Denied,
    io => Io,
    corrupt => Corrupt,
    closed => Closed,
    unsupported => Unsupported,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}
