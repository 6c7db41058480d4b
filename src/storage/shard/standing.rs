use std::ops::ControlFlow;

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, Table};
use crate::error::{Error, Result};
use crate::storage::ReadView;

pub(super) const LAST_SEQ: &[u8] = b"last_seq";

/// What a shard says of itself, in table `meta`: where it stands, which one it is, and how many rows `users` has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub(super) seq: u64,
    store_id: [u8; 16],
    number: u32,
    pub(super) users: UsersSum,
}

/// Count and sum of the keys of table `users`, so that none gets lost without a word. The keys are keyed hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct UsersSum {
    count: u64,
    sum: u128,
}

impl UsersSum {
    pub(super) fn add(&mut self, key: &[u8]) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(number(key));
    }

    pub(super) fn subtract(&mut self, key: &[u8]) {
        self.count = self.count.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(number(key));
    }
}

fn number(key: &[u8]) -> u128 {
    key.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

impl Standing {
    pub(super) fn new(seq: u64, store_id: [u8; 16], number: u32) -> Self {
        Self { seq, store_id, number, users: UsersSum::default() }
    }

    /// What the file says, which must be that of this shard.
    pub(super) fn of(view: &ReadView, store_id: [u8; 16], number: u32) -> Result<Self> {
        let found = view.get_with(Table::Meta, LAST_SEQ, Self::decode)?;
        let found = found.ok_or_else(|| Error::corrupt(format!("shard {number:02}: last_seq is missing")))?;
        if (found.store_id, found.number) != (store_id, number) {
            return Err(Error::corrupt(format!("shard {number:02}: the file is that of another shard")));
        }
        Ok(found)
    }

    /// Checks that each row is there, and that whoever asks for it by its key finds it: an older page inside the tree
    /// can lead elsewhere.
    pub(super) fn check_users(&self, view: &ReadView, shard: u32) -> Result<u64> {
        let (mut found, mut all_met) = (UsersSum::default(), true);
        view.scan_from(Table::Users, &[], |key, _| {
            found.add(key);
            all_met &= view.get_with(Table::Users, key, |_| Ok(()))?.is_some();
            Ok(ControlFlow::Continue(()))
        })?;
        if !all_met {
            return Err(Error::corrupt(format!("shard {shard:02}: the tree of table users leads astray")));
        }
        if found == self.users {
            return Ok(found.count);
        }
        let (found, expected) = (found.count, self.users.count);
        Err(Error::corrupt(format!("shard {shard:02}: users are missing or extra ({found}, not {expected})")))
    }

    pub(super) fn with_users(self, users: UsersSum) -> Self {
        Self { users, ..self }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(FORMAT).u64(self.seq).raw(&self.store_id).u32(self.number);
        out.u64(self.users.count).raw(&self.users.sum.to_le_bytes());
        let mut bytes = out.finish();
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "last_seq");
        let (format, seq, store_id, number) = (input.u8()?, input.u64()?, input.array()?, input.u32()?);
        let users = UsersSum { count: input.u64()?, sum: u128::from_le_bytes(input.array()?) };
        let sum = input.u32()?;
        let whole = bytes.len().checked_sub(4).and_then(|end| bytes.get(..end)).map(crc32fast::hash) == Some(sum);
        input.end()?;
        if whole && format == FORMAT { Ok(Self { seq, store_id, number, users }) } else { Err(input.corrupt()) }
    }
}
