//! Rows out of the shards into the files of a snapshot, a user at a time.

use std::ops::ControlFlow;

use zeroize::Zeroizing;

use crate::codec::block::{StoredVector, decode_block, decode_overlay};
use crate::codec::head::BLOCK_ROWS;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::snapshot::{RowKey, Section, encode_row, encode_section, frame_key};
use crate::codec::table::{number_of, numbered};
use crate::codec::{Table, UserHash, frame, record, vector};
use crate::engine::core::Core;
use crate::engine::full_vectors::pack_number;
use crate::engine::head::{self, Found, Head, Repair, row_chunk};
use crate::error::{Error, Result};
use crate::memory::{MemoryId, SnapshotId, Vector};
use crate::seal::{Key, Nonces, Place, Plain};
use crate::storage::{ReadView, SnapshotWriter};

/// A snapshot while it is taken.
pub(super) struct Copier<'a> {
    core: &'a Core,
    id: SnapshotId,
    writer: SnapshotWriter<'a>,
    nonces: Nonces<'a>,
    damaged: Vec<String>,
    without_vector: Vec<MemoryId>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(core: &'a Core, id: SnapshotId, writer: SnapshotWriter<'a>) -> Self {
        Self { core, id, writer, nonces: Nonces::new(&core.world), damaged: Vec::new(), without_vector: Vec::new() }
    }

    /// What was written, what was not because it is damaged, and what was without its vector.
    pub(super) fn done(self) -> (SnapshotWriter<'a>, Vec<String>, Vec<MemoryId>) {
        (self.writer, self.damaged, self.without_vector)
    }

    /// Copies the users of a shard, as of one moment.
    pub(super) fn copy_shard(&mut self, number: usize, as_of: u64) -> Result<()> {
        let opened = self.core.shard_at(number).serving().and_then(crate::storage::Shard::read);
        let Some(view) = self.note(opened)? else { return Ok(()) };
        let mut users = Vec::new();
        let scanned = view.scan_from(Table::Users, &[], |key, _| {
            users.push(UserHash(key.try_into().map_err(|_| Error::corrupt("users: malformed key"))?));
            Ok(ControlFlow::Continue(()))
        });
        self.note(scanned)?;
        users.into_iter().try_for_each(|user| {
            let copied = self.copy_user(&view, user, as_of);
            self.note(copied).map(drop)
        })
    }

    /// Damage is named and passed over; anything else ends the snapshot.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_of_a_value() => {
                self.damaged.push(error.message().to_owned());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn copy_user(&mut self, view: &ReadView, user: UserHash, as_of: u64) -> Result<()> {
        let Found::Live(head) = head::load(self.core, view, user, Repair::No)? else { return Ok(()) };
        let (mut section, mut packs, before) = (Section::default(), PackReader::default(), self.damaged.len());
        view.scan_user(Table::Records, user, |key, bytes| {
            let copied = self.copy_row(view, &head, key, bytes, section.rows.len() as u32, &mut packs);
            section.rows.extend(self.note(copied)?);
            Ok(())
        })?;
        let found = section.rows.len() + self.damaged.len() - before;
        if found != head.facts.live as usize {
            self.damaged.push(format!("records of {user}: {found} of {}", head.facts.live));
        }
        let frame = seal_section(self.core, &head, self.id, as_of, self.nonces.next()?, &section)?;
        self.writer.push_section(user, head.slot.generation, as_of, &frame)
    }

    /// A memory whose vector is damaged is copied without it, and named.
    fn vector(&mut self, found: Result<Vec<u8>>, id: MemoryId) -> Result<Vec<u8>> {
        match found {
            Err(error) if error.is_of_a_value() => {
                self.without_vector.push(id);
                Ok(Vec::new())
            }
            other => other,
        }
    }

    fn copy_row(
        &mut self,
        view: &ReadView,
        head: &Head,
        key: &[u8],
        bytes: &[u8],
        number: u32,
        packs: &mut PackReader,
    ) -> Result<RowKey> {
        let row = number_of(key).and_then(|row| u32::try_from(row).ok());
        let row = row.ok_or_else(|| Error::corrupt("records: malformed key"))?;
        let chunk = head.chunk_key(self.core, view, row_chunk(row))?;
        let plain = head.open_value(self.core, Table::Records, key, &chunk, bytes)?;
        let memory = record::decode(&plain)?;
        let numbers = match memory.space {
            Some(_) => self.vector(packs.find(self.core, view, head, row), memory.id)?,
            None => Vec::new(),
        };
        let seal = Key::random(&self.core.world)?;
        let place_key = frame_key(head.user, *self.id.as_bytes(), u64::from(number));
        let place = head.place(Table::SnapshotRows, &place_key, 0);
        let nonce = self.nonces.next()?;
        let frame = self.core.sealer.seal(&seal, &place, head.version, nonce, &encode_row(&plain, &numbers))?;
        let at = self.writer.push_row(&frame)?;
        let id = head.keys.hash_id(memory.id.as_bytes());
        Ok(RowKey { id, key: Zeroizing::new(*seal.bytes()), number, at, len: frame.len() as u32 })
    }
}

/// Reads stored vectors row by row; remembers the last pack.
#[derive(Default)]
pub(in crate::engine) struct PackReader(Option<(u64, Option<Pack>)>);

impl PackReader {
    /// The vector of a row as a value of its own holds it; empty where the model has none for it, or the model was left.
    ///
    /// # Errors
    ///
    /// `Corrupt` where it is damaged, missing, or older than its block.
    pub(in crate::engine) fn find(&mut self, core: &Core, view: &ReadView, head: &Head, row: u32) -> Result<Vec<u8>> {
        let values = Values { core, view, head, row };
        if let Some((own, _)) = values.open(Table::Vectors, u64::from(row))? {
            return Ok(own.to_vec());
        }
        if let Some((overlay, _)) = values.open(Table::Rows, u64::from(row))? {
            match decode_overlay(&overlay)?.vector {
                StoredVector::None => return Ok(Vec::new()),
                StoredVector::Own => return Err(Error::corrupt(format!("vectors: that of row {row} is missing"))),
                StoredVector::Packed(_) => {}
            }
        }
        let current = core.spaces.read().current().map(|(number, space)| (number, space.dims()));
        let Some((space, dims)) = current.filter(|_| u64::from(row) < head.facts.closed_rows()) else {
            return Ok(Vec::new());
        };
        let (per_pack, within) = (rows_per_pack(dims), (row % BLOCK_ROWS) as usize);
        let number = pack_number(row / BLOCK_ROWS, within / per_pack);
        if self.0.as_ref().is_none_or(|(held, _)| *held != number) {
            self.0 = Some((number, values.pack(number, space)?));
        }
        let pack = self.0.as_ref().and_then(|(_, pack)| pack.as_ref()).filter(|pack| pack.space == space);
        let numbers = pack.and_then(|pack| pack.vector(within % per_pack));
        Ok(numbers.map(|numbers| vector::encode(space, &Vector::from_unit(numbers.to_vec()))).unwrap_or_default())
    }
}

/// What is stored of a row.
struct Values<'a> {
    core: &'a Core,
    view: &'a ReadView,
    head: &'a Head,
    row: u32,
}

impl Values<'_> {
    /// A value of the row's chunk, and the commit that wrote it.
    fn open(&self, table: Table, number: u64) -> Result<Option<(Plain, u64)>> {
        let key = numbered(self.head.user, number);
        let Some(bytes) = self.view.get(table, &key)? else { return Ok(None) };
        let chunk = self.head.chunk_key(self.core, self.view, row_chunk(self.row))?;
        let plain = self.head.open_value(self.core, table, &key, &chunk, &bytes)?;
        Ok(Some((plain, frame::parse(table, &key, &bytes)?.version)))
    }

    /// A pack of the row's block, which is written with the block; `None` where the block has no vectors of `space`.
    fn pack(&self, number: u64, space: u32) -> Result<Option<Pack>> {
        let block = self.row / BLOCK_ROWS;
        let damaged = |says: &str| Error::corrupt(format!("vectors: the pack of row {} {says}", self.row));
        let Some((plain, of)) = self.open(Table::Blocks, u64::from(block))? else {
            return Err(Error::corrupt(format!("blocks: block {block} is missing")));
        };
        match (self.open(Table::Vectors, number)?, decode_block(&plain)?.0) {
            (Some((pack, commit)), _) if commit == of => Pack::decode(&pack).map(Some),
            (Some(_), _) => Err(damaged("is older than its block")),
            (None, Some(found)) if found == space => Err(damaged("is missing")),
            (None, _) => Ok(None),
        }
    }
}

/// The frame of a user's section, under the user key that the head has.
pub(super) fn seal_section(
    core: &Core,
    head: &Head,
    id: SnapshotId,
    version: u64,
    nonce: [u8; 24],
    section: &Section,
) -> Result<Vec<u8>> {
    let key = frame_key(head.user, *id.as_bytes(), 0);
    let (generation, epoch) = (head.slot.generation, head.slot.epoch);
    let place = Place { user: head.user, generation, table: Table::SnapshotKeys, key: &key, epoch };
    core.sealer.seal(&head.keys.snapshots(), &place, version, nonce, &encode_section(section))
}
