//! What the engine has to know of a user before it can read or write anything.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use crate::codec::bytes::{Reader, Writer};
use crate::codec::frame::{self, Frame};
use crate::codec::head::{Digest, SlotRef, UserFacts};
use crate::codec::keyring::{Copy, Slot, SlotState};
use crate::codec::table::{Digested, numbered};
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::error::{Error, Result};
use crate::memory::UserId;
use crate::seal::{Key, Place, Plain, SlotOwner, Standing, UserKeys};
use crate::storage::ReadView;

const CHUNK_KEY_VERSION: u8 = 1;
/// Rows or log entries that share a chunk key.
const CHUNK_SHIFT: u32 = 8;
/// Set in the numbers of chunks of the log.
const LOG_CHUNKS: u64 = 1 << 56;
/// Set in the numbers of chunks of traces.
const TRACE_CHUNKS: u64 = 1 << 57;

/// The chunk that the values of a row are sealed in.
pub(crate) fn row_chunk(row: u32) -> u64 {
    u64::from(row) >> CHUNK_SHIFT
}

/// The chunk that a log entry is sealed in.
pub(crate) fn log_chunk(seq: u64) -> u64 {
    LOG_CHUNKS | seq >> CHUNK_SHIFT
}

/// The chunk that a trace is sealed in.
pub(crate) fn trace_chunk(seq: u64) -> u64 {
    TRACE_CHUNKS | seq >> CHUNK_SHIFT
}

/// A key that seals up to 256 values.
#[derive(Clone)]
pub(crate) struct ChunkKey {
    pub(crate) key: Key,
    /// The user's epoch when it was made.
    pub(crate) epoch: u64,
}

impl ChunkKey {
    pub(crate) fn encode(&self) -> zeroize::Zeroizing<Vec<u8>> {
        let mut out = Writer::with_capacity(1 + 32 + 8);
        out.u8(CHUNK_KEY_VERSION).raw(self.key.bytes()).u64(self.epoch);
        zeroize::Zeroizing::new(out.finish())
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "keys");
        input.version(CHUNK_KEY_VERSION)?;
        let key = Self { key: Key::new(input.array()?), epoch: input.u64()? };
        input.end()?;
        Ok(key)
    }
}

/// A live user at one commit.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) user: UserHash,
    pub(crate) slot: SlotRef,
    pub(crate) keys: UserKeys,
    pub(crate) facts: UserFacts,
    /// The commit that wrote it.
    pub(crate) version: u64,
    /// Chunk keys that were opened before.
    pub(crate) chunks: Arc<RwLock<HashMap<u64, ChunkKey>>>,
    /// Whether the log was found complete in this process.
    pub(crate) log_checked: Arc<AtomicBool>,
}

/// What is known of a user.
pub(crate) enum Found {
    /// Nothing, or a forgotten life.
    Absent(Option<Past>),
    /// A live user.
    Live(Box<Head>),
}

/// A life of the user that is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past {
    pub(crate) slot: SlotRef,
    /// The keys are gone, the rows are not yet.
    pub(crate) unfinished: bool,
}

/// Whether a slot that a crash left half changed is put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Only while the user's cell is held alone: a forgetting changes the slot under the same lock.
    Yes,
    /// Left for whoever holds the cell.
    No,
}

/// Reads the head of a user.
pub(crate) fn load(core: &Core, view: &ReadView, user: UserHash, may_repair: Repair) -> Result<Found> {
    let Some(row) = view.get(Table::Users, &user.0)? else { return absent(core, view, user) };
    let (slot, sealed) = SlotRef::decode(&row)?;
    let standing = core.keyring.standing(user, &slot)?;
    let (copy, repair) = match standing {
        Standing::Erased => return erased(view, user, slot),
        Standing::Unfinished => return unfinished(core, view, user, slot),
        Standing::Live { slot, repair } => (slot, repair),
    };
    let keys = core.keyring.keys_of(&copy)?;
    let place = head_place(user, &slot);
    let opened = core.sealer.open(&keys.user, &place, sealed)?;
    if let (Some(stale), Repair::Yes) = (repair, may_repair) {
        let copies = core.keyring.read_slot(slot.slot)?;
        let old = if stale == Copy::A { copies.a } else { copies.b };
        let is_past = |old: &Slot| old.state == SlotState::Live && old.epoch < copy.epoch;
        if let Some(old) = old.filter(|old| old.generation == copy.generation && is_past(old)) {
            core.rekey_snapshots(view, &old, &copy)?;
        }
        core.keyring.write_slot(slot.slot, stale, &copy)?;
        core.keyring.sync()?;
    }
    let facts = UserFacts::decode(&opened.plain)?;
    Ok(Found::Live(Box::new(Head {
        user,
        slot,
        keys,
        facts,
        version: opened.version,
        chunks: Arc::default(),
        log_checked: Arc::default(),
    })))
}

/// What stands for the id of a user whom a repair could not name, until the next write of the user's does.
pub(crate) fn unnamed(user: UserHash) -> String {
    format!("unknown {user}")
}

/// Whoever has no row has no keys either; else the tree of table `users` is damaged.
fn absent(core: &Core, view: &ReadView, user: UserHash) -> Result<Found> {
    if view.has_any(Table::Keys, user)? {
        return Err(Error::corrupt(format!("users: the row of {user} is missing; run the doctor")));
    }
    core.shard_of(user).check_users(view)?;
    Ok(Found::Absent(None))
}

/// A forgetting leaves nothing: whoever has keys has come back, and the row is an older one.
fn erased(view: &ReadView, user: UserHash, slot: SlotRef) -> Result<Found> {
    if view.has_any(Table::Keys, user)? {
        return Err(stale(user));
    }
    Ok(Found::Absent(Some(Past { slot, unfinished: false })))
}

/// Values of a later life are no part of a forgetting that a crash cut short: the row is an older one.
fn unfinished(core: &Core, view: &ReadView, user: UserHash, slot: SlotRef) -> Result<Found> {
    let copies = core.keyring.read_slot(slot.slot)?;
    let later = |copy: &Slot| copy.state == SlotState::Live && copy.generation > slot.generation;
    for copy in [copies.a, copies.b].into_iter().flatten().filter(later) {
        let owner = SlotOwner { user, generation: copy.generation, epoch: copy.epoch };
        let nameless = UserFacts::new(UserId::new(&unnamed(user))?);
        let head = Head::new(owner, slot.slot, core.keyring.keys_of(&copy)?, nameless);
        let mut opened = false;
        view.scan_user(Table::Keys, user, |key, bytes| {
            opened |= head.open_chunk_key(core, key, bytes).is_ok();
            Ok(())
        })?;
        if opened {
            return Err(stale(user));
        }
    }
    Ok(Found::Absent(Some(Past { slot, unfinished: true })))
}

fn stale(user: UserHash) -> Error {
    Error::corrupt(format!("users: the row of {user} is older than its values; run the doctor"))
}

/// The commit that wrote the row of a user in this view.
pub(crate) fn version_in(view: &ReadView, user: UserHash) -> Result<Option<u64>> {
    let version = view.get_with(Table::Users, &user.0, |row| {
        let (slot, sealed) = SlotRef::decode(row)?;
        if slot.erased { Ok(None) } else { Ok(Some(frame::parse(Table::Users, &[], sealed)?.version)) }
    })?;
    Ok(version.flatten())
}

/// Where the sealed part of a row of `users` belongs.
pub(crate) fn head_place<'a>(user: UserHash, slot: &SlotRef) -> Place<'a> {
    Place { user, generation: slot.generation, table: Table::Users, key: &[], epoch: slot.epoch }
}

impl Head {
    /// Where a value of this user belongs.
    pub(crate) fn place<'a>(&self, table: Table, key: &'a [u8], epoch: u64) -> Place<'a> {
        Place { user: self.user, generation: self.slot.generation, table, key, epoch }
    }

    /// The key of a chunk that stands in the shard.
    pub(crate) fn chunk_key(&self, core: &Core, view: &ReadView, chunk: u64) -> Result<ChunkKey> {
        if let Some(known) = self.chunks.read().get(&chunk) {
            return Ok(known.clone());
        }
        let key = numbered(self.user, chunk);
        let found = view.get_with(Table::Keys, &key, |bytes| self.open_chunk_key(core, &key, bytes))?;
        let found = found
            .ok_or_else(|| Error::corrupt(format!("keys: the key of chunk {chunk} of {} is missing", self.user)))?;
        self.chunks.write().insert(chunk, found.clone());
        Ok(found)
    }

    /// Opens a value of table `keys`.
    pub(crate) fn open_chunk_key(&self, core: &Core, key: &[u8], bytes: &[u8]) -> Result<ChunkKey> {
        let opened = core.sealer.open(&self.keys.user, &self.place(Table::Keys, key, self.slot.epoch), bytes)?;
        ChunkKey::decode(&opened.plain)
    }

    /// Opens a value that is sealed under a chunk key.
    pub(crate) fn open_value(
        &self,
        core: &Core,
        table: Table,
        key: &[u8],
        chunk: &ChunkKey,
        bytes: &[u8],
    ) -> Result<Plain> {
        Ok(core.sealer.open(&chunk.key, &self.place(table, key, chunk.epoch), bytes)?.plain)
    }

    /// Opens a frame that was taken apart before into `text`, of its length.
    pub(crate) fn open_value_into(
        &self,
        core: &Core,
        (table, key): (Table, &[u8]),
        chunk: &ChunkKey,
        frame: &Frame<'_>,
        text: &mut [u8],
    ) -> Result<()> {
        core.sealer.open_into(&chunk.key, &self.place(table, key, chunk.epoch), frame, text)
    }

    /// What a value adds to the digest of its table.
    pub(crate) fn term(&self, table: Table, key: &[u8], bytes: &[u8]) -> Result<[u8; 32]> {
        Ok(self.keys.digest.term(table, key, &frame::parse(table, key, bytes)?))
    }

    /// Checks, once in a process, that no entry of the log and no trace is missing, extra or stale.
    pub(crate) fn check_log(&self, view: &ReadView) -> Result<()> {
        if self.log_checked.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut sum = Digest::default();
        for table in [Table::Log, Table::Traces] {
            view.scan_user(table, self.user, |key, bytes| {
                sum.add(&self.term(table, key, bytes)?);
                Ok(())
            })?;
        }
        if sum != self.facts.digests[Digested::Log as usize] {
            return Err(Error::corrupt(format!("log or traces of {}: values are missing, extra or stale", self.user)));
        }
        self.log_checked.store(true, Ordering::Release);
        Ok(())
    }
}
