//! The second copies of MANIFEST, KEYRING and snapshots, from the first, or the other way round.

use super::{Repaired, readable};
use crate::codec::keyring::Copy;
use crate::engine::core::Core;
use crate::engine::doctor::{Damage, unless_disk_fails};
use crate::error::{ErrorKind, Result};
use crate::world::{file_error, retry_interrupted};

impl Core {
    pub(super) fn repair_files(&self) -> Result<()> {
        if !self.directory.damaged_manifest_copies()?.is_empty() {
            self.directory.rewrite_manifest()?;
        }
        if !self.keyring.damaged_header_copies()?.is_empty() {
            self.keyring.write_header()?;
        }
        for (slot, _, copies) in self.damaged_slots()? {
            let Some(read) = readable(self.keyring.read_slot(slot))? else { continue };
            let whole = read.a.or(read.b);
            for copy in copies {
                match &whole {
                    Some(whole) => self.keyring.write_slot(slot, copy, whole)?,
                    None => self.keyring.blank_slot(slot, copy)?,
                }
            }
            self.keyring.sync()?;
        }
        Ok(())
    }

    /// Sections get both copies back, without rows that are damaged; a snapshot that can't be read is put aside.
    pub(super) fn repair_snapshots(&self, done: &mut Repaired) -> Result<()> {
        for id in self.directory.snapshots().ids()? {
            let opened = self.directory.snapshots().open(&self.keyring, id);
            if is_newer(&opened) {
                continue;
            }
            let Some(reader) = readable(opened)? else {
                done.lost.push(Damage::of("snapshot", format!("{id}: it can't be read")));
                done.quarantined.extend(self.put_aside(&id.to_string())?);
                continue;
            };
            let (Some(keys), Some(directory)) = (readable(reader.keys())?, readable(reader.directory())?) else {
                done.lost.push(Damage::of("snapshot", format!("{id}: its keys or its directory are gone")));
                done.quarantined.extend(self.put_aside(&id.to_string())?);
                continue;
            };
            for entry in directory {
                // Of a user who is ill, the next repair sees to it.
                let Some(Some(head)) = unless_disk_fails(self.head(entry.user))? else { continue };
                if head.slot.generation != entry.generation {
                    continue;
                }
                let section = |copy| self.section_of(&reader, &keys, &entry, &head, copy);
                let sections = [section(Copy::A), section(Copy::B)];
                if sections.iter().any(is_newer) {
                    continue;
                }
                let [a, b] = sections;
                let sections = [readable(a)?, readable(b)?];
                let is_whole = sections.iter().all(Option::is_some);
                let mut section = sections.into_iter().flatten().next().unwrap_or_default();
                let (before, mut rows) = (section.rows.len(), Vec::new());
                for row in section.rows {
                    if readable(self.copied_row(&reader, &entry, &row))?.is_some() {
                        rows.push(row);
                    }
                }
                section.rows = rows;
                if is_whole && before == section.rows.len() {
                    continue;
                }
                let gone = before - section.rows.len();
                let says = format!("{id}: {gone} copied memories are damaged, {} are left", section.rows.len());
                let user = Some(head.facts.user_id.as_str().to_owned());
                done.lost.push(Damage { user, ..Damage::of("snapshot", says) });
                self.overwrite_section(&reader, &keys, &entry, &head, &section)?;
            }
        }
        Ok(())
    }

    fn put_aside(&self, stem: &str) -> Result<Vec<String>> {
        let (fs, quarantine) = (self.world.fs(), self.quarantine());
        let mut moved = Vec::new();
        let _ = fs.create_dir(&quarantine);
        for name in [format!("{stem}.rows"), format!("{stem}.keys")] {
            let from = self.directory.path().join("snapshots").join(&name);
            match retry_interrupted(|| fs.rename(&from, &quarantine.join(&name))) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                other => {
                    other.map_err(|error| file_error("rename", &from, error))?;
                    moved.push(name);
                }
            }
        }
        for dir in [self.directory.path().to_owned(), quarantine, self.directory.path().join("snapshots")] {
            retry_interrupted(|| fs.sync_dir(&dir)).map_err(|error| file_error("sync", &dir, error))?;
        }
        Ok(moved)
    }
}

/// Whether it is whole, but of a newer version, which has to repair it.
fn is_newer<T>(read: &Result<T>) -> bool {
    read.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unsupported)
}
