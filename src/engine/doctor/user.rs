//! One user: every value opened, decoded, counted, and held against the others that speak of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::shard::missing;
use super::{Damage, told};
use crate::codec::block::{StoredVector, decode_block, decode_overlay};
use crate::codec::head::{BLOCK_ROWS, Digest};
use crate::codec::log_entry::LogEntry;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::table::{PACKED, number_of};
use crate::codec::trace::StoredTrace;
use crate::codec::{Table, frame, record, terms, tombstone, vector};
use crate::engine::core::Core;
use crate::engine::full_vectors::{pack_number, packs_per_block};
use crate::engine::head::{ChunkKey, Head, log_chunk, row_chunk, trace_chunk};
use crate::engine::stored_row::facts_of as facts_of_row;
use crate::engine::user_index::facts_of;
use crate::error::{Error, ErrorKind, Result};
use crate::index::vector::Facts;
use crate::storage::ReadView;

/// Said where a sum does not fit: which value it is can't be told.
pub(crate) const STALE: &str = "values are missing, extra or stale";

/// Looks at all values of a user.
pub(crate) struct Examiner<'a> {
    core: &'a Core,
    view: &'a ReadView,
    head: &'a Head,
    shard: u32,
    chunks: HashMap<u64, ChunkKey>,
    sums: [Digest; 3],
    seen: Seen,
    pub(crate) values: u64,
    pub(crate) damaged: Vec<Damage>,
}

/// What the values say of each other.
#[derive(Default)]
struct Seen {
    records: BTreeMap<u32, Facts>,
    /// Rows whose records only a newer version can read.
    newer_records: BTreeSet<u32>,
    own_vectors: BTreeMap<u32, u32>,
    /// Commit, and rows that are present.
    packs: BTreeMap<u64, (u64, u64)>,
    /// Space and commit.
    blocks: BTreeMap<u32, (Option<u32>, u64)>,
    /// What blocks and overlays say of closed rows.
    closed: BTreeMap<u32, (Facts, Kept)>,
    overlays: BTreeMap<u32, (Facts, Kept)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nowhere,
    Own,
    Packed,
}

impl Kept {
    fn of(vector: &StoredVector<'_>) -> Self {
        match vector {
            StoredVector::None => Self::Nowhere,
            StoredVector::Own => Self::Own,
            StoredVector::Packed(_) => Self::Packed,
        }
    }
}

impl<'a> Examiner<'a> {
    pub(super) fn new(core: &'a Core, view: &'a ReadView, head: &'a Head, shard: u32) -> Self {
        let (sums, seen) = (<[Digest; 3]>::default(), Seen::default());
        Self { core, view, head, shard, chunks: HashMap::new(), sums, seen, values: 0, damaged: Vec::new() }
    }

    pub(super) fn examine(&mut self) -> Result<()> {
        for table in Table::OF_USERS {
            let scanned = self.view.scan_user(table, self.head.user, |key, bytes| {
                self.values += 1;
                match self.look(table, key, bytes) {
                    Err(error) => self.say(table, number_of(key), error),
                    Ok(()) => Ok(()),
                }
            });
            if let Err(error) = scanned {
                self.say(table, None, error)?;
            }
        }
        self.check_rows();
        self.check_packs();
        self.check_sums();
        Ok(())
    }

    fn say(&mut self, table: Table, number: Option<u64>, error: Error) -> Result<()> {
        if table == Table::Records && error.kind() == ErrorKind::Unsupported {
            self.seen.newer_records.extend(number.map(|row| row as u32));
        }
        let says = told(error)?;
        self.add(table, number, &says);
        Ok(())
    }

    fn add(&mut self, table: Table, number: Option<u64>, says: &str) {
        let user = self.head.facts.user_id.as_str().to_owned();
        self.damaged.push(Damage::in_table(self.shard, table, user, number, says));
    }

    fn look(&mut self, table: Table, key: &[u8], bytes: &[u8]) -> Result<()> {
        let term = self.head.term(table, key, bytes)?;
        if let Some(digested) = table.digest(key, self.head.facts.closed_rows()) {
            self.sums[digested as usize].add(&term);
        }
        if table == Table::Tombstones {
            return self.look_at_tombstone(key, bytes);
        }
        let number = number_of(key).ok_or_else(|| missing("malformed key"))?;
        if table == Table::Keys {
            let chunk = self.head.open_chunk_key(self.core, key, bytes)?;
            self.chunks.insert(number, chunk);
            return Ok(());
        }
        let chunk = self.chunks.get(&chunk_of(table, number)).ok_or_else(|| missing("a value without its key"))?;
        let plain = self.head.open_value(self.core, table, key, chunk, bytes)?;
        let version = frame::parse(table, key, bytes)?.version;
        self.decode(table, number, version, &plain)
    }

    fn look_at_tombstone(&self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let seal = self.head.keys.tombstone.derive("mnemic seal tombstones");
        let opened = self.core.sealer.open(&seal, &self.head.place(Table::Tombstones, key, 0), bytes)?;
        tombstone::decode(&opened.plain).map(drop)
    }

    fn decode(&mut self, table: Table, number: u64, version: u64, plain: &[u8]) -> Result<()> {
        let row = number as u32;
        match table {
            Table::Records => {
                let memory = record::decode(plain)?;
                self.seen.records.insert(row, facts_of(&memory, row));
            }
            Table::Vectors if number < PACKED => {
                let (space, _) = vector::parse(plain)?;
                self.check_space(space)?;
                self.seen.own_vectors.insert(row, space);
            }
            Table::Vectors => {
                let pack = Pack::decode(plain)?;
                self.check_space(pack.space)?;
                self.seen.packs.insert(number, (version, pack.present));
            }
            Table::Blocks => self.take_block(row, version, plain)?,
            Table::Rows => {
                let stored = decode_overlay(plain)?;
                self.seen.overlays.insert(row, (facts_of_row(&stored), Kept::of(&stored.vector)));
            }
            Table::Terms if number < PACKED => _ = terms::decode(plain)?,
            Table::Terms => {
                terms::decode_lists(plain)?.into_iter().try_for_each(|(_, list)| terms::decode(list).map(drop))?;
            }
            Table::Log => {
                let entry = LogEntry::decode(plain)?;
                entry.verb.verb()?;
                let mut images = entry.rows.iter().filter_map(|change| change.before.as_deref());
                images.try_for_each(|image| record::decode(image).map(drop))?;
            }
            Table::Traces => _ = StoredTrace::decode(plain)?,
            _ => {}
        }
        Ok(())
    }

    fn take_block(&mut self, number: u32, version: u64, plain: &[u8]) -> Result<()> {
        let (space, rows) = decode_block(plain)?;
        space.map_or(Ok(()), |space| self.check_space(space))?;
        self.seen.blocks.insert(number, (space, version));
        for row in &rows {
            if row.row / BLOCK_ROWS != number {
                return Err(missing("a row of another block"));
            }
            self.seen.closed.insert(row.row, (facts_of_row(row), Kept::of(&row.vector)));
        }
        Ok(())
    }

    fn check_space(&self, number: u32) -> Result<()> {
        let knows = self.core.spaces.read().knows(number);
        if knows { Ok(()) } else { Err(missing("of an embedding space that the MANIFEST does not know")) }
    }

    /// Closed rows are counted by no sum: their records have to be what blocks and overlays say.
    fn check_rows(&mut self) {
        let mut closed = std::mem::take(&mut self.seen.closed);
        for (row, (facts, kept)) in std::mem::take(&mut self.seen.overlays) {
            match closed.get_mut(&row) {
                // A vector that stays where it was is where the block says.
                Some(known) if kept == Kept::Packed => known.0 = facts,
                Some(known) => *known = (facts, kept),
                None => self.add(Table::Rows, Some(u64::from(row)), "of a row that is in no block"),
            }
        }
        let records = std::mem::take(&mut self.seen.records);
        for (row, (facts, kept)) in &closed {
            match records.get(row) {
                None if self.seen.newer_records.contains(row) => {}
                None => self.add(Table::Records, Some(u64::from(*row)), "missing"),
                Some(found) if found != facts => self.add(Table::Records, Some(u64::from(*row)), "stale"),
                Some(_) => {}
            }
            if !self.has_vector(*row, *kept) {
                self.add(Table::Vectors, Some(u64::from(*row)), "the vector of this row is missing");
            }
        }
        let closed_rows = self.head.facts.closed_rows();
        for row in records.keys().filter(|row| u64::from(**row) < closed_rows && !closed.contains_key(row)) {
            self.add(Table::Records, Some(u64::from(*row)), "of a row that is in no block");
        }
        if records.len() != self.head.facts.live as usize && self.damaged.is_empty() {
            let says = format!("{} memories, not {}", records.len(), self.head.facts.live);
            self.add(Table::Records, None, &says);
        }
    }

    fn has_vector(&self, row: u32, kept: Kept) -> bool {
        match kept {
            Kept::Nowhere => true,
            Kept::Own => self.seen.own_vectors.contains_key(&row),
            Kept::Packed => {
                let block = row / BLOCK_ROWS;
                let Some(dims) = self.seen.blocks.get(&block).and_then(|(space, _)| self.dims(*space)) else {
                    return false;
                };
                let (within, per_pack) = ((row % BLOCK_ROWS) as usize, rows_per_pack(dims));
                let pack = self.seen.packs.get(&pack_number(block, within / per_pack));
                pack.is_some_and(|(_, present)| present >> (within % per_pack) & 1 == 1)
            }
        }
    }

    fn dims(&self, space: Option<u32>) -> Option<usize> {
        Some(self.core.spaces.read().get(space?)?.dims())
    }

    /// Packs are counted by no sum either: they are all there, of the commit that wrote their block.
    fn check_packs(&mut self) {
        let blocks = std::mem::take(&mut self.seen.blocks);
        for (block, (space, version)) in &blocks {
            let Some(dims) = self.dims(*space) else { continue };
            for pack in 0..packs_per_block(dims) {
                let number = pack_number(*block, pack);
                match self.seen.packs.get(&number) {
                    None => self.add(Table::Vectors, Some(number), "missing"),
                    Some((found, _)) if found != version => self.add(Table::Vectors, Some(number), "stale"),
                    Some(_) => {}
                }
            }
        }
        for block in (0..self.head.facts.closed_blocks).filter(|block| !blocks.contains_key(block)) {
            self.add(Table::Blocks, Some(u64::from(block)), "missing");
        }
    }

    fn check_sums(&mut self) {
        sabotage!(44, return);
        let tables = [Table::Keys, Table::Log, Table::Terms];
        for (sum, (expected, table)) in self.sums.into_iter().zip(self.head.facts.digests.into_iter().zip(tables)) {
            if sum != expected && self.damaged.is_empty() {
                let says = format!("{STALE} ({} of {})", sum.count, expected.count);
                self.add(table, None, &says);
            }
        }
    }
}

/// The chunk that seals a value.
pub(crate) fn chunk_of(table: Table, number: u64) -> u64 {
    match table {
        Table::Log => log_chunk(number),
        Table::Traces => trace_chunk(number),
        Table::Blocks => number,
        Table::Vectors if number >= PACKED => (number & (PACKED - 1)) >> 8,
        Table::Terms if number >= PACKED => number & (PACKED - 1),
        _ => row_chunk(number as u32),
    }
}
