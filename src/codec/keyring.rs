//! The KEYRING: a header in two copies, then slots in two copies that lie in different 4 KiB pages.
//!
//! ```text
//! page 0        header, copy A
//! page 1        header, copy B
//! page 2        intents: what was begun in each shard, 64 bytes each
//! page 3        zeros
//! page 4 + 2i   slots 16 i .. 16 i + 15, copy A, 256 bytes each
//! page 5 + 2i   the same slots, copy B
//! ```

use crate::codec::bytes::{Reader, Writer};
use crate::codec::{FORMAT, UserHash, unknown_format};
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"MNEMIC\0K";
/// Bytes of a page, and of one copy of the header.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Bytes of one copy of a slot.
pub(crate) const SLOT_BYTES: usize = 256;
/// The first page of slots.
const SLOT_PAGE: u64 = 4;
/// Slots of a page.
pub(crate) const SLOTS_PER_PAGE: u32 = PAGE_BYTES as u32 / SLOT_BYTES as u32;
/// Bytes of a wrapped key: nonce, key, tag.
pub(crate) const WRAPPED_BYTES: usize = 24 + 32 + 16;

/// A key sealed under another.
pub(crate) type Wrapped = [u8; WRAPPED_BYTES];

/// How the master key is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MasterKind {
    /// Read from a file beside the store.
    LocalFile,
    /// Argon2id of a passphrase.
    Passphrase { salt: [u8; 16], memory_kib: u32, passes: u32, lanes: u32 },
    /// Given by the caller.
    Callback,
}

/// The header of the keyring.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) suite: u8,
    pub(crate) store_id: [u8; 16],
    pub(crate) master: MasterKind,
    /// A keyed hash by which a wrong master key is told from damage.
    pub(crate) check: [u8; 32],
    pub(crate) root_key: Wrapped,
    pub(crate) store_secret: Wrapped,
    /// `last_seq` of each shard at the last clean close.
    pub(crate) clean: Vec<u64>,
}

impl Header {
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut body = Writer::default();
        body.u8(self.suite).raw(&self.store_id);
        match self.master {
            MasterKind::LocalFile => _ = body.u8(0),
            MasterKind::Callback => _ = body.u8(1),
            MasterKind::Passphrase { salt, memory_kib, passes, lanes } => {
                body.u8(2).raw(&salt).u32(memory_kib).u32(passes).u32(lanes);
            }
        }
        body.raw(&self.check).raw(&self.root_key).raw(&self.store_secret).u32(self.clean.len() as u32);
        self.clean.iter().for_each(|seq| _ = body.u64(*seq));
        let body = body.finish();
        let mut out = Writer::with_capacity(PAGE_BYTES as usize);
        out.raw(MAGIC).u8(FORMAT).block(&body).u32(crc32fast::hash(&body));
        let mut page = out.finish();
        if page.len() > PAGE_BYTES as usize {
            return Err(Error::unsupported("KEYRING: header over one page"));
        }
        page.resize(PAGE_BYTES as usize, 0);
        Ok(page)
    }

    pub(crate) fn decode(page: &[u8]) -> Result<Self> {
        let mut input = Reader::new(page, "KEYRING header");
        if input.array::<8>()? != *MAGIC {
            return Err(input.corrupt());
        }
        let format = input.u8()?;
        if format != FORMAT {
            return Err(unknown_format("KEYRING", format));
        }
        let body = input.block()?;
        if input.u32()? != crc32fast::hash(body) {
            return Err(input.corrupt());
        }
        Self::decode_body(&mut Reader::new(body, "KEYRING header"))
    }

    fn decode_body(input: &mut Reader<'_>) -> Result<Self> {
        let (suite, store_id) = (input.u8()?, input.array()?);
        let master = match input.u8()? {
            0 => MasterKind::LocalFile,
            1 => MasterKind::Callback,
            2 => MasterKind::Passphrase {
                salt: input.array()?,
                memory_kib: input.u32()?,
                passes: input.u32()?,
                lanes: input.u32()?,
            },
            other => return Err(input.newer("master key of kind", other)),
        };
        let (check, root_key, store_secret) = (input.array()?, input.array()?, input.array()?);
        let clean = (0..input.count(8)?).map(|_| input.u64()).collect::<Result<_>>()?;
        input.end()?;
        Ok(Self { suite, store_id, master, check, root_key, store_secret, clean })
    }
}

/// Whether a slot holds the keys of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
    /// It does.
    Live,
    /// It did; the keys are zeros and the user is forgotten.
    Erased,
}

/// One copy of a slot.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) user: UserHash,
    pub(crate) generation: u32,
    pub(crate) epoch: u64,
    pub(crate) state: SlotState,
    pub(crate) user_key: Wrapped,
    pub(crate) tombstone_key: Wrapped,
    pub(crate) erased_at: i64,
}

impl Slot {
    /// The slot without its tag.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(SLOT_BYTES);
        out.u8(FORMAT).u8(u8::from(self.state == SlotState::Erased)).raw(&self.user.0).u32(self.generation);
        out.u64(self.epoch).raw(&self.user_key).raw(&self.tombstone_key).i64(self.erased_at);
        out.finish()
    }

    /// Reads a slot; what lies behind it is its tag.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, [u8; 32])> {
        let mut input = Reader::new(bytes, "KEYRING slot");
        let (format, state) = (input.u8()?, input.u8()?);
        let (user, generation, epoch) = (UserHash(input.array()?), input.u32()?, input.u64()?);
        let (user_key, tombstone_key, erased_at) = (input.array()?, input.array()?, input.i64()?);
        let tag = input.array()?;
        let state = match state {
            0 => SlotState::Live,
            1 => SlotState::Erased,
            _ => return Err(input.corrupt()),
        };
        if format != FORMAT {
            return Err(input.corrupt());
        }
        Ok((Self { user, generation, epoch, state, user_key, tombstone_key, erased_at }, tag))
    }
}

/// Bytes of one intent.
pub(crate) const INTENT_BYTES: usize = 64;
/// Bytes before its tag.
const INTENT_BODY_BYTES: usize = 17;

/// Where the intent of a shard lies in the file.
pub(crate) fn intent_offset(shard: u32) -> u64 {
    2 * PAGE_BYTES + u64::from(shard) * INTENT_BYTES as u64
}

const FORGETTING: u8 = 1;

/// A forgetting that was begun: what an open has to finish or to undo, whether or not the user is ever asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Intent {
    pub(crate) user: UserHash,
}

impl Intent {
    /// The intent without its tag.
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Writer::with_capacity(INTENT_BYTES);
        out.u8(FORGETTING).raw(&self.user.0);
        out.finish()
    }

    /// Reads an intent and its tag, if `fits` says that the tag is that of the bytes before it; `None` where there is none.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a newer version began something else.
    pub(crate) fn decode(bytes: &[u8], fits: impl Fn(&[u8], &[u8; 32]) -> bool) -> Result<Option<(Self, [u8; 32])>> {
        let mut input = Reader::new(bytes, "KEYRING intent");
        let (kind, user, tag) = (input.u8()?, UserHash(input.array()?), input.array()?);
        let intent = Self { user };
        match bytes.get(..INTENT_BODY_BYTES).filter(|body| fits(body, &tag)) {
            None => Ok(None),
            Some(_) if kind != FORGETTING => Err(input.newer("kind", kind)),
            Some(_) => Ok(Some((intent, tag))),
        }
    }
}

/// Which of the two copies of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copy {
    /// Written first.
    A,
    /// Written second.
    B,
}

/// Where a copy of a slot lies in the file.
pub(crate) fn slot_offset(slot: u32, copy: Copy) -> u64 {
    let page = SLOT_PAGE + 2 * u64::from(slot / SLOTS_PER_PAGE) + u64::from(copy == Copy::B);
    page * PAGE_BYTES + u64::from(slot % SLOTS_PER_PAGE) * SLOT_BYTES as u64
}

/// How many slots a file of this length has room for.
pub(crate) fn slots_in(len: u64) -> u32 {
    let pairs = (len / PAGE_BYTES).saturating_sub(SLOT_PAGE) / 2;
    u32::try_from(pairs).unwrap_or(u32::MAX).saturating_mul(SLOTS_PER_PAGE)
}

/// The length of a file with room for so many slots.
pub(crate) fn len_for(slots: u32) -> u64 {
    (SLOT_PAGE + 2 * u64::from(slots.div_ceil(SLOTS_PER_PAGE))) * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_never_share_a_page_and_slots_never_overlap() {
        let mut seen = std::collections::BTreeSet::new();
        for slot in 0..100 {
            let (a, b) = (slot_offset(slot, Copy::A), slot_offset(slot, Copy::B));
            assert_ne!(a / PAGE_BYTES, b / PAGE_BYTES);
            assert!(seen.insert(a) && seen.insert(b));
            assert!(a >= SLOT_PAGE * PAGE_BYTES && b + SLOT_BYTES as u64 <= len_for(slot + 1));
            assert!(slots_in(len_for(slot + 1)) > slot);
        }
    }
}
