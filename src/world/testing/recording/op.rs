//! What is remembered of each change.

use std::fmt;
use std::sync::Arc;

/// A file's or directory's number; never used twice.
pub type NodeId = usize;

/// A name in a directory.
pub type Entry = (NodeId, String);

/// What a new node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A directory.
    Dir,
    /// A file.
    File {
        /// Readable by its owner alone.
        private: bool,
    },
}

/// One change, in the order in which they happened.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are the call's arguments")]
pub enum Op {
    /// A new node under a new name.
    Create { entry: Entry, node: NodeId, kind: NodeKind },
    /// Bytes written.
    Write { node: NodeId, offset: u64, data: Data },
    /// A length set.
    SetLen { node: NodeId, len: u64 },
    /// A file's contents made durable.
    Sync { node: NodeId },
    /// A sync that failed: `seed` decides which of the pending changes are durable, the rest are lost for good.
    SyncFailed { node: NodeId, seed: u64 },
    /// A new name for a node, replacing what had it.
    Rename { from: Entry, to: Entry, node: NodeId },
    /// A name taken away.
    Remove { entry: Entry, node: NodeId },
    /// A directory's names made durable.
    SyncDir { node: NodeId },
}

impl Op {
    /// The nodes that must be synced before this change is durable; none for a sync itself.
    pub(super) fn awaits(&self) -> [Option<NodeId>; 2] {
        match self {
            Self::Create { entry, .. } | Self::Remove { entry, .. } => [Some(entry.0), None],
            Self::Write { node, .. } | Self::SetLen { node, .. } => [Some(*node), None],
            Self::Rename { from, to, .. } => [Some(from.0), (to.0 != from.0).then_some(to.0)],
            Self::Sync { .. } | Self::SyncFailed { .. } | Self::SyncDir { .. } => [None, None],
        }
    }
}

/// Written bytes, shared; its `Debug` tells the length alone.
#[derive(Clone)]
pub struct Data(Arc<[u8]>);

impl Data {
    /// A shared copy of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Arc::from(bytes))
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}
