//! The staged writes of one user: every value sealed, every digest kept.

use crate::codec::head::UserFacts;
use crate::codec::log_entry::LogEntry;
use crate::codec::table::{hashed, numbered};
use crate::codec::{Table, UserHash, record, vector};
use crate::engine::core::Core;
use crate::engine::head::{ChunkKey, Head, log_chunk, row_chunk};
use crate::engine::transaction::{Staged, Transaction};
use crate::engine::user_index::IndexChange;
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryId, Timestamp, Vector};
use crate::seal::Key;

/// Writes of one user inside a transaction.
pub(crate) struct UserWriter<'t, 'a> {
    pub(crate) transaction: &'t mut Transaction<'a>,
    pub(crate) user: UserHash,
    /// Out of the transaction for as long as it is written to.
    pub(crate) staged: Staged,
}

/// Whether a key may have a value already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// It is new for sure.
    Nothing,
    /// It may have.
    Perhaps,
}

impl UserWriter<'_, '_> {
    pub(crate) fn now(&self) -> Timestamp {
        self.transaction.now
    }

    pub(crate) fn core(&self) -> &Core {
        self.transaction.core
    }

    pub(crate) fn head(&self) -> &Head {
        &self.staged.head
    }

    pub(crate) fn head_mut(&mut self) -> &mut Head {
        self.staged.dirty = true;
        &mut self.staged.head
    }

    pub(crate) fn facts(&mut self) -> &mut UserFacts {
        &mut self.head_mut().facts
    }

    /// Notes what the index in memory has to follow once the commit is durable.
    pub(crate) fn change_index(&mut self, change: IndexChange) {
        self.staged.changes.push(change);
    }

    /// The row of a memory.
    pub(crate) fn row_of(&self, id: MemoryId) -> Result<Option<u32>> {
        let head = self.head();
        head.check_second_sum(&self.transaction.view)?;
        let key = hashed(self.user, head.keys.hash_id(id.as_bytes()));
        let Some(bytes) = self.transaction.get(Table::Ids, &key)? else { return Ok(None) };
        let opened = self.core().sealer.open(&ids_key(head), &head.place(Table::Ids, &key, 0), &bytes)?;
        let row = opened.plain.as_slice().try_into().map_err(|_| Error::corrupt("ids: malformed row number"))?;
        Ok(Some(u32::from_le_bytes(row)))
    }

    pub(crate) fn record(&self, row: u32) -> Result<Option<Memory>> {
        let bytes = self.value(Table::Records, row)?;
        bytes.map(|bytes| record::decode(&bytes)).transpose()
    }

    pub(crate) fn vector(&self, row: u32) -> Result<Option<(u32, Vector)>> {
        let bytes = self.value(Table::Vectors, row)?;
        bytes.map(|bytes| vector::decode(&bytes)).transpose()
    }

    fn value(&self, table: Table, row: u32) -> Result<Option<Vec<u8>>> {
        let key = numbered(self.user, u64::from(row));
        let Some(bytes) = self.transaction.get(table, &key)? else { return Ok(None) };
        let chunk = self.existing_chunk_key(row_chunk(row))?;
        self.head().open_value(self.core(), table, &key, &chunk, &bytes).map(Some)
    }

    /// Stores a new row: record, vector, id.
    pub(crate) fn insert_row(&mut self, row: u32, memory: &Memory, vector: Option<(u32, &Vector)>) -> Result<()> {
        let (chunk, key) = (row_chunk(row), numbered(self.user, u64::from(row)));
        self.put_value(Table::Records, &key, chunk, &record::encode(memory)?, Before::Nothing)?;
        if let Some((space, numbers)) = vector {
            self.put_value(Table::Vectors, &key, chunk, &vector::encode(space, numbers), Before::Nothing)?;
        }
        self.put_id(memory.id, row)
    }

    pub(crate) fn put_record(&mut self, row: u32, memory: &Memory) -> Result<()> {
        let key = numbered(self.user, u64::from(row));
        self.put_value(Table::Records, &key, row_chunk(row), &record::encode(memory)?, Before::Perhaps)
    }

    pub(crate) fn put_vector(&mut self, row: u32, space: u32, numbers: &Vector) -> Result<()> {
        let key = numbered(self.user, u64::from(row));
        self.put_value(Table::Vectors, &key, row_chunk(row), &vector::encode(space, numbers), Before::Perhaps)
    }

    /// Removes the values of a row, and its id.
    pub(crate) fn remove_row(&mut self, row: u32, id: MemoryId) -> Result<()> {
        let key = numbered(self.user, u64::from(row));
        self.remove(Table::Records, &key)?;
        self.remove(Table::Vectors, &key)?;
        let hash = self.head().keys.hash_id(id.as_bytes());
        self.remove(Table::Ids, &hashed(self.user, hash))
    }

    pub(crate) fn remove_vector(&mut self, row: u32) -> Result<()> {
        self.remove(Table::Vectors, &numbered(self.user, u64::from(row)))
    }

    fn put_id(&mut self, id: MemoryId, row: u32) -> Result<()> {
        let head = self.head();
        let (key, seal) = (hashed(self.user, head.keys.hash_id(id.as_bytes())), ids_key(head));
        self.put_sealed(Table::Ids, &key, &seal, 0, &row.to_le_bytes(), Before::Nothing)
    }

    /// Leaves a tombstone under a keyed hash.
    pub(crate) fn put_tombstone(&mut self, hash: [u8; 16]) -> Result<()> {
        let (key, seal) = (hashed(self.user, hash), tombstone_key(self.head()));
        let at = self.now().as_micros().to_le_bytes();
        self.put_sealed(Table::Tombstones, &key, &seal, 0, &at, Before::Perhaps)
    }

    /// Whether there is one.
    pub(crate) fn has_tombstone(&self, hash: [u8; 16]) -> Result<bool> {
        Ok(self.transaction.get(Table::Tombstones, &hashed(self.user, hash))?.is_some())
    }

    /// Appends to the log.
    pub(crate) fn log(&mut self, entry: &LogEntry) -> Result<()> {
        let facts = self.facts();
        let seq = facts.next_log;
        facts.next_log += 1;
        facts.log_images += entry.images();
        self.put_value(Table::Log, &numbered(self.user, seq), log_chunk(seq), &entry.encode(), Before::Nothing)
    }

    /// Rewrites an entry of the log.
    pub(crate) fn rewrite_log(&mut self, seq: u64, entry: &LogEntry) -> Result<()> {
        self.put_value(Table::Log, &numbered(self.user, seq), log_chunk(seq), &entry.encode(), Before::Perhaps)
    }

    fn put_value(&mut self, table: Table, key: &[u8], chunk: u64, plain: &[u8], before: Before) -> Result<()> {
        let chunk = self.chunk_key(chunk)?;
        self.put_sealed(table, key, &chunk.key, chunk.epoch, plain, before)
    }

    fn put_sealed(
        &mut self,
        table: Table,
        key: &[u8],
        seal: &Key,
        epoch: u64,
        plain: &[u8],
        before: Before,
    ) -> Result<()> {
        if before == Before::Perhaps {
            self.forget_term(table, key)?;
        }
        let nonce = self.transaction.nonces.next()?;
        let place = self.head().place(table, key, epoch);
        let frame = self.transaction.core.sealer.seal(seal, &place, self.transaction.seq, nonce, plain)?;
        let term = self.head().term(table, key, &frame)?;
        if let Some(digest) = table.digest() {
            self.facts().digests[digest].add(&term);
        }
        self.transaction.job.put(table, key, frame);
        Ok(())
    }

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        if self.forget_term(table, key)? {
            self.transaction.job.remove(table, key);
        }
        Ok(())
    }

    /// Takes the value that stands at `key` out of its digest; whether there was one.
    fn forget_term(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let Some(old) = self.transaction.get(table, key)? else { return Ok(false) };
        let term = self.head().term(table, key, &old)?;
        if let Some(digest) = table.digest() {
            self.facts().digests[digest].subtract(&term);
        }
        Ok(true)
    }

    /// The key of a chunk, made if need be.
    fn chunk_key(&mut self, chunk: u64) -> Result<ChunkKey> {
        if let Some(known) = self.known_chunk_key(chunk) {
            return Ok(known);
        }
        let key = numbered(self.user, chunk);
        if self.transaction.get(Table::Keys, &key)?.is_some() {
            return self.existing_chunk_key(chunk);
        }
        self.new_chunk_key(chunk)
    }

    fn known_chunk_key(&self, chunk: u64) -> Option<ChunkKey> {
        let staged = &self.staged;
        let new = staged.new_chunks.iter().rev().find(|(number, _)| *number == chunk);
        new.map(|(_, key)| key.clone()).or_else(|| staged.head.chunks.read().get(&chunk).cloned())
    }

    pub(crate) fn existing_chunk_key(&self, chunk: u64) -> Result<ChunkKey> {
        match self.known_chunk_key(chunk) {
            Some(known) => Ok(known),
            None => self.head().chunk_key(self.core(), &self.transaction.view, chunk),
        }
    }

    /// Makes a key for a chunk, in place of the one that it had.
    pub(crate) fn new_chunk_key(&mut self, chunk: u64) -> Result<ChunkKey> {
        let new = ChunkKey { key: Key::random(&self.core().world)?, epoch: self.head().slot.epoch };
        self.put_chunk_key(chunk, &new)?;
        Ok(new)
    }

    /// Wraps a chunk key under the user key that the transaction leaves.
    pub(crate) fn put_chunk_key(&mut self, chunk: u64, value: &ChunkKey) -> Result<()> {
        let (seal, epoch) = (self.head().keys.user.clone(), self.head().slot.epoch);
        let key = numbered(self.user, chunk);
        self.put_sealed(Table::Keys, &key, &seal, epoch, &value.encode(), Before::Perhaps)?;
        self.staged.new_chunks.push((chunk, value.clone()));
        Ok(())
    }
}

/// What row numbers behind ids are sealed under: it outlives user keys, for it tells nothing but an order.
pub(crate) fn ids_key(head: &Head) -> Key {
    head.keys.tombstone.derive("mnemic seal ids")
}

fn tombstone_key(head: &Head) -> Key {
    head.keys.tombstone.derive("mnemic seal tombstones")
}
