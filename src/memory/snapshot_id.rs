use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::memory::MemoryId;

/// The id of a snapshot, shown as a UUID; later ones are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId(MemoryId);

impl SnapshotId {
    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(MemoryId::from_bytes(bytes))
    }

    /// The 16 bytes, in the order in which they are shown.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotId({self})")
    }
}

impl FromStr for SnapshotId {
    type Err = Error;

    /// Reads a UUID, as it was shown.
    fn from_str(text: &str) -> Result<Self> {
        let id: MemoryId = text.parse().map_err(|_| Error::invalid("snapshot: not a UUID (32 hexadecimal digits)"))?;
        Ok(Self(id))
    }
}
