//! Calls that fail on purpose.

use std::io;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Any call: the device failed. A sync that fails so fails as [`FailedSync`](Self::FailedSync).
    Eio,
    /// A write that needs new pages, or a new name: the disk is full.
    Enospc,
    /// A read, write or sync: interrupted by a signal. Always once.
    Eintr,
    /// A write: the first half is written, then the call fails.
    ShortWrite,
    /// A sync of a file or directory: a part of what was pending in a file is durable, the rest never will be.
    FailedSync,
    /// A rename: nothing changed.
    FailedRename,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Eio, Self::Enospc, Self::Eintr, Self::ShortWrite, Self::FailedSync, Self::FailedRename];

    fn hits(self, call: Call) -> bool {
        match self {
            Self::Eio => true,
            Self::Enospc => matches!(call, Call::Write { grows: true } | Call::Create),
            Self::Eintr => matches!(call, Call::Read | Call::Write { .. } | Call::Sync),
            Self::ShortWrite => matches!(call, Call::Write { .. }),
            Self::FailedSync => call == Call::Sync,
            Self::FailedRename => call == Call::Rename,
        }
    }

    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Eio | Self::FailedSync | Self::FailedRename => io::Error::from_raw_os_error(EIO),
            Self::Enospc => disk_full(),
            Self::Eintr => io::Error::from_raw_os_error(EINTR),
            Self::ShortWrite => io::ErrorKind::WriteZero.into(),
        }
    }
}

pub(super) fn disk_full() -> io::Error {
    io::Error::from_raw_os_error(ENOSPC)
}

/// Whether the calls after a failed one fail too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// That call alone.
    Once,
    /// That call and every later one that the kind can hit.
    Forever,
}

/// What a call is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Look,
    Read,
    Write { grows: bool },
    SetLen,
    Create,
    Rename,
    Remove,
    Sync,
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    armed: Vec<Armed>,
}

#[derive(Debug)]
struct Armed {
    n: u64,
    kind: FaultKind,
    repeat: Repeat,
    seen: u64,
}

impl Faults {
    pub(super) fn arm(&mut self, n: u64, kind: FaultKind, repeat: Repeat) {
        self.armed.push(Armed { n, kind, repeat, seen: 0 });
    }

    pub(super) fn clear(&mut self) {
        self.armed.clear();
    }

    pub(super) fn met(&self) -> usize {
        self.armed.iter().filter(|fault| fault.seen > fault.n).count()
    }

    /// How `call` fails, if it does.
    pub(super) fn check(&mut self, call: Call) -> Option<FaultKind> {
        let mut answer = None;
        for fault in self.armed.iter_mut().filter(|fault| fault.kind.hits(call)) {
            let lasts = fault.repeat == Repeat::Forever && fault.kind != FaultKind::Eintr;
            if fault.seen == fault.n || (lasts && fault.seen > fault.n) {
                answer = answer.or(Some(fault.kind));
            }
            fault.seen += 1;
        }
        answer
    }
}
