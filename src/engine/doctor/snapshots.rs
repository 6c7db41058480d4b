//! Snapshots: tail, directory, both copies of every section, every row.

use super::{Damage, told, unless_disk_fails};
use crate::codec::keyring::Copy;
use crate::codec::snapshot::Entry;
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::error::Result;
use crate::storage::SnapshotReader;

impl Core {
    pub(super) fn examine_snapshots(&self) -> Result<Vec<Damage>> {
        let mut damaged = Vec::new();
        for id in self.directory.snapshots().ids()? {
            let opened = self.directory.snapshots().open(&self.keyring, id);
            let looked = opened.and_then(|reader| self.examine_snapshot(&reader, &mut damaged));
            if let Err(error) = looked {
                damaged.push(Damage::of("snapshot", format!("{id}: {}", told(error)?)));
            }
        }
        Ok(damaged)
    }

    fn examine_snapshot(&self, reader: &SnapshotReader, damaged: &mut Vec<Damage>) -> Result<()> {
        let keys = reader.keys()?;
        for entry in reader.directory()? {
            let Some(Some(head)) = unless_disk_fails(self.head(entry.user))? else { continue };
            if head.slot.generation != entry.generation {
                continue;
            }
            let mut say = |says: String| {
                let user = Some(head.facts.user_id.as_str().to_owned());
                damaged.push(Damage { user, ..Damage::of("snapshot", format!("{}: {says}", reader.id)) });
            };
            for copy in [Copy::A, Copy::B] {
                match self.examine_section(reader, &keys, &entry, &head, copy) {
                    Ok(rows) => rows.into_iter().for_each(|row| say(format!("row {row} is damaged"))),
                    Err(error) => say(format!("copy {copy:?} of the keys: {}", told(error)?)),
                }
            }
        }
        Ok(())
    }

    /// The rows that don't open; they are looked at with copy A alone.
    fn examine_section(
        &self,
        reader: &SnapshotReader,
        keys: &crate::storage::KeyFile,
        entry: &Entry,
        head: &Head,
        copy: Copy,
    ) -> Result<Vec<u32>> {
        let section = self.section_of(reader, keys, entry, head, copy)?;
        if copy == Copy::B {
            return Ok(Vec::new());
        }
        let mut damaged = Vec::new();
        for row in &section.rows {
            if let Err(error) = self.copied_row(reader, entry, row) {
                told(error)?;
                damaged.push(row.number);
            }
        }
        Ok(damaged)
    }
}
