//! From sealed values to the index of a user, with every value checked on the way.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::block::{StoredRow, StoredVector, decode_block, decode_overlay};
use crate::codec::frame;
use crate::codec::head::Digest;
use crate::codec::record::ArchivedRecordV1;
use crate::codec::table::{Digested, PACKED, number_of};
use crate::codec::{Table, UserHash, record, vector};
use crate::engine::core::Core;
use crate::engine::head::{self, ChunkKey, Found, Head, Repair, row_chunk};
use crate::engine::opened_block::OpenedBlocks;
use crate::engine::read_ahead::ReadAhead;
use crate::engine::stored_row::{attributes_of, check_codes, facts_of, source_of};
use crate::engine::user_cell::CellState;
use crate::engine::user_index::{Attributes, LoadedRow, UserIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::index::vector::{Facts, NewRow, VectorSource};
use crate::memory::{Kind, Space, space_code};
use crate::storage::ReadView;

impl Core {
    /// Hands the index of a user to `read`; `None` for an unknown user.
    pub(crate) fn with_index<R>(
        &self,
        user: UserHash,
        read: impl FnOnce(&Head, &UserIndex) -> Result<R>,
    ) -> Result<Option<R>> {
        self.shard_of(user).serving()?;
        let cell = self.cell(user);
        let mut state = cell.state.read();
        let space = self.spaces.read().current().map(|(number, _)| number);
        let loaded = !state.is_loaded(space);
        if loaded {
            drop(state);
            let mut alone = cell.state.write();
            if !alone.is_loaded(space) && !self.load_into(user, &mut alone)? {
                return Ok(None);
            }
            state = parking_lot::RwLockWriteGuard::downgrade(alone);
        }
        let (Some(head), Some(index)) = (&state.head, &state.index) else { return Ok(None) };
        let before = index.growth();
        let answer = read(head, index);
        if loaded || index.growth() != before {
            let bytes = index.bytes();
            drop(state);
            self.cache.settle(&cell, bytes);
        }
        answer.map(Some)
    }

    /// Loads head and index of one moment into a cell that is held alone; false for an unknown user.
    fn load_into(&self, user: UserHash, state: &mut CellState) -> Result<bool> {
        let view = self.read(user)?;
        let Found::Live(head) = head::load(self, &view, user, Repair::Yes)? else { return Ok(false) };
        // The held head knows more chunk keys, and what was checked before.
        let head = match &state.head {
            Some(held) if held.version == head.version => Arc::clone(held),
            _ => Arc::from(head),
        };
        state.index = Some(Loader::new(self, &view, &head).load()?);
        state.head = Some(head);
        Ok(true)
    }
}

pub(crate) struct Loader<'a> {
    core: &'a Core,
    view: &'a ReadView,
    head: &'a Head,
    chunks: HashMap<u64, ChunkKey>,
    sum: Digest,
    pub(crate) damaged: Vec<String>,
    ahead: Option<ReadAhead>,
}

/// What was opened and is parsed in place.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) blocks: OpenedBlocks,
    overlays: Vec<crate::seal::Plain>,
    /// Vectors that no pack has, of the current space.
    own: HashMap<u32, Vec<f32>>,
    pub(crate) tail: Vec<(Facts, Option<Box<Attributes>>)>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(core: &'a Core, view: &'a ReadView, head: &'a Head) -> Self {
        Self { core, view, head, chunks: HashMap::new(), sum: Digest::default(), damaged: Vec::new(), ahead: None }
    }

    fn load(mut self) -> Result<UserIndex> {
        self.ahead = Some(ReadAhead::start(self.core, self.head));
        let space = self.core.spaces.read().current().map(|(number, space)| (number, space.clone()));
        let mut plain = self.open_all(space.as_ref().map(|(number, _)| *number))?;
        self.open_blocks(&mut plain, 0..u64::MAX)?;
        self.ahead.take().map_or(Ok(()), ReadAhead::end)?;
        self.check_sum()?;
        let mut index = self.build(&plain, space.as_ref().map(|(number, space)| (*number, space)))?;
        self.head.facts.measured.iter().for_each(|measured| index.resume(measured));
        index.damaged = self.damaged;
        Ok(index)
    }

    /// Everything but the blocks.
    pub(crate) fn open_all(&mut self, space: Option<u32>) -> Result<Plain> {
        let mut plain = Plain::default();
        self.load_keys()?;
        self.each(Table::Tombstones, 0..u64::MAX, |_, _, _| Ok(()))?;
        self.each(Table::Rows, 0..u64::MAX, |loader, key, bytes| {
            let row = row_of(Table::Rows, key)?;
            plain.overlays.push(loader.open(Table::Rows, key, row_chunk(row), bytes)?);
            Ok(())
        })?;
        self.each(Table::Vectors, 0..PACKED, |loader, key, bytes| {
            let row = row_of(Table::Vectors, key)?;
            let opened = loader.open(Table::Vectors, key, row_chunk(row), bytes)?;
            let (of, raw) = vector::parse(&opened)?;
            loader.check_space(of)?;
            if Some(of) == space {
                plain.own.insert(row, vector::numbers(raw).collect());
            }
            Ok(())
        })?;
        self.each(Table::Records, self.head.facts.closed_rows()..u64::MAX, |loader, key, bytes| {
            let row = row_of(Table::Records, key)?;
            let opened = loader.open(Table::Records, key, row_chunk(row), bytes)?;
            plain.tail.push(tail_row(record::view(&opened)?, row)?);
            Ok(())
        })?;
        Ok(plain)
    }

    /// The blocks with these numbers.
    pub(crate) fn open_blocks(&mut self, plain: &mut Plain, numbers: std::ops::Range<u64>) -> Result<()> {
        let end = numbers.end.min(u64::from(self.head.facts.closed_blocks));
        self.each(Table::Blocks, numbers, |loader, key, bytes| {
            let number = row_of(Table::Blocks, key)?;
            loader.ahead.iter().for_each(|ahead| ahead.advance(u64::from(number) + 1));
            let frame = frame::parse(Table::Blocks, key, bytes)?;
            let (name, more) = ((number, frame.version), end.saturating_sub(u64::from(number) + 1));
            let chunk = loader.chunk(Table::Blocks, u64::from(number))?;
            plain.blocks.add(name, frame.body.len() - frame::TAG_BYTES, more, |text| {
                loader.head.open_value_into(loader.core, (Table::Blocks, key), chunk, &frame, text)
            })
        })
    }

    /// The index of what was opened.
    pub(crate) fn build(&mut self, plain: &Plain, space: Option<(u32, &Space)>) -> Result<UserIndex> {
        let mut rows = Vec::with_capacity(self.head.facts.live as usize);
        let overlays = self.parse_overlays(plain);
        let mut packed = Vec::with_capacity(plain.blocks.iter().len());
        for block in plain.blocks.iter() {
            let number = block.number;
            match decode_block(block.bytes()) {
                Ok((of, stored)) => {
                    if let Some(Err(error)) = of.map(|of| self.check_space(of)) {
                        self.damaged.push(format!("block {number}: {}", error.message()));
                    }
                    let of_space = of.is_some() && of == space.map(|(number, _)| number);
                    if of_space {
                        packed.push((number, block.version));
                    }
                    for row in &stored {
                        match block_row(row, overlays.get(&row.row), of_space, &plain.own) {
                            Err(error) if error.is_of_a_value() => self.damaged.push(error.message().to_owned()),
                            other => rows.push(other?),
                        }
                    }
                }
                Err(error) => self.damaged.push(format!("block {number}: {}", error.message())),
            }
        }
        let own = |row: u32| plain.own.get(&row).map_or(VectorSource::None, |vector| VectorSource::Full(vector));
        rows.extend(plain.tail.iter().map(|(facts, attributes)| LoadedRow {
            new: NewRow { facts: *facts, vector: own(facts.row) },
            attributes: attributes.clone(),
        }));
        UserIndex::build(self.core.settings.kernel, space, self.head.version, rows, packed).map_err(|error| {
            if error.kind() == ErrorKind::Conflict {
                return Error::corrupt(format!("rows of {}: one stands twice; run the doctor", self.head.user));
            }
            error
        })
    }

    fn parse_overlays<'p>(&mut self, plain: &'p Plain) -> HashMap<u32, StoredRow<'p>> {
        let mut overlays = HashMap::with_capacity(plain.overlays.len());
        for bytes in &plain.overlays {
            match decode_overlay(bytes) {
                Ok(row) => _ = overlays.insert(row.row, row),
                Err(error) => self.damaged.push(error.message().to_owned()),
            }
        }
        overlays
    }

    /// Counts every value of a part of a table in the digest and hands it on; a damaged one is named and left out.
    fn each(
        &mut self,
        table: Table,
        numbers: std::ops::Range<u64>,
        mut take: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (view, user) = (self.view, self.head.user);
        let mut visit = |key: &[u8], bytes: &[u8]| {
            let taken = match self.head.term(table, key, bytes) {
                Ok(term) => {
                    self.sum.add(&term);
                    take(self, key, bytes)
                }
                Err(error) => Err(error),
            };
            match taken {
                Err(error) if error.is_of_a_value() => {
                    self.damaged.push(error.message().to_owned());
                    Ok(())
                }
                other => other,
            }
        };
        if numbers == (0..u64::MAX) {
            view.scan_user(table, user, visit)
        } else {
            view.scan_numbered(table, user, numbers, &mut visit)
        }
    }

    fn load_keys(&mut self) -> Result<()> {
        self.each(Table::Keys, 0..u64::MAX, |loader, key, bytes| {
            let chunk = number_of(key).ok_or_else(|| Error::corrupt("keys: malformed key"))?;
            let opened = loader.head.open_chunk_key(loader.core, key, bytes)?;
            loader.chunks.insert(chunk, opened);
            Ok(())
        })?;
        let mut known = self.head.chunks.write();
        known.extend(self.chunks.iter().map(|(chunk, key)| (*chunk, key.clone())));
        Ok(())
    }

    fn open(&self, table: Table, key: &[u8], chunk: u64, bytes: &[u8]) -> Result<crate::seal::Plain> {
        self.head.open_value(self.core, table, key, self.chunk(table, chunk)?, bytes)
    }

    fn chunk(&self, table: Table, chunk: u64) -> Result<&ChunkKey> {
        let chunk = self.chunks.get(&chunk);
        chunk.ok_or_else(|| Error::corrupt(format!("{}: a value without its key", table.name())))
    }

    fn check_space(&self, number: u32) -> Result<()> {
        if self.core.spaces.read().knows(number) {
            return Ok(());
        }
        Err(Error::corrupt(format!("vectors of space {number}: the MANIFEST is older than they are")))
    }

    /// What is missing, extra or stale changes the sum. Damage that was named is told with every answer instead.
    pub(crate) fn check_sum(&self) -> Result<()> {
        sabotage!(8, return Ok(()));
        if self.sum == self.head.facts.digests[Digested::Load as usize] || !self.damaged.is_empty() {
            return Ok(());
        }
        Err(Error::corrupt(format!("values of {} are missing, extra or stale; run the doctor", self.head.user)))
    }
}

fn row_of(table: Table, key: &[u8]) -> Result<u32> {
    let number = number_of(key).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Error::corrupt(format!("{}: malformed key", table.name())))
}

/// A row of a block, as its overlay has changed it.
fn block_row<'p>(
    row: &StoredRow<'p>,
    overlay: Option<&StoredRow<'p>>,
    of_space: bool,
    own: &'p HashMap<u32, Vec<f32>>,
) -> Result<LoadedRow<'p>> {
    let latest = overlay.unwrap_or(row);
    check_codes(latest.row, latest.codes)?;
    let packed = match &row.vector {
        StoredVector::Packed(Some(quantised)) if of_space => source_of(quantised),
        _ => VectorSource::None,
    };
    let vector = match (&row.vector, overlay.map(|overlay| &overlay.vector)) {
        (_, Some(StoredVector::Own)) | (StoredVector::Own, None | Some(StoredVector::Packed(_))) => {
            own.get(&row.row).map_or(VectorSource::None, |vector| VectorSource::Full(vector))
        }
        (_, Some(StoredVector::None)) => VectorSource::None,
        _ => packed,
    };
    Ok(LoadedRow { new: NewRow { facts: facts_of(latest), vector }, attributes: attributes_of(latest)? })
}

fn tail_row(view: &ArchivedRecordV1, row: u32) -> Result<(Facts, Option<Box<Attributes>>)> {
    let status = view.status.kind().code();
    check_codes(row, [view.kind, status, view.sensitivity, view.visibility])?;
    let facts = Facts {
        id: view.id,
        row,
        version: view.version.to_native(),
        time: view.fades_from(),
        created_at: view.created_at.to_native(),
        valid_from: record::micros(&view.valid_from).unwrap_or(i64::MIN),
        valid_to: record::micros(&view.valid_to).unwrap_or(i64::MAX),
        importance: view.importance.to_native(),
        confidence: view.confidence.to_native(),
        kind: view.kind,
        status,
        sensitivity: view.sensitivity,
        visibility: view.visibility,
        pinned: view.pinned,
        turn: view.kind == Kind::Episode.code() && view.turn.is_some() && view.speaker.is_some(),
        space: space_code(view.space.as_ref().map(|space| space.to_native())),
        has_vector: false,
    };
    let attributes = if has_attributes(view) { Attributes::of(&view.to_memory()?) } else { None };
    Ok((facts, attributes))
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
        || view.revised_at.is_some()
        || view.ended_at.is_some()
        || !view.metadata.is_empty()
}
