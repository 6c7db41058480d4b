//! A tree of nodes at one instant. Copies share everything that neither side changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use super::op::{Entry, NodeId, NodeKind, Op};
use super::pages::PagedBytes;

const ROOT: NodeId = 0;

/// Names of a directory.
pub(super) type Names = BTreeMap<String, NodeId>;

#[derive(Debug, Clone)]
pub(super) enum Node {
    Dir(Arc<Names>),
    File { bytes: PagedBytes, private: bool },
}

#[derive(Debug, Clone)]
pub(super) struct Disk {
    nodes: Vec<Node>,
}

impl Disk {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::Dir(Arc::default())] }
    }

    /// The number that the next node gets.
    pub(super) fn next_node(&self) -> NodeId {
        self.nodes.len()
    }

    /// Makes a node without a name.
    pub(super) fn admit(&mut self, kind: NodeKind) {
        self.nodes.push(match kind {
            NodeKind::Dir => Node::Dir(Arc::default()),
            NodeKind::File { private } => Node::File { bytes: PagedBytes::default(), private },
        });
    }

    /// Carries out a change; the node of a `Create` is already admitted.
    pub(super) fn apply(&mut self, op: &Op) {
        match op {
            Op::Create { entry, node, .. } => self.link(entry, *node),
            Op::Write { node, offset, data } => self.write(*node, *offset, data.as_slice()),
            Op::SetLen { node, len } => {
                if let Some(Node::File { bytes, .. }) = self.nodes.get_mut(*node) {
                    bytes.set_len(*len);
                }
            }
            Op::Rename { from, to, node } => {
                self.unlink(from, *node);
                self.link(to, *node);
            }
            Op::Remove { entry, node } => self.unlink(entry, *node),
            Op::Sync { .. } | Op::SyncFailed { .. } | Op::SyncDir { .. } => {}
        }
    }

    pub(super) fn write(&mut self, node: NodeId, offset: u64, data: &[u8]) {
        if let Some(Node::File { bytes, .. }) = self.nodes.get_mut(node) {
            bytes.write(offset, data);
        }
    }

    fn link(&mut self, (dir, name): &Entry, node: NodeId) {
        if let Some(Node::Dir(names)) = self.nodes.get_mut(*dir) {
            Arc::make_mut(names).insert(name.clone(), node);
        }
    }

    fn unlink(&mut self, (dir, name): &Entry, node: NodeId) {
        if let Some(Node::Dir(names)) = self.nodes.get_mut(*dir)
            && names.get(name) == Some(&node)
        {
            Arc::make_mut(names).remove(name);
        }
    }

    pub(super) fn node(&self, node: NodeId) -> io::Result<&Node> {
        self.nodes.get(node).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn names(&self, node: NodeId) -> io::Result<&Arc<Names>> {
        match self.node(node)? {
            Node::Dir(names) => Ok(names),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn bytes(&self, node: NodeId) -> io::Result<&PagedBytes> {
        match self.node(node)? {
            Node::File { bytes, .. } => Ok(bytes),
            Node::Dir(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<NodeId> {
        parts(path)?.iter().try_fold(ROOT, |dir, name| {
            self.names(dir)?.get(*name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }

    /// The entry that `path` names, whether or not it is taken.
    pub(super) fn entry(&self, path: &Path) -> io::Result<Entry> {
        let name = parts(path)?.pop().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let dir = self.find(path.parent().unwrap_or(Path::new("")))?;
        self.names(dir)?;
        Ok((dir, name))
    }

    /// What has the name of `entry`.
    pub(super) fn at(&self, (dir, name): &Entry) -> io::Result<Option<NodeId>> {
        Ok(self.names(*dir)?.get(name).copied())
    }

    /// Bytes that the named files take.
    pub(super) fn allocated(&self, node: NodeId) -> u64 {
        match self.nodes.get(node) {
            Some(Node::Dir(names)) => names.values().map(|child| self.allocated(*child)).sum(),
            Some(Node::File { bytes, .. }) => bytes.allocated(),
            None => 0,
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.allocated(ROOT)
    }
}

fn parts(path: &Path) -> io::Result<Vec<&str>> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_str().ok_or(io::ErrorKind::InvalidFilename)?),
            Component::ParentDir => return Err(io::ErrorKind::InvalidInput.into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(parts)
}
