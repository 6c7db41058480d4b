//! Forgetting one memory: its bytes are left under keys that no longer exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::head::BLOCK_ROWS;
use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::receipt::Receipt;
use crate::codec::table::number_of;
use crate::codec::trace::StoredTrace;
use crate::codec::{Table, record};
use crate::engine::core::Core;
use crate::engine::head::{ChunkKey, log_chunk, row_chunk, trace_chunk};
use crate::engine::remember::is_linked;
use crate::engine::rows::BlockRow;
use crate::engine::transaction::Rekey;
use crate::engine::user_index::{Attributes, IndexChange, facts_of};
use crate::engine::user_writer::{Before, UserWriter};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryId, Sensitivity, Status, UserId, Verb};
use crate::seal::SlotOwner;

/// What a forgetting took with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Memories that are gone: the one that was named, and those that were made of it alone.
    pub memories: u32,
    /// Memories that stay but no longer name what is gone.
    pub references: u32,
    /// Traces of recalls that it was taken out of.
    pub traces: u32,
    /// Snapshots whose keys of this user could not be written anew: they have nothing of the user any more.
    pub snapshots_lost: u32,
    /// The life of the user that the memories belonged to.
    pub generation: u32,
    /// The epoch of the user's keys from now on.
    pub epoch: u64,
    pub(crate) receipt: Receipt,
}

impl Forgotten {
    /// What proves it later: see [`Store::verify_receipt`](crate::Store::verify_receipt).
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl Core {
    pub(crate) fn forget(&self, user: &UserId, id: MemoryId, level: Sensitivity) -> Result<Forgotten> {
        let hash = self.user_hash(user);
        let _no_snapshot = self.snapshotting.read();
        self.finish_other(hash)?;
        let lost = Arc::<AtomicU32>::default();
        let counted = Arc::clone(&lost);
        let forgotten = self.write(hash, true, move |transaction| {
            transaction.with_user(hash, |writer| {
                let (row, memory) = writer.visible(id, level)?;
                writer.forget(row, memory, counted)
            })
        })?;
        Ok(Forgotten { snapshots_lost: lost.load(Ordering::Acquire), ..forgotten })
    }
}

/// What goes and what changes.
#[derive(Default)]
struct Plan {
    gone: BTreeMap<u32, Memory>,
    changed: BTreeMap<u32, (Memory, Memory)>,
}

impl Plan {
    fn is_gone(&self, id: MemoryId) -> bool {
        self.gone.values().any(|memory| memory.id == id)
    }

    /// Takes the ids of what goes out of a record; whether it named any.
    fn strip(&self, memory: &mut Memory) -> bool {
        let before = (memory.derived_from.len(), memory.supersedes.len(), memory.status);
        memory.derived_from.retain(|id| !self.is_gone(*id));
        memory.supersedes.retain(|id| !self.is_gone(*id));
        if let Status::Superseded { by, .. } = &mut memory.status {
            *by = by.filter(|id| !self.is_gone(*id));
        }
        before != (memory.derived_from.len(), memory.supersedes.len(), memory.status)
    }
}

impl UserWriter<'_, '_> {
    fn forget(&mut self, row: u32, memory: Memory, lost: Arc<AtomicU32>) -> Result<Forgotten> {
        let plan = self.plan(row, memory)?;
        // The old key must still open what is there; only then does the epoch move.
        let log = self.purged_log(&plan)?;
        let (traces, purged_traces) = self.purged_traces(&plan)?;
        let old_keys = self.all_chunk_keys()?;
        let touched = touched_chunks(&plan, &log, &traces);
        let chunks = self.survivors(&plan, &touched)?;
        self.move_epoch(lost)?;
        for (chunk, key) in &old_keys {
            if touched.contains(chunk) {
                self.new_chunk_key(*chunk)?;
            } else {
                self.put_chunk_key(*chunk, key)?;
            }
        }
        self.remove_gone(&plan)?;
        chunks.into_iter().try_for_each(|(chunk, rows)| self.reseal(&plan, chunk as u32, rows))?;
        log.iter().try_for_each(|(seq, entry)| self.rewrite_log(*seq, entry))?;
        traces.iter().try_for_each(|(seq, trace)| self.rewrite_trace(*seq, trace))?;
        self.log_forgetting(&plan)?;
        let slot = self.head().slot;
        let id = plan.gone.get(&row).map(|memory| self.head().keys.hash_id(memory.id.as_bytes()));
        let gone = (self.user, slot.generation, slot.epoch.saturating_sub(1));
        let receipt = self.core().receipt(gone, id, self.now());
        Ok(Forgotten {
            memories: plan.gone.len() as u32,
            references: plan.changed.len() as u32,
            traces: purged_traces,
            snapshots_lost: 0,
            generation: slot.generation,
            epoch: slot.epoch,
            receipt,
        })
    }

    /// The memory, what was made of it alone, and what else names one of them.
    fn plan(&self, row: u32, memory: Memory) -> Result<Plan> {
        let mut plan = Plan::default();
        plan.gone.insert(row, memory);
        if self.head().facts.linked == 0 {
            return Ok(plan);
        }
        let all = self.all_linked()?;
        loop {
            let orphan = all.iter().find(|(row, memory)| {
                !plan.gone.contains_key(row)
                    && !memory.derived_from.is_empty()
                    && memory.derived_from.iter().all(|id| plan.is_gone(*id))
            });
            match orphan {
                Some((row, memory)) => _ = plan.gone.insert(*row, memory.clone()),
                None => break,
            }
        }
        for (row, memory) in all.into_iter().filter(|(row, _)| !plan.gone.contains_key(row)).collect::<Vec<_>>() {
            let mut after = memory.clone();
            if plan.strip(&mut after) {
                plan.changed.insert(row, (memory, after));
            }
        }
        Ok(plan)
    }

    fn all_linked(&self) -> Result<Vec<(u32, Memory)>> {
        let mut linked = Vec::new();
        for (key, bytes) in self.transaction.scan_user(Table::Records, self.user)? {
            let row = number_of(&key).ok_or_else(|| Error::corrupt("records: malformed key"))? as u32;
            let chunk = self.existing_chunk_key(row_chunk(row))?;
            let plain = self.head().open_value(self.core(), Table::Records, &key, &chunk, &bytes)?;
            let memory = record::decode(&plain)?;
            if is_linked(&memory) {
                linked.push((row, memory));
            }
        }
        Ok(linked)
    }

    /// The entries of the log in chunks that hold something of what goes, without it.
    fn purged_log(&mut self, plan: &Plan) -> Result<Vec<(u64, LogEntry)>> {
        if self.head().facts.log_images == 0 {
            return Ok(Vec::new());
        }
        let (mut entries, mut touched, mut dropped) = (Vec::new(), BTreeSet::new(), 0);
        for (key, bytes) in self.transaction.scan_user(Table::Log, self.user)? {
            let seq = number_of(&key).ok_or_else(|| Error::corrupt("log: malformed key"))?;
            let chunk = self.existing_chunk_key(log_chunk(seq))?;
            let plain = self.head().open_value(self.core(), Table::Log, &key, &chunk, &bytes)?;
            let mut entry = LogEntry::decode(&plain)?;
            let images = entry.images();
            for change in &mut entry.rows {
                if purge_image(plan, change)? {
                    touched.insert(log_chunk(seq));
                }
            }
            dropped += images - entry.images();
            entries.push((seq, entry));
        }
        let facts = self.facts();
        facts.log_images = facts.log_images.saturating_sub(dropped);
        entries.retain(|(seq, _)| touched.contains(&log_chunk(*seq)));
        Ok(entries)
    }

    /// The traces in chunks that hold something of what goes, without it, and in how many there was something.
    fn purged_traces(&self, plan: &Plan) -> Result<(Vec<(u64, StoredTrace)>, u32)> {
        if self.head().facts.next_trace == 0 {
            return Ok((Vec::new(), 0));
        }
        let (mut traces, mut touched, mut purged) = (Vec::new(), BTreeSet::new(), 0);
        let gone: BTreeSet<[u8; 16]> = plan.gone.values().map(|memory| *memory.id.as_bytes()).collect();
        for (key, bytes) in self.transaction.scan_user(Table::Traces, self.user)? {
            let seq = number_of(&key).ok_or_else(|| Error::corrupt("traces: malformed key"))?;
            let chunk = self.existing_chunk_key(trace_chunk(seq))?;
            let plain = self.head().open_value(self.core(), Table::Traces, &key, &chunk, &bytes)?;
            let mut trace = StoredTrace::decode(&plain)?;
            if trace.purge(&gone) {
                touched.insert(trace_chunk(seq));
                purged += 1;
            }
            traces.push((seq, trace));
        }
        traces.retain(|(seq, _)| touched.contains(&trace_chunk(*seq)));
        Ok((traces, purged))
    }

    fn rewrite_trace(&mut self, seq: u64, trace: &StoredTrace) -> Result<()> {
        self.put_value(Table::Traces, seq, trace_chunk(seq), &trace.encode(), Before::Perhaps)
    }

    pub(super) fn all_chunk_keys(&self) -> Result<Vec<(u64, ChunkKey)>> {
        let values = self.transaction.scan_user(Table::Keys, self.user)?;
        let open = |(key, bytes): (Vec<u8>, Vec<u8>)| {
            let chunk = number_of(&key).ok_or_else(|| Error::corrupt("keys: malformed key"))?;
            Ok((chunk, self.head().open_chunk_key(self.core(), &key, &bytes)?))
        };
        values.into_iter().map(open).collect()
    }

    /// The rows that stay in touched chunks, as they are to be sealed again. The log's chunks follow in the log.
    fn survivors(&self, plan: &Plan, touched: &BTreeSet<u64>) -> Result<Vec<(u64, Vec<Survivor>)>> {
        let mut chunks = Vec::new();
        for chunk in touched.iter().filter(|chunk| **chunk <= row_chunk(u32::MAX)) {
            let first = (*chunk as u32) * BLOCK_ROWS;
            let mut rows = Vec::new();
            for row in (first..=first.saturating_add(BLOCK_ROWS - 1)).filter(|row| !plan.gone.contains_key(row)) {
                let memory = match plan.changed.get(&row) {
                    Some((_, after)) => Some(after.clone()),
                    None => self.record(row)?,
                };
                if let Some(memory) = memory {
                    rows.push(Survivor { row, memory, vector: self.vector(row)?, terms: self.terms(row)? });
                }
            }
            chunks.push((*chunk, rows));
        }
        Ok(chunks)
    }

    /// Seals what stays of a chunk under its new key.
    fn reseal(&mut self, plan: &Plan, chunk: u32, rows: Vec<Survivor>) -> Result<()> {
        let closed = chunk < self.head().facts.closed_blocks;
        for gone in plan.gone.keys().filter(|row| row_chunk(**row) == u64::from(chunk)) {
            self.remove_tail_row(*gone)?;
        }
        for one in &rows {
            self.put_value(
                Table::Records,
                u64::from(one.row),
                u64::from(chunk),
                &record::encode(&one.memory)?,
                Before::Perhaps,
            )?;
            if !closed {
                self.put_vector(one.row, one.vector.as_ref().map(|(space, numbers)| (*space, numbers)))?;
                self.put_terms(one.row, &one.terms)?;
            }
        }
        if !closed {
            return Ok(());
        }
        let rows: Vec<BlockRow> = rows.into_iter().map(Survivor::into_block_row).collect();
        for row in &rows {
            // A vector of another space stays a value of its own, under the new key.
            if let Some((space, numbers)) = &row.vector {
                let own = self.value_exists(Table::Vectors, u64::from(row.facts.row))?;
                if own {
                    self.put_vector(row.facts.row, Some((*space, numbers)))?;
                }
            }
        }
        self.write_block(chunk, &rows, |_| false)
    }

    /// A new user key, from which on the old one opens nothing that is live.
    pub(super) fn move_epoch(&mut self, lost: Arc<AtomicU32>) -> Result<()> {
        let core = self.transaction.core;
        let head = self.head();
        let owner = |epoch| SlotOwner { user: head.user, generation: head.slot.generation, epoch };
        let old = core.keyring.live_slot(&core.world, owner(head.slot.epoch), &head.keys)?;
        let keys = head.keys.with_new_user_key(&core.world)?;
        let new = core.keyring.live_slot(&core.world, owner(head.slot.epoch + 1), &keys)?;
        let (user, slot) = (head.user, head.slot.slot);
        self.transaction.rekey = Some(Rekey::Replace { user, slot, old: Box::new(old), new: Box::new(new), lost });
        let head = self.head_mut();
        head.keys = keys;
        head.slot.epoch += 1;
        head.chunks = Arc::default();
        Ok(())
    }

    fn remove_gone(&mut self, plan: &Plan) -> Result<()> {
        for (row, memory) in &plan.gone {
            let id = self.head().keys.hash_id(memory.id.as_bytes());
            let text = self.text_hash(memory.text());
            self.put_tombstone(id)?;
            self.put_tombstone(text)?;
            self.change_index(IndexChange::Remove { row: *row, id: *memory.id.as_bytes() });
            let facts = self.facts();
            facts.live = facts.live.saturating_sub(1);
            facts.linked = facts.linked.saturating_sub(u32::from(is_linked(memory)));
        }
        for (row, (before, after)) in &plan.changed {
            let unlinked = is_linked(before) && !is_linked(after);
            let facts = self.facts();
            facts.linked = facts.linked.saturating_sub(u32::from(unlinked));
            let attributes = Attributes::of(after);
            self.change_index(IndexChange::Change { facts: facts_of(after, *row), attributes });
        }
        Ok(())
    }

    fn log_forgetting(&mut self, plan: &Plan) -> Result<()> {
        let rows = plan.gone.keys().map(|row| RowChange { row: *row, before: None }).collect();
        let at = self.now();
        self.log(&LogEntry { verb: Verb::Forget.into(), at, rows })
    }
}

/// A row that stays in a touched chunk.
struct Survivor {
    row: u32,
    memory: Memory,
    vector: Option<(u32, crate::memory::Vector)>,
    terms: Vec<u8>,
}

impl Survivor {
    fn into_block_row(self) -> BlockRow {
        let (facts, attributes) = (facts_of(&self.memory, self.row), Attributes::of(&self.memory));
        BlockRow { facts, attributes, vector: self.vector, terms: self.terms }
    }
}

fn touched_chunks(plan: &Plan, log: &[(u64, LogEntry)], traces: &[(u64, StoredTrace)]) -> BTreeSet<u64> {
    let rows = plan.gone.keys().chain(plan.changed.keys()).map(|row| row_chunk(*row));
    let log = log.iter().map(|(seq, _)| log_chunk(*seq));
    rows.chain(log).chain(traces.iter().map(|(seq, _)| trace_chunk(*seq))).collect()
}

/// Drops the image of a row that goes, and references to it from other images; whether there was any.
fn purge_image(plan: &Plan, change: &mut RowChange) -> Result<bool> {
    let Some(image) = &change.before else { return Ok(false) };
    if plan.gone.contains_key(&change.row) {
        change.before = None;
        return Ok(true);
    }
    let mut memory = record::decode(image)?;
    let stripped = plan.strip(&mut memory);
    if stripped {
        change.before = Some(record::encode(&memory)?);
    }
    Ok(stripped)
}
