//! The value of table `users`: in clear where the keys are, sealed what is known of the user.

use crate::codec::bytes::{Reader, Writer};
use crate::codec::measured::Measured;
use crate::error::{Error, Result};
use crate::memory::UserId;

const VERSION: u8 = 1;
/// The one flag of a user: nothing new is remembered.
const PAUSED: u8 = 1;
/// Rows of a block, and of a chunk key.
pub(crate) const BLOCK_ROWS: u32 = 256;

/// The clear part: which slot of the keyring holds the keys of the user, and of which life and epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotRef {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    pub(crate) epoch: u64,
    /// The user of this generation was forgotten; nothing sealed follows.
    pub(crate) erased: bool,
}

impl SlotRef {
    pub(crate) fn encode(&self, sealed: &[u8]) -> Vec<u8> {
        let mut out = Writer::with_capacity(22 + sealed.len());
        out.u8(VERSION).u8(u8::from(self.erased)).u32(self.slot).u32(self.generation).u64(self.epoch).block(sealed);
        out.finish()
    }

    /// The clear part and the sealed head behind it.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let mut input = Reader::new(bytes, "users");
        let (version, erased) = (input.u8()?, input.u8()?);
        let (slot, generation, epoch) = (input.u32()?, input.u32()?, input.u64()?);
        let sealed = input.block()?;
        input.end()?;
        if version != VERSION || erased > 1 || (erased == 1) != sealed.is_empty() {
            return Err(input.corrupt());
        }
        Ok((Self { slot, generation, epoch, erased: erased == 1 }, sealed))
    }
}

/// Count and sum mod 2^256 of the keyed hashes of a set of values: what is missing, extra or stale changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Digest {
    pub(crate) count: u64,
    sum: [u64; 4],
}

impl Digest {
    pub(crate) fn add(&mut self, term: &[u8; 32]) {
        self.count = self.count.wrapping_add(1);
        let mut carry = false;
        for (limb, part) in self.sum.iter_mut().zip(limbs(term)) {
            let (sum, over) = limb.overflowing_add(part);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, over | again);
        }
    }

    /// The sum, lowest 64 bits first.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn sum(&self) -> [u64; 4] {
        self.sum
    }

    pub(crate) fn subtract(&mut self, term: &[u8; 32]) {
        self.count = self.count.wrapping_sub(1);
        let mut borrow = false;
        for (limb, part) in self.sum.iter_mut().zip(limbs(term)) {
            let (sum, under) = limb.overflowing_sub(part);
            let (sum, again) = sum.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (sum, under | again);
        }
    }
}

fn limbs(term: &[u8; 32]) -> impl Iterator<Item = u64> {
    term.chunks_exact(8).map(|b| u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

/// The sealed part.
#[derive(Debug, Clone)]
pub(crate) struct UserFacts {
    pub(crate) user_id: UserId,
    /// The number of the next row.
    pub(crate) next_row: u32,
    /// The number of the next log entry.
    pub(crate) next_log: u64,
    /// The number of the next trace.
    pub(crate) next_trace: u64,
    /// Which analyser made the terms of all rows; where it is another than today's, they are to be made anew.
    pub(crate) analyser: u32,
    /// Memories that live.
    pub(crate) live: u32,
    /// Log entries that hold images of rows.
    pub(crate) log_images: u64,
    /// Records that name others: derived from, superseding, superseded.
    pub(crate) linked: u32,
    /// Nothing new is remembered while set.
    pub(crate) paused: bool,
    /// Blocks of 256 rows that are built; the rows behind them are the tail.
    pub(crate) closed_blocks: u32,
    /// By [`Digested`](crate::codec::table::Digested).
    pub(crate) digests: [Digest; 3],
    /// What approximate answers have measured, once there were any.
    pub(crate) measured: Option<Measured>,
}

impl UserFacts {
    /// Rows in blocks that are built.
    pub(crate) fn closed_rows(&self) -> u64 {
        u64::from(self.closed_blocks) * u64::from(BLOCK_ROWS)
    }

    pub(crate) fn new(user_id: UserId) -> Self {
        let digests = [Digest::default(); 3];
        Self {
            user_id,
            next_row: 0,
            next_log: 0,
            next_trace: 0,
            analyser: 0,
            live: 0,
            log_images: 0,
            linked: 0,
            paused: false,
            closed_blocks: 0,
            digests,
            measured: None,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(128 + self.user_id.as_str().len());
        out.u8(VERSION).block(self.user_id.as_str().as_bytes());
        out.u32(self.next_row)
            .u64(self.next_log)
            .u64(self.next_trace)
            .u32(self.analyser)
            .u32(self.live)
            .u64(self.log_images)
            .u32(self.linked);
        out.u8(if self.paused { PAUSED } else { 0 }).u32(self.closed_blocks);
        for digest in &self.digests {
            out.u64(digest.count);
            digest.sum.iter().for_each(|limb| _ = out.u64(*limb));
        }
        out.block(&self.measured.map(Measured::encode).unwrap_or_default());
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "users");
        input.version(VERSION)?;
        let user_id = UserId::new(&input.text()?).map_err(|_| Error::corrupt("users: malformed user id"))?;
        let mut facts = Self::new(user_id);
        (facts.next_row, facts.next_log, facts.next_trace) = (input.u32()?, input.u64()?, input.u64()?);
        facts.analyser = input.u32()?;
        (facts.live, facts.log_images, facts.linked) = (input.u32()?, input.u64()?, input.u32()?);
        facts.paused = match input.u8()? {
            flags @ 0..=PAUSED => flags == PAUSED,
            flags => return Err(input.newer("flags", flags)),
        };
        facts.closed_blocks = input.u32()?;
        for digest in &mut facts.digests {
            digest.count = input.u64()?;
            for limb in &mut digest.sum {
                *limb = input.u64()?;
            }
        }
        facts.measured = Measured::decode(input.block()?)?;
        input.end()?;
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_forgets_order_and_undoes() {
        let terms: Vec<[u8; 32]> = (0..9u8).map(|i| [i.wrapping_mul(83) ^ 0xf0; 32]).collect();
        let (mut forward, mut backward) = (Digest::default(), Digest::default());
        terms.iter().for_each(|term| forward.add(term));
        terms.iter().rev().for_each(|term| backward.add(term));
        assert_eq!(forward, backward);
        terms.iter().for_each(|term| forward.subtract(term));
        assert_eq!(forward, Digest::default());
    }
}
