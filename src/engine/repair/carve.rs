//! Sealed values found by their magic alone, wherever they lie. Each says where it belongs, and authenticates.

use std::collections::{BTreeSet, HashMap};

use crate::codec::head::SlotRef;
use crate::codec::{Table, UserHash, frame};

/// Bytes of the clear part of a row of table `users`, before its frame.
const CLEAR_BYTES: usize = 22;

/// No shard has so many commits: a frame that says so is damaged.
const VERSION_MAX: u64 = 1 << 40;

/// A value that may belong to a user.
pub(super) struct Candidate {
    pub(super) table: Table,
    pub(super) key: Vec<u8>,
    pub(super) version: u64,
    /// Whether the shard's tree has it.
    pub(super) live: bool,
    pub(super) bytes: Vec<u8>,
}

/// What was found in files.
#[derive(Default)]
pub(super) struct Carved {
    values: HashMap<UserHash, Vec<Candidate>>,
    /// Heads by the slot that stands before them.
    heads: HashMap<u32, Vec<Candidate>>,
    /// The newest commit that any of them is of.
    pub(super) newest: u64,
}

impl Carved {
    /// The values of these users in `files`, up to the commit `limit`: what is newer was never acknowledged.
    pub(super) fn of(files: &[Vec<u8>], users: &BTreeSet<UserHash>, limit: Option<u64>) -> Self {
        let mut carved = Self::default();
        for bytes in files {
            for at in starts(bytes) {
                carved.take(bytes, at, users, limit);
            }
        }
        carved
    }

    fn take(&mut self, bytes: &[u8], at: usize, users: &BTreeSet<UserHash>, limit: Option<u64>) {
        let Some(rest) = bytes.get(at..) else { return };
        let Some((table, key, found)) = frame::carve(rest) else { return };
        if limit.is_some_and(|limit| found.version > limit) {
            return;
        }
        let len = frame::whole_len(key.len(), found.body.len());
        let Some(whole) = rest.get(..len) else { return };
        let make =
            || Candidate { table, key: key.to_vec(), version: found.version, live: false, bytes: whole.to_vec() };
        if table == Table::Users {
            let clear = at.checked_sub(CLEAR_BYTES).and_then(|from| bytes.get(from..at + len));
            if let Some((slot, _)) = clear.and_then(|row| SlotRef::decode(row).ok()) {
                self.heads.entry(slot.slot).or_default().push(make());
            }
            return;
        }
        let Some(user) = key.first_chunk().map(|hash| UserHash(*hash)).filter(|user| users.contains(user)) else {
            return;
        };
        if found.version < VERSION_MAX {
            self.newest = self.newest.max(found.version);
        }
        self.values.entry(user).or_default().push(make());
    }

    pub(super) fn values(&self, user: UserHash) -> impl Iterator<Item = &Candidate> {
        self.values.get(&user).into_iter().flatten()
    }

    pub(super) fn heads(&self, slot: u32) -> impl Iterator<Item = &Candidate> {
        self.heads.get(&slot).into_iter().flatten()
    }
}

fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.windows(4).enumerate().filter(|(_, window)| window.starts_with(b"MNF")).map(|(at, _)| at)
}
