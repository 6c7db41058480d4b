//! Rows out of the shards into the files of a snapshot, a user at a time.

use std::ops::ControlFlow;

use zeroize::Zeroizing;

use crate::codec::block::{StoredVector, decode_overlay};
use crate::codec::head::BLOCK_ROWS;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::snapshot::{RowKey, Section, encode_row, encode_section, frame_key};
use crate::codec::table::{number_of, numbered};
use crate::codec::{Table, UserHash, record, vector};
use crate::engine::core::Core;
use crate::engine::full_vectors::pack_number;
use crate::engine::head::{self, Found, Head, Repair, row_chunk};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{SnapshotId, Vector};
use crate::seal::{Key, Nonces, Place};
use crate::storage::{ReadView, SnapshotWriter};

/// A snapshot while it is taken.
pub(super) struct Copier<'a> {
    core: &'a Core,
    id: SnapshotId,
    writer: SnapshotWriter<'a>,
    nonces: Nonces<'a>,
    damaged: Vec<String>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(core: &'a Core, id: SnapshotId, writer: SnapshotWriter<'a>) -> Self {
        Self { core, id, writer, nonces: Nonces::new(&core.world), damaged: Vec::new() }
    }

    /// What was written, and what was not because it is damaged.
    pub(super) fn done(self) -> (SnapshotWriter<'a>, Vec<String>) {
        (self.writer, self.damaged)
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
            Err(error) if error.kind() == ErrorKind::Corrupt => {
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
            Some(_) => packs.find(self.core, view, head, row)?,
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
pub(in crate::engine) struct PackReader(Option<(u64, Pack)>);

impl PackReader {
    /// The vector of a row as a value of its own holds it; empty where the model has none for it, or the model was left.
    pub(in crate::engine) fn find(&mut self, core: &Core, view: &ReadView, head: &Head, row: u32) -> Result<Vec<u8>> {
        let chunk = head.chunk_key(core, view, row_chunk(row))?;
        let open = |table, number| {
            let key = numbered(head.user, number);
            let bytes = view.get(table, &key)?;
            bytes.map(|bytes| head.open_value(core, table, &key, &chunk, &bytes)).transpose()
        };
        if let Some(own) = open(Table::Vectors, u64::from(row))? {
            return Ok(own.to_vec());
        }
        if let Some(overlay) = open(Table::Rows, u64::from(row))?
            && matches!(decode_overlay(&overlay)?.vector, StoredVector::None)
        {
            return Ok(Vec::new());
        }
        let current = core.spaces.read().current().map(|(number, space)| (number, space.dims()));
        let Some((space, dims)) = current.filter(|_| u64::from(row) < head.facts.closed_rows()) else {
            return Ok(Vec::new());
        };
        let (per_pack, within) = (rows_per_pack(dims), (row % BLOCK_ROWS) as usize);
        let number = pack_number(row / BLOCK_ROWS, within / per_pack);
        if self.0.as_ref().is_none_or(|(held, _)| *held != number) {
            self.0 =
                open(Table::Vectors, number)?.map(|plain| Pack::decode(&plain)).transpose()?.map(|pack| (number, pack));
        }
        let pack = self.0.as_ref().map(|(_, pack)| pack).filter(|pack| pack.space == space);
        let numbers = pack.and_then(|pack| pack.vector(within % per_pack));
        Ok(numbers.map(|numbers| vector::encode(space, &Vector::from_unit(numbers.to_vec()))).unwrap_or_default())
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
