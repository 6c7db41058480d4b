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
pub enum Op {
    /// A new node under a new name.
    Create {
        /// The name.
        entry: Entry,
        /// The node.
        node: NodeId,
        /// What it is.
        kind: NodeKind,
    },
    /// Bytes written.
    Write {
        /// The file.
        node: NodeId,
        /// Where.
        offset: u64,
        /// What.
        data: Data,
    },
    /// A length set.
    SetLen {
        /// The file.
        node: NodeId,
        /// The new length.
        len: u64,
    },
    /// A file's contents made durable.
    Sync {
        /// The file.
        node: NodeId,
    },
    /// A sync that failed: a part of the pending changes is durable, the rest is lost for good.
    SyncFailed {
        /// The file.
        node: NodeId,
        /// Decides which part.
        seed: u64,
    },
    /// A new name for a node, replacing what had it.
    Rename {
        /// The old name.
        from: Entry,
        /// The new name.
        to: Entry,
        /// What is renamed.
        node: NodeId,
    },
    /// A name taken away.
    Remove {
        /// The name.
        entry: Entry,
        /// What had it.
        node: NodeId,
    },
    /// A directory's names made durable.
    SyncDir {
        /// The directory.
        node: NodeId,
    },
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
