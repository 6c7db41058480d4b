//! What the processes see, and the log of how it came about.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::crash::{CrashChoice, Replay};
use super::disk::{Disk, Node};
use super::fault::{Call, FaultKind, Faults, disk_full};
use super::op::{Data, NodeId, NodeKind, Op};
use super::pages::PagedBytes;
use crate::world::{FileId, Metadata, OpenMode};

#[derive(Debug)]
pub(super) struct State {
    pub(super) live: Disk,
    base: Disk,
    pub(super) log: Vec<Op>,
    replay: Replay,
    pub(super) faults: Faults,
    pub(super) locked: BTreeSet<NodeId>,
    pub(super) capacity: Option<u64>,
}

impl State {
    pub(super) fn new(disk: Disk) -> Self {
        Self {
            live: disk.clone(),
            base: disk.clone(),
            log: Vec::new(),
            replay: Replay::new(disk),
            faults: Faults::default(),
            locked: BTreeSet::new(),
            capacity: None,
        }
    }

    /// Images in the order of the log cost one step each; going back begins anew.
    pub(super) fn crash_image(&mut self, op_index: usize, choice: CrashChoice) -> Disk {
        if op_index < self.replay.position() {
            self.replay = Replay::new(self.base.clone());
        }
        self.replay.advance(&self.log, op_index);
        self.replay.image(choice)
    }

    pub(super) fn enter(&mut self, call: Call) -> io::Result<()> {
        self.faults.check(call).map_or(Ok(()), |kind| Err(kind.error()))
    }

    fn record(&mut self, op: Op) {
        if let Op::Create { kind, .. } = &op {
            self.live.admit(*kind);
        }
        self.live.apply(&op);
        self.log.push(op);
    }

    pub(super) fn create(&mut self, path: &Path, kind: NodeKind) -> io::Result<NodeId> {
        self.enter(Call::Create)?;
        let entry = self.live.entry(path)?;
        if self.live.at(&entry)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.need_room(0)?;
        let node = self.live.next_node();
        self.record(Op::Create { entry, node, kind });
        Ok(node)
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<NodeId> {
        let kind = NodeKind::File { private: mode == OpenMode::CreateNewPrivate };
        match mode {
            OpenMode::CreateNew | OpenMode::CreateNewPrivate => return self.create(path, kind),
            OpenMode::Create if self.live.at(&self.live.entry(path)?)?.is_none() => return self.create(path, kind),
            OpenMode::Create | OpenMode::Read | OpenMode::ReadWrite => {}
        }
        self.enter(Call::Look)?;
        let node = self.live.find(path)?;
        self.live.bytes(node).map(|_| node)
    }

    pub(super) fn metadata(&mut self, path: &Path) -> io::Result<Metadata> {
        self.enter(Call::Look)?;
        let node = self.live.find(path)?;
        Ok(match self.live.node(node)? {
            Node::Dir(_) => Metadata { len: 0, is_dir: true, is_private: false, id: file_id(node) },
            Node::File { bytes, private } => {
                Metadata { len: bytes.len(), is_dir: false, is_private: *private, id: file_id(node) }
            }
        })
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.enter(Call::Rename)?;
        let (from, to) = (self.live.entry(from)?, self.live.entry(to)?);
        let node = self.live.at(&from)?.ok_or(io::ErrorKind::NotFound)?;
        if let Some(replaced) = self.live.at(&to)? {
            match (self.live.node(node)?, self.live.node(replaced)?) {
                (Node::File { .. }, Node::File { .. }) => {}
                (Node::Dir(_), Node::Dir(names)) if names.is_empty() => {}
                (Node::Dir(_), Node::Dir(_)) => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
                (Node::File { .. }, Node::Dir(_)) => return Err(io::ErrorKind::IsADirectory.into()),
                (Node::Dir(_), Node::File { .. }) => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        self.record(Op::Rename { from, to, node });
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let node = self.live.find(path)?;
        self.live.bytes(node)?;
        self.remove(path)
    }

    /// The name is a file's, or an emptied directory's.
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.enter(Call::Remove)?;
        let entry = self.live.entry(path)?;
        let node = self.live.at(&entry)?.ok_or(io::ErrorKind::NotFound)?;
        self.record(Op::Remove { entry, node });
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let node = self.live.find(path)?;
        let names = self.live.names(node)?.clone();
        for (name, child) in names.iter() {
            match self.live.node(*child)? {
                Node::Dir(_) => self.remove_dir_all(&path.join(name))?,
                Node::File { .. } => self.remove(&path.join(name))?,
            }
        }
        self.remove(path)
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let node = self.live.find(path)?;
        self.live.names(node)?;
        self.enter(Call::Sync)?;
        self.record(Op::SyncDir { node });
        Ok(())
    }

    pub(super) fn write(&mut self, node: NodeId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if !offset.checked_add(bytes.len() as u64).is_some_and(PagedBytes::fits) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let growth = self.live.bytes(node)?.growth(offset, bytes.len());
        let fault = self.faults.check(Call::Write { grows: growth > 0 });
        let written = match fault {
            Some(FaultKind::ShortWrite) => bytes.len() / 2,
            Some(kind) => return Err(kind.error()),
            None => bytes.len(),
        };
        self.need_room(growth)?;
        self.record(Op::Write { node, offset, data: Data::new(&bytes[..written]) });
        fault.map_or(Ok(()), |kind| Err(kind.error()))
    }

    pub(super) fn set_len(&mut self, node: NodeId, len: u64) -> io::Result<()> {
        if !PagedBytes::fits(len) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.enter(Call::SetLen)?;
        self.record(Op::SetLen { node, len });
        Ok(())
    }

    pub(super) fn sync(&mut self, node: NodeId) -> io::Result<()> {
        match self.faults.check(Call::Sync) {
            None => {
                self.record(Op::Sync { node });
                Ok(())
            }
            Some(FaultKind::Eintr) => Err(FaultKind::Eintr.error()),
            Some(kind) => {
                self.record(Op::SyncFailed { node, seed: self.log.len() as u64 });
                Err(kind.error())
            }
        }
    }

    fn need_room(&self, growth: u64) -> io::Result<()> {
        match self.capacity {
            Some(capacity) if self.live.used() + growth > capacity => Err(disk_full()),
            _ => Ok(()),
        }
    }
}

pub(super) fn file_id(node: NodeId) -> FileId {
    FileId { device: 0, inode: node as u64 }
}
