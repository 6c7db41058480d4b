mod header;
mod resolve;
mod rotate;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU8;

use parking_lot::Mutex;

use crate::codec::UserHash;
use crate::codec::keyring::{
    self, Copy, Header, INTENT_BYTES, Intent, PAGE_BYTES, SLOT_BYTES, SLOTS_PER_PAGE, Slot, SlotState, Wrapped,
};
use crate::error::{Error, Result};
use crate::memory::{Timestamp, UserId};
use crate::seal::key::same_tag;
use crate::seal::{DigestKey, Key, Suite};
use crate::world::{File, World, file_error, retry_interrupted};

pub(crate) use resolve::Standing;

/// The name of the keyring in the store's directory.
const NAME: &str = "KEYRING";

/// The KEYRING of an open store: the keys of all users, one slot each, overwritten in place.
pub(crate) struct Keyring {
    path: PathBuf,
    file: Box<dyn File>,
    header: Mutex<Header>,
    suite: Suite,
    root: Key,
    secret: Key,
    /// The slot after the last one that was ever written.
    next_slot: Mutex<u32>,
    /// Copies of the header, a bit each, that could not be read when the store was opened.
    unreadable: AtomicU8,
}

/// The keys of one user.
#[derive(Clone)]
pub(crate) struct UserKeys {
    /// Wraps the chunk keys; replaced whenever a memory is forgotten.
    pub(crate) user: Key,
    /// Lives as long as the user: hashes of ids, tombstones, digests.
    pub(crate) tombstone: Key,
    pub(crate) digest: DigestKey,
    ids: Key,
}

impl UserKeys {
    /// Seals the keys of the user's rows in snapshots: it dies with the user key.
    pub(crate) fn snapshots(&self) -> Key {
        self.user.derive("mnemic snapshot keys")
    }

    fn new(user: Key, tombstone: Key) -> Self {
        let (digest, ids) = (DigestKey::of(&tombstone), tombstone.derive("mnemic keyed id"));
        Self { user, tombstone, digest, ids }
    }

    /// New random keys.
    pub(crate) fn random(world: &World) -> Result<Self> {
        Ok(Self::new(Key::random(world)?, Key::random(world)?))
    }

    /// The same user under a new user key.
    pub(crate) fn with_new_user_key(&self, world: &World) -> Result<Self> {
        Ok(Self { user: Key::random(world)?, ..self.clone() })
    }

    /// What stands in place of a memory's id in table keys.
    pub(crate) fn hash_id(&self, id: &[u8; 16]) -> [u8; 16] {
        self.ids.short_mac(&[id])
    }
}

/// A slot as it stands in the file: `None` is a copy that was never written or does not authenticate.
pub(crate) struct SlotCopies {
    pub(crate) a: Option<Slot>,
    pub(crate) b: Option<Slot>,
}

impl SlotCopies {
    /// The last life of a user that either copy knows.
    pub(crate) fn newest_of(&self, user: UserHash) -> Option<u32> {
        let own = [&self.a, &self.b].into_iter().flatten().filter(|slot| slot.user == user);
        own.map(|slot| slot.generation).max()
    }
}

impl Keyring {
    /// The hash that all keys of this user's values begin with.
    pub(crate) fn user_hash(&self, user: &UserId) -> UserHash {
        sabotage!(17, return UserHash(self.secret.short_mac(&[user.as_str().trim().to_lowercase().as_bytes()])));
        UserHash(self.secret.derive("mnemic user hash").short_mac(&[user.as_str().as_bytes()]))
    }

    /// The tag of what a snapshot says of itself.
    pub(crate) fn snapshot_tag(&self, bytes: &[u8]) -> [u8; 32] {
        self.secret.derive("mnemic snapshot tag").mac(&[bytes])
    }

    /// The tag of a receipt.
    pub(crate) fn receipt_tag(&self, bytes: &[u8]) -> [u8; 32] {
        self.secret.derive("mnemic receipt tag").mac(&[bytes])
    }

    /// The tag of what an export says of itself.
    pub(crate) fn export_tag(&self, bytes: &[u8]) -> [u8; 32] {
        self.secret.derive("mnemic export tag").mac(&[bytes])
    }

    /// Takes a slot that was never used; extends the file as needed. Not durable before [`sync`](Self::sync).
    pub(crate) fn take_slot(&self) -> Result<u32> {
        let mut next = self.next_slot.lock();
        let slot = *next;
        self.extend_to(keyring::len_for(slot.saturating_add(1)))?;
        *next = slot.checked_add(1).ok_or_else(|| Error::unsupported("KEYRING: no slot left"))?;
        Ok(slot)
    }

    /// Extends the file with zeros that are written, not left out: overwriting a slot must never need room.
    fn extend_to(&self, len: u64) -> Result<()> {
        let zeros = vec![0; PAGE_BYTES as usize];
        for offset in (self.io("read", |file| file.len())?..len).step_by(zeros.len()) {
            self.io("extend", |file| file.write_at(offset, &zeros))?;
        }
        Ok(())
    }

    /// Both copies of a slot.
    pub(crate) fn read_slot(&self, slot: u32) -> Result<SlotCopies> {
        if slot >= *self.next_slot.lock() {
            return Err(Error::corrupt("KEYRING: shorter than a user's slot number"));
        }
        Ok(SlotCopies { a: self.read_copy(slot, Copy::A)?, b: self.read_copy(slot, Copy::B)? })
    }

    fn read_copy(&self, slot: u32, copy: Copy) -> Result<Option<Slot>> {
        let mut bytes = [0; SLOT_BYTES];
        self.io("read", |file| file.read_at(keyring::slot_offset(slot, copy), &mut bytes))?;
        let Ok((read, tag)) = Slot::decode(&bytes) else { return Ok(None) };
        Ok(same_tag(&tag, &self.slot_tag(slot, &read.encode())).then_some(read))
    }

    /// Slots up to the last one that was ever written.
    pub(crate) fn slot_count(&self) -> u32 {
        *self.next_slot.lock()
    }

    /// The copies of a slot that don't authenticate. One that was never written is damaged only in a slot in use.
    pub(crate) fn damaged_copies(&self, slot: u32, in_use: bool) -> Result<Vec<Copy>> {
        let mut damaged = Vec::new();
        for copy in [Copy::A, Copy::B] {
            let mut bytes = [0; SLOT_BYTES];
            self.io("read", |file| file.read_at(keyring::slot_offset(slot, copy), &mut bytes))?;
            let is_blank = bytes.iter().all(|byte| *byte == 0);
            if self.read_copy(slot, copy)?.is_none() && (in_use || !is_blank) {
                damaged.push(copy);
            }
        }
        Ok(damaged)
    }

    /// Makes a copy of a slot one that was never written. Not durable before [`sync`](Self::sync).
    pub(crate) fn blank_slot(&self, slot: u32, copy: Copy) -> Result<()> {
        self.io("write", |file| file.write_at(keyring::slot_offset(slot, copy), &[0; SLOT_BYTES]))
    }

    /// Overwrites one copy of a slot. Not durable before [`sync`](Self::sync).
    pub(crate) fn write_slot(&self, slot: u32, copy: Copy, value: &Slot) -> Result<()> {
        let mut bytes = value.encode();
        let tag = self.slot_tag(slot, &bytes);
        bytes.extend_from_slice(&tag);
        bytes.resize(SLOT_BYTES, 0);
        self.io("write", |file| file.write_at(keyring::slot_offset(slot, copy), &bytes))
    }

    /// A live slot that holds these keys.
    pub(crate) fn live_slot(&self, world: &World, at: SlotOwner, keys: &UserKeys) -> Result<Slot> {
        Ok(Slot {
            user: at.user,
            generation: at.generation,
            epoch: at.epoch,
            state: SlotState::Live,
            user_key: self.wrap(world, "user key", at, &keys.user)?,
            tombstone_key: self.wrap(world, "tombstone key", at, &keys.tombstone)?,
            erased_at: 0,
        })
    }

    /// A slot whose keys are gone.
    fn erased_slot(at: SlotOwner, now: Timestamp) -> Slot {
        let zeros = [0; keyring::WRAPPED_BYTES];
        Slot {
            user: at.user,
            generation: at.generation,
            epoch: at.epoch,
            state: SlotState::Erased,
            user_key: zeros,
            tombstone_key: zeros,
            erased_at: now.as_micros(),
        }
    }

    /// Overwrites with an erased slot what is not erased yet, durably. A damaged copy goes first: one is whole at any time.
    pub(crate) fn erase(&self, slot: u32, at: SlotOwner, now: Timestamp) -> Result<()> {
        let (erased, read) = (Self::erased_slot(at, now), self.read_slot(slot)?);
        let mut copies = [(Copy::A, read.a), (Copy::B, read.b)];
        copies.sort_by_key(|(_, read)| read.is_some());
        for (copy, read) in copies {
            sabotage!(
                5,
                if copy == Copy::B {
                    continue;
                }
            );
            let is_done = |read: &Slot| read.state == SlotState::Erased && read.generation == at.generation;
            if !read.as_ref().is_some_and(is_done) {
                self.write_slot(slot, copy, &erased)?;
                self.sync()?;
            }
        }
        Ok(())
    }

    /// What the slot says of a user whose row in table `users` is this.
    pub(crate) fn standing(&self, user: UserHash, row: &crate::codec::head::SlotRef) -> Result<Standing> {
        resolve::resolve(user, row, self.read_slot(row.slot)?)
    }

    /// The keys in a live slot.
    pub(crate) fn keys_of(&self, slot: &Slot) -> Result<UserKeys> {
        let at = SlotOwner { user: slot.user, generation: slot.generation, epoch: slot.epoch };
        let user = self.unwrap("user key", at, &slot.user_key)?;
        Ok(UserKeys::new(user, self.unwrap("tombstone key", at, &slot.tombstone_key)?))
    }

    /// Says that a forgetting of this user has begun, or (`None`) that none is open.
    pub(crate) fn write_intent(&self, shard: u32, user: Option<UserHash>) -> Result<()> {
        let mut bytes = Vec::new();
        if let Some(user) = user {
            bytes = Intent { user }.encode();
            let tag = self.intent_tag(shard, &bytes);
            bytes.extend_from_slice(&tag);
        }
        bytes.resize(INTENT_BYTES, 0);
        self.io("write", |file| file.write_at(keyring::intent_offset(shard), &bytes))
    }

    /// The user whose forgetting was begun in this shard and not seen to end.
    pub(crate) fn read_intent(&self, shard: u32) -> Result<Option<UserHash>> {
        let mut bytes = [0; INTENT_BYTES];
        self.io("read", |file| file.read_at(keyring::intent_offset(shard), &mut bytes))?;
        let read = Intent::decode(&bytes, |body, tag| same_tag(tag, &self.intent_tag(shard, body)))?;
        Ok(read.map(|(intent, _)| intent.user))
    }

    /// Makes everything written durable.
    pub(crate) fn sync(&self) -> Result<()> {
        sabotage!(2, return Ok(()));
        self.io("sync", |file| file.sync())
    }

    fn wrap(&self, world: &World, what: &str, at: SlotOwner, key: &Key) -> Result<Wrapped> {
        let mut nonce = [0; 24];
        world.fill(&mut nonce)?;
        self.suite.wrap(&self.root.derive("mnemic slot keys"), nonce, &at.associated(what), key)
    }

    fn unwrap(&self, what: &str, at: SlotOwner, wrapped: &Wrapped) -> Result<Key> {
        self.suite
            .unwrap(&self.root.derive("mnemic slot keys"), &at.associated(what), wrapped)
            .ok_or_else(|| Error::corrupt(format!("KEYRING: damaged {what} of {}", at.user)))
    }

    fn slot_tag(&self, slot: u32, bytes: &[u8]) -> [u8; 32] {
        self.root.derive("mnemic slot tag").mac(&[&slot.to_le_bytes(), bytes])
    }

    fn intent_tag(&self, shard: u32, bytes: &[u8]) -> [u8; 32] {
        self.root.derive("mnemic intent tag").mac(&[&shard.to_le_bytes(), bytes])
    }

    fn io<T>(&self, doing: &str, mut call: impl FnMut(&dyn File) -> std::io::Result<T>) -> Result<T> {
        retry_interrupted(|| call(self.file.as_ref())).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::corrupt("KEYRING: cut short").with_source(error),
            _ => file_error(doing, &self.path, error),
        })
    }
}

/// Whose keys a slot holds, in which life, at which epoch: what its keys are bound to.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) struct SlotOwner {
    pub(crate) user: UserHash,
    pub(crate) generation: u32,
    pub(crate) epoch: u64,
}

impl SlotOwner {
    fn associated(&self, what: &str) -> Vec<u8> {
        let mut out = what.as_bytes().to_vec();
        out.extend_from_slice(&self.user.0);
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("suite", &self.suite).finish_non_exhaustive()
    }
}

/// The slot after the last one that was written: files grow a page pair at a time, so at most a few pages are read.
fn find_next_slot(file: &dyn File, path: &Path) -> Result<u32> {
    let failed = |error| file_error("read", path, error);
    let mut slots = keyring::slots_in(retry_interrupted(|| file.len()).map_err(failed)?);
    let mut page = vec![0; PAGE_BYTES as usize];
    while slots > 0 {
        let first = slots - SLOTS_PER_PAGE;
        let mut used = 0;
        for copy in [Copy::A, Copy::B] {
            retry_interrupted(|| file.read_at(keyring::slot_offset(first, copy), &mut page)).map_err(failed)?;
            let last = page.iter().rposition(|byte| *byte != 0).map_or(0, |at| at / SLOT_BYTES + 1);
            used = used.max(last as u32);
        }
        if used > 0 {
            return Ok(first + used);
        }
        slots = first;
    }
    Ok(0)
}

#[cfg(test)]
mod tests;
