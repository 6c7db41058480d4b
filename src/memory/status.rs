use crate::memory::named::named_enum;
use crate::memory::{MemoryId, Timestamp};

named_enum! {
    /// The state of a memory without its particulars, as filters name it.
    StatusKind, "status" {
        /// In use.
        Active = 0, "active";
        /// Suspected, waiting for evidence.
        Candidate = 1, "candidate";
        /// Replaced by a newer memory, and kept.
        Superseded = 2, "superseded";
        /// Gone cold, and kept.
        Archived = 3, "archived";
    }
}

named_enum! {
    /// Why a memory was superseded.
    SupersedeReason, "reason" {
        /// The user corrected it.
        Corrected = 0, "corrected";
        /// A newer value of the same slot.
        NewerValue = 1, "newer value";
        /// Merged with a duplicate.
        Merged = 2, "merged";
    }
}

named_enum! {
    /// Why a memory was archived.
    ArchiveReason, "reason" {
        /// Not used for long.
        Cold = 0, "cold";
        /// Its time of validity is over.
        Expired = 1, "expired";
        /// The caller asked for it.
        Requested = 2, "requested";
    }
}

/// The state of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// In use: what recall sees by default.
    Active,
    /// Suspected, waiting for evidence.
    Candidate,
    /// Replaced, and kept for history.
    Superseded {
        /// The memory that replaced it; `None` once that one was forgotten.
        by: Option<MemoryId>,
        /// Why.
        reason: SupersedeReason,
    },
    /// Gone cold, and kept.
    Archived {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: ArchiveReason,
    },
}

impl Status {
    /// The state without its particulars.
    pub const fn kind(&self) -> StatusKind {
        match self {
            Self::Active => StatusKind::Active,
            Self::Candidate => StatusKind::Candidate,
            Self::Superseded { .. } => StatusKind::Superseded,
            Self::Archived { .. } => StatusKind::Archived,
        }
    }
}
