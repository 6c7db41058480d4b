//! What a shard says of itself, in table `meta`.

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, unknown_format};
use crate::error::Result;

/// Where a shard stands, which one it is, and how many rows `users` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) seq: u64,
    pub(crate) store_id: [u8; 16],
    pub(crate) number: u32,
    pub(crate) users: UsersSum,
}

/// Count and sum of the keys of table `users`, so that none gets lost without a word. The keys are keyed hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UsersSum {
    pub(crate) count: u64,
    pub(crate) sum: u128,
}

impl UsersSum {
    pub(crate) fn add(&mut self, key: &[u8]) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(number(key));
    }

    pub(crate) fn subtract(&mut self, key: &[u8]) {
        self.count = self.count.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(number(key));
    }
}

fn number(key: &[u8]) -> u128 {
    key.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

impl Standing {
    pub(crate) fn new(seq: u64, store_id: [u8; 16], number: u32) -> Self {
        Self { seq, store_id, number, users: UsersSum::default() }
    }

    pub(crate) fn with_users(self, users: UsersSum) -> Self {
        Self { users, ..self }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(FORMAT).u64(self.seq).raw(&self.store_id).u32(self.number);
        out.u64(self.users.count).raw(&self.users.sum.to_le_bytes());
        let mut bytes = out.finish();
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote. In every format the last four bytes are the checksum of those before.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "last_seq");
        let whole = bytes.split_last_chunk().filter(|(body, sum)| crc32fast::hash(body).to_le_bytes() == **sum);
        let (body, _) = whole.ok_or_else(|| input.corrupt())?;
        match input.u8()? {
            FORMAT => {}
            other => return Err(unknown_format("last_seq", other)),
        }
        let mut input = Reader::new(body.get(1..).unwrap_or_default(), "last_seq");
        let (seq, store_id, number) = (input.u64()?, input.array()?, input.u32()?);
        let users = UsersSum { count: input.u64()?, sum: u128::from_le_bytes(input.array()?) };
        input.end()?;
        Ok(Self { seq, store_id, number, users })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_a_flip_is_damage_but_another_format_is_named() {
        let standing = Standing::new(7, [3; 16], 2).with_users(UsersSum { count: 1, sum: 5 });
        let bytes = standing.encode();
        assert_eq!(Standing::decode(&bytes).unwrap(), standing);
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert_eq!(Standing::decode(&bad).unwrap_err().kind(), crate::ErrorKind::Corrupt, "byte {at}");
            assert!(Standing::decode(&bytes[..at]).is_err());
        }
        let mut newer = bytes[..bytes.len() - 4].to_vec();
        newer[0] = 9;
        newer.extend_from_slice(&crc32fast::hash(&newer).to_le_bytes());
        assert_eq!(Standing::decode(&newer).unwrap_err().kind(), crate::ErrorKind::Unsupported);
    }
}
