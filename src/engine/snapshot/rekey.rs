//! What a forgetting does to snapshots: the keys of the user's rows move under the new user key, without those of what
//! is forgotten. Overwritten in place, so that it needs no room; whatever goes wrong, the old user key dies.

use crate::codec::keyring::{Copy, Slot};
use crate::codec::snapshot::{Entry, RowKey, Section, decode_section, encode_section};
use crate::codec::table::hashed;
use crate::codec::{Table, UserHash, frame};
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::SnapshotId;
use crate::seal::{Key, Place, Plain, UserKeys};
use crate::storage::{KeyFile, ReadView, SnapshotReader};

/// A user's keys at one epoch.
pub(in crate::engine) struct Epoch {
    user: UserHash,
    generation: u32,
    number: u64,
    keys: UserKeys,
}

impl Epoch {
    fn of(core: &Core, slot: &Slot) -> Result<Self> {
        let keys = core.keyring.keys_of(slot)?;
        Ok(Self { user: slot.user, generation: slot.generation, number: slot.epoch, keys })
    }

    pub(in crate::engine) fn new(user: UserHash, generation: u32, number: u64, keys: UserKeys) -> Self {
        Self { user, generation, number, keys }
    }

    fn place<'k>(&self, key: &'k [u8]) -> Place<'k> {
        let (user, generation, epoch) = (self.user, self.generation, self.number);
        Place { user, generation, table: Table::SnapshotKeys, key, epoch }
    }

    /// The section that a copy holds, where it is of this epoch.
    pub(in crate::engine) fn open(
        &self,
        core: &Core,
        reader: &SnapshotReader,
        file: &KeyFile,
        entry: &Entry,
        copy: Copy,
    ) -> Result<Option<Section>> {
        let Some(bytes) = file.section(entry, copy)? else { return Ok(None) };
        let key = reader.frame_key(self.user, 0);
        match core.sealer.open(&self.keys.snapshots(), &self.place(&key), &bytes) {
            Ok(opened) => decode_section(&opened.plain).map(Some),
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn seal(&self, core: &Core, reader: &SnapshotReader, entry: &Entry, section: &Section) -> Result<Vec<u8>> {
        let mut nonce = [0; 24];
        core.world.fill(&mut nonce)?;
        let key = reader.frame_key(self.user, 0);
        let plain = encode_section(section);
        core.sealer.seal(&self.keys.snapshots(), &self.place(&key), entry.as_of, nonce, &plain)
    }
}

impl Core {
    /// After the commit of a forgetting, and before the old key goes: how many snapshots lost the user.
    pub(crate) fn rekey_snapshots(&self, view: &ReadView, old: &Slot, new: &Slot) -> Result<u32> {
        sabotage!(31, return Ok(0));
        let snapshots = self.directory.snapshots();
        let ids = snapshots.ids().or_else(|_| snapshots.ids())?;
        if ids.is_empty() {
            return Ok(0);
        }
        let (old, new) = (Epoch::of(self, old)?, Epoch::of(self, new)?);
        let mut lost = 0;
        for id in ids {
            let again = |_| {
                self.directory.release_reserve()?;
                let second = self.rekey_one(view, id, &old, &new);
                self.directory.restore_reserve();
                second
            };
            if let Err(error) = self.rekey_one(view, id, &old, &new).or_else(again) {
                log::warn!("snapshot {id} loses {}: {error}", old.user);
                lost += 1;
            }
        }
        Ok(lost)
    }

    fn rekey_one(&self, view: &ReadView, id: SnapshotId, old: &Epoch, new: &Epoch) -> Result<()> {
        let reader = match self.directory.snapshots().open(&self.keyring, id) {
            // Deleted meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let Some(entry) = reader.entry(new.user, new.generation)? else { return Ok(()) };
        let file = reader.keys()?;
        let (source, mut section) = self
            .find_section(&reader, &file, &entry, &[new, old])?
            .ok_or_else(|| Error::corrupt(format!("snapshot {id}: the keys of {} are damaged", new.user)))?;
        let before = section.rows.len();
        section.rows.retain(|row| !is_forgotten(view, &entry, row));
        section.forgotten += (before - section.rows.len()) as u32;
        let frame = new.seal(self, &reader, &entry, &section)?;
        // The copy that was read from stays until the other one is whole.
        let other = if source == Copy::A { Copy::B } else { Copy::A };
        for copy in [other, source] {
            file.overwrite(&entry, copy, &frame)?;
            file.sync()?;
        }
        Ok(())
    }

    /// The section that one copy holds, under the keys of a live user.
    pub(crate) fn section_of(
        &self,
        reader: &SnapshotReader,
        file: &KeyFile,
        entry: &Entry,
        head: &Head,
        copy: Copy,
    ) -> Result<Section> {
        let epoch = Epoch::new(head.user, head.slot.generation, head.slot.epoch, head.keys.clone());
        epoch.open(self, reader, file, entry, copy)?.ok_or_else(|| Error::corrupt("damaged"))
    }

    /// Overwrites both copies of a section of a live user.
    pub(crate) fn overwrite_section(
        &self,
        reader: &SnapshotReader,
        file: &KeyFile,
        entry: &Entry,
        head: &Head,
        section: &Section,
    ) -> Result<()> {
        let epoch = Epoch::new(head.user, head.slot.generation, head.slot.epoch, head.keys.clone());
        let frame = epoch.seal(self, reader, entry, section)?;
        for copy in [Copy::A, Copy::B] {
            file.overwrite(entry, copy, &frame)?;
            file.sync()?;
        }
        Ok(())
    }

    /// A copied row: its record and its vector, which may be empty.
    pub(crate) fn copied_row(&self, reader: &SnapshotReader, entry: &Entry, row: &RowKey) -> Result<Plain> {
        let key = reader.frame_key(entry.user, u64::from(row.number));
        let (user, generation) = (entry.user, entry.generation);
        let place = Place { user, generation, table: Table::SnapshotRows, key: &key, epoch: 0 };
        Ok(self.sealer.open(&Key::new(*row.key), &place, &reader.row(row)?)?.plain)
    }

    /// The first copy that opens at one of the epochs.
    pub(super) fn find_section(
        &self,
        reader: &SnapshotReader,
        file: &KeyFile,
        entry: &Entry,
        epochs: &[&Epoch],
    ) -> Result<Option<(Copy, Section)>> {
        for epoch in epochs {
            for copy in [Copy::A, Copy::B] {
                if let Some(section) = epoch.open(self, reader, file, entry, copy)? {
                    return Ok(Some((copy, section)));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a row was forgotten after it was copied. One that was stated again before the copy was not.
pub(in crate::engine) fn is_forgotten(view: &ReadView, entry: &Entry, row: &RowKey) -> bool {
    sabotage!(32, return false);
    let key = hashed(entry.user, row.id);
    let version = view.get_with(Table::Tombstones, &key, |bytes| {
        Ok(frame::parse(Table::Tombstones, &key, bytes).map_or(u64::MAX, |frame| frame.version))
    });
    // What can't be read may be a tombstone.
    version.map_or(true, |version| version.is_some_and(|version| version > entry.as_of))
}
