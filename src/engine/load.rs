//! From sealed values to the index of a user, with every value checked on the way.

use std::collections::HashMap;

use crate::codec::head::Digest;
use crate::codec::record::ArchivedRecordV1;
use crate::codec::table::number_of;
use crate::codec::{Table, UserHash, record, vector};
use crate::engine::core::Core;
use crate::engine::head::{self, ChunkKey, Found, Head, Repair, row_chunk};
use crate::engine::user_cell::CellState;
use crate::engine::user_index::{Attributes, LoadedRow, UserIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::index::vector::Facts;
use crate::storage::ReadView;

impl Core {
    /// Hands the index of a user to `read`; `None` for an unknown user.
    pub(crate) fn with_index<R>(
        &self,
        user: UserHash,
        read: impl FnOnce(&Head, &UserIndex) -> Result<R>,
    ) -> Result<Option<R>> {
        let cell = self.cell(user);
        {
            let state = cell.state.read();
            if let (Some(head), Some(index)) = (&state.head, &state.index) {
                return read(head, index).map(Some);
            }
        }
        let mut state = cell.state.write();
        if state.index.is_none() && !self.load_into(user, &mut state)? {
            return Ok(None);
        }
        let state = parking_lot::RwLockWriteGuard::downgrade(state);
        let (Some(head), Some(index)) = (&state.head, &state.index) else { return Ok(None) };
        let answer = read(head, index)?;
        let bytes = index.bytes();
        drop(state);
        self.cache.settle(&cell, bytes);
        Ok(Some(answer))
    }

    /// Loads head and index of one moment into a cell that is held alone; false for an unknown user.
    fn load_into(&self, user: UserHash, state: &mut CellState) -> Result<bool> {
        let view = self.read(user)?;
        let Found::Live(head) = head::load(self, &view, user, Repair::Yes)? else { return Ok(false) };
        // The held head knows more chunk keys, and what was checked before.
        let head = match &state.head {
            Some(held) if held.version == head.version => std::sync::Arc::clone(held),
            _ => std::sync::Arc::from(head),
        };
        state.index = Some(Loader::new(self, &view, &head).load()?);
        state.head = Some(head);
        Ok(true)
    }
}

struct Loader<'a> {
    core: &'a Core,
    view: &'a ReadView,
    head: &'a Head,
    chunks: HashMap<u64, ChunkKey>,
    sum: Digest,
    damaged: Vec<String>,
}

impl<'a> Loader<'a> {
    fn new(core: &'a Core, view: &'a ReadView, head: &'a Head) -> Self {
        Self { core, view, head, chunks: HashMap::new(), sum: Digest::default(), damaged: Vec::new() }
    }

    fn load(mut self) -> Result<UserIndex> {
        self.load_keys()?;
        self.each(Table::Tombstones, |_, _, _| Ok(()))?;
        let space = self.core.spaces.read().current().map(|(number, space)| (number, space.clone()));
        let mut vectors = self.load_vectors(space.as_ref().map(|(number, _)| *number))?;
        let mut rows = Vec::with_capacity(self.head.facts.live as usize);
        self.each(Table::Records, |loader, key, bytes| {
            let (row, plain) = loader.open(Table::Records, key, bytes)?;
            rows.push(loaded_row(record::view(&plain)?, row)?);
            Ok(())
        })?;
        for row in &mut rows {
            row.vector = vectors.remove(&row.facts.row);
        }
        self.check_sum()?;
        let space = space.as_ref().map(|(number, space)| (*number, space));
        let mut index = UserIndex::build(self.core.settings.kernel, space, self.head.version, rows)?;
        index.damaged = self.damaged;
        Ok(index)
    }

    /// Counts every value of a table in the digest and hands it on; a damaged one is named and left out.
    fn each(&mut self, table: Table, mut take: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<()>) -> Result<()> {
        let (view, user) = (self.view, self.head.user);
        view.scan_user(table, user, |key, bytes| {
            let taken = match self.head.term(table, key, bytes) {
                Ok(term) => {
                    self.sum.add(&term);
                    take(self, key, bytes)
                }
                Err(error) => Err(error),
            };
            match taken {
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    self.damaged.push(error.message().to_owned());
                    Ok(())
                }
                other => other,
            }
        })
    }

    fn load_keys(&mut self) -> Result<()> {
        self.each(Table::Keys, |loader, key, bytes| {
            let chunk = number_of(key).ok_or_else(|| Error::corrupt("keys: malformed key"))?;
            let opened = loader.head.open_chunk_key(loader.core, key, bytes)?;
            loader.chunks.insert(chunk, opened);
            Ok(())
        })?;
        let mut known = self.head.chunks.write();
        known.extend(self.chunks.iter().map(|(chunk, key)| (*chunk, key.clone())));
        Ok(())
    }

    fn load_vectors(&mut self, space: Option<u32>) -> Result<HashMap<u32, Vec<f32>>> {
        let mut vectors = HashMap::with_capacity(self.head.facts.live as usize);
        self.each(Table::Vectors, |loader, key, bytes| {
            let (row, plain) = loader.open(Table::Vectors, key, bytes)?;
            let (of, raw) = vector::parse(&plain)?;
            if Some(of) == space {
                vectors.insert(row, vector::numbers(raw).collect());
            }
            Ok(())
        })?;
        Ok(vectors)
    }

    fn open(&self, table: Table, key: &[u8], bytes: &[u8]) -> Result<(u32, Vec<u8>)> {
        let row = number_of(key).ok_or_else(|| Error::corrupt(format!("{}: malformed key", table.name())))?;
        let row = u32::try_from(row).map_err(|_| Error::corrupt(format!("{}: malformed key", table.name())))?;
        let chunk = self.chunks.get(&row_chunk(row));
        let chunk = chunk.ok_or_else(|| Error::corrupt(format!("{}: no key for row {row}", table.name())))?;
        Ok((row, self.head.open_value(self.core, table, key, chunk, bytes)?))
    }

    /// What is missing, extra or stale changes the sum. Damage that was named is told with every answer instead.
    fn check_sum(&self) -> Result<()> {
        if self.sum == self.head.facts.digests[0] || !self.damaged.is_empty() {
            return Ok(());
        }
        Err(Error::corrupt(format!("values of {} are missing, extra or stale; run the doctor", self.head.user)))
    }
}

fn loaded_row(view: &ArchivedRecordV1, row: u32) -> Result<LoadedRow> {
    let begins = record::micros(&view.event_at).or(record::micros(&view.valid_from));
    let level = crate::memory::Sensitivity::from_code(view.sensitivity);
    let facts = Facts {
        id: view.id,
        row,
        version: view.version.to_native(),
        time: view.fades_from(),
        created_at: view.created_at.to_native(),
        valid_from: begins.unwrap_or(i64::MIN),
        valid_to: record::micros(&view.valid_to).unwrap_or(i64::MAX),
        importance: view.importance.to_native(),
        confidence: view.confidence.to_native(),
        kind: view.kind,
        status: view.status.kind().code(),
        sensitivity: level.ok_or_else(|| Error::corrupt("record: unknown code"))?.code(),
        visibility: view.visibility,
        pinned: view.pinned,
        has_vector: false,
    };
    let attributes = if has_attributes(view) { Attributes::of(&view.to_memory()?) } else { None };
    Ok(LoadedRow { facts, vector: None, attributes })
}

/// Whether a record has anything that filters ask beyond its facts; most have not, and are not copied.
fn has_attributes(view: &ArchivedRecordV1) -> bool {
    let texts = [&view.scene, &view.speaker, &view.language];
    texts.iter().any(|text| text.is_some())
        || !view.tags.is_empty()
        || view.turn.is_some()
        || view.slot.is_some()
        || view.evidence != crate::memory::Evidence::Stated.code()
        || view.event_at.is_some()
        || !view.metadata.is_empty()
}
