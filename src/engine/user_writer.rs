//! The staged writes of one user: every value sealed, every digest kept.

use crate::codec::head::UserFacts;
use crate::codec::log_entry::LogEntry;
use crate::codec::table::{hashed, numbered};
use crate::codec::{Table, UserHash, tombstone};
use crate::engine::core::Core;
use crate::engine::head::{ChunkKey, Head, log_chunk};
use crate::engine::transaction::{Staged, Transaction};
use crate::engine::user_index::IndexChange;
use crate::error::Result;
use crate::memory::Timestamp;
use crate::seal::{Key, Plain};

/// Writes of one user inside a transaction.
pub(crate) struct UserWriter<'t, 'a> {
    pub(crate) transaction: &'t mut Transaction<'a>,
    pub(crate) user: UserHash,
    /// Out of the transaction for as long as it is written to.
    pub(crate) staged: Staged,
    /// The first of the staged changes that are of this job.
    pub(crate) first_change: usize,
}

/// Whether a key may have a value already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
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
        self.staged.note(change);
    }

    /// The value of a row, block or pack, as this transaction would leave it.
    pub(crate) fn value(&self, table: Table, number: u64, chunk: u64) -> Result<Option<Plain>> {
        let key = numbered(self.user, number);
        let Some(bytes) = self.transaction.get(table, &key)? else { return Ok(None) };
        let chunk = self.existing_chunk_key(chunk)?;
        self.head().open_value(self.core(), table, &key, &chunk, &bytes).map(Some)
    }

    pub(crate) fn value_exists(&self, table: Table, number: u64) -> Result<bool> {
        Ok(self.transaction.get(table, &numbered(self.user, number))?.is_some())
    }

    pub(crate) fn put_value(
        &mut self,
        table: Table,
        number: u64,
        chunk: u64,
        plain: &[u8],
        before: Before,
    ) -> Result<()> {
        let chunk = self.chunk_key(chunk)?;
        let key = numbered(self.user, number);
        self.put_sealed(table, &key, &chunk.key, chunk.epoch, plain, before)
    }

    /// Removes the value of a row, block or pack, if there is one.
    pub(crate) fn remove_value(&mut self, table: Table, number: u64) -> Result<()> {
        let key = numbered(self.user, number);
        if self.forget_term(table, &key)? {
            self.transaction.job.remove(table, &key);
        }
        Ok(())
    }

    /// Leaves a tombstone under a keyed hash.
    pub(crate) fn put_tombstone(&mut self, hash: [u8; 16]) -> Result<()> {
        sabotage!(9, return Ok(()));
        let seal = self.head().keys.tombstone.derive("mnemic seal tombstones");
        let at = tombstone::encode(self.now().as_micros());
        self.put_sealed(Table::Tombstones, &hashed(self.user, hash), &seal, 0, &at, Before::Perhaps)
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
        self.put_value(Table::Log, seq, log_chunk(seq), &entry.encode(), Before::Nothing)
    }

    /// Rewrites an entry of the log.
    pub(crate) fn rewrite_log(&mut self, seq: u64, entry: &LogEntry) -> Result<()> {
        self.put_value(Table::Log, seq, log_chunk(seq), &entry.encode(), Before::Perhaps)
    }

    /// Puts a frame in place as it was sealed before.
    pub(crate) fn adopt(&mut self, table: Table, key: &[u8], frame: &[u8]) -> Result<()> {
        self.forget_term(table, key)?;
        let (term, closed_rows) = (self.head().term(table, key, frame)?, self.head().facts.closed_rows());
        if let Some(digested) = table.digest(key, closed_rows) {
            self.facts().digests[digested as usize].add(&term);
        }
        self.transaction.job.put(table, key, frame.to_vec());
        Ok(())
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
        let closed_rows = self.head().facts.closed_rows();
        let facts = self.facts();
        if let Some(digested) = table.digest(key, closed_rows) {
            facts.digests[digested as usize].add(&term);
        }
        self.transaction.job.put(table, key, frame);
        Ok(())
    }

    /// Takes the value that stands at `key` out of its digest; whether there was one.
    pub(crate) fn forget_term(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let Some(old) = self.transaction.get(table, key)? else { return Ok(false) };
        let closed_rows = self.head().facts.closed_rows();
        if let Some(digested) = table.digest(key, closed_rows) {
            let term = self.head().term(table, key, &old)?;
            self.facts().digests[digested as usize].subtract(&term);
        }
        Ok(true)
    }

    /// The key of a chunk, made if need be.
    fn chunk_key(&mut self, chunk: u64) -> Result<ChunkKey> {
        if let Some(known) = self.known_chunk_key(chunk) {
            return Ok(known);
        }
        if self.transaction.get(Table::Keys, &numbered(self.user, chunk))?.is_some() {
            return self.existing_chunk_key(chunk);
        }
        self.new_chunk_key(chunk)
    }

    fn known_chunk_key(&self, chunk: u64) -> Option<ChunkKey> {
        let new = self.staged.new_chunks.iter().rev().find(|(number, _)| *number == chunk);
        new.map(|(_, key)| key.clone()).or_else(|| self.staged.head.chunks.read().get(&chunk).cloned())
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
