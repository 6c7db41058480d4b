//! All of a user's memories as lines that this and other stores can read back without a loss.

use std::io::Write;

use crate::codec::export::{Line, Manifest};
use crate::codec::vector;
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::engine::recall::ATTEMPTS;
use crate::engine::snapshot::PackReader;
use crate::error::{Error, Result};
use crate::memory::{Memory, Sensitivity, UserId};
use crate::storage::ReadView;

/// What an export wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// Memories that were written.
    pub memories: u64,
    /// What is not in it because it is damaged, by name.
    pub damaged: Vec<String>,
}

/// A row, its version, and whether it has a vector.
type Seen = (u32, u32, bool);

/// A user's rows at one commit.
struct Rows {
    seen: Vec<Seen>,
    damaged: Vec<String>,
    version: u64,
}

impl Core {
    pub(crate) fn export(&self, user: &UserId, level: Sensitivity, out: &mut dyn Write) -> Result<Exported> {
        self.check_open()?;
        let hash = self.user_hash(user);
        for _ in 0..ATTEMPTS {
            // Only what is durable has a number that no other commit will get.
            let as_of = self.shard_of(hash).last_seq();
            self.flush()?;
            let rows = self.with_index(hash, |_, index| {
                let seen = index.arena.iter().filter(|f| f.sensitivity <= level.code());
                let mut rows: Vec<Seen> = seen.map(|f| (f.row, f.version, f.has_vector)).collect();
                rows.sort_unstable();
                Ok(Rows { seen: rows, damaged: index.damaged.clone(), version: index.version })
            })?;
            let rows = rows.ok_or_else(|| Error::not_found("user: nothing is stored"))?;
            let mut export =
                Export { core: self, out: &mut *out, hasher: blake3::Hasher::new(), done: Exported::default() };
            export.done.damaged.clone_from(&rows.damaged);
            let done = self.consistent(hash, |head, view| {
                if head.version != rows.version {
                    return Ok(None);
                }
                export.rows(head, view, &rows.seen)?;
                export.finish(head, as_of).map(Some)
            })?;
            if let Some(done) = done.flatten() {
                return Ok(done);
            }
            self.wait_for_commit(hash);
        }
        Err(Error::busy("export: the user's memories changed faster than they could be read; try again"))
    }
}

struct Export<'a> {
    core: &'a Core,
    out: &'a mut dyn Write,
    hasher: blake3::Hasher,
    done: Exported,
}

impl Export<'_> {
    fn rows(&mut self, head: &Head, view: &ReadView, rows: &[Seen]) -> Result<()> {
        let mut packs = PackReader::default();
        for seen in rows {
            match self.line(head, view, *seen, &mut packs) {
                Ok(line) => self.write(&line)?,
                Err(error) if error.is_of_a_value() => self.done.damaged.push(error.message().to_owned()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn line(
        &self,
        head: &Head,
        view: &ReadView,
        (row, version, has_vector): Seen,
        packs: &mut PackReader,
    ) -> Result<String> {
        let missing = || Error::corrupt(format!("records: row {row} of {} is missing or stale", head.user));
        let memory = self.core.record_of(head, view, row)?.filter(|memory| memory.version == version);
        let memory = memory.ok_or_else(missing)?;
        let bytes = if has_vector { Some(packs.find(self.core, view, head, row)?) } else { None };
        let numbers = bytes.map(|bytes| vector::decode(&bytes)).transpose()?.map(|(_, vector)| vector);
        let model = self.model_of(&memory);
        let line = Line { memory, model, vector: numbers.map(|numbers| numbers.as_slice().to_vec()) };
        Ok(line.encode())
    }

    fn model_of(&self, memory: &Memory) -> Option<(String, usize)> {
        let spaces = self.core.spaces.read();
        memory.space.and_then(|number| spaces.get(number)).map(|space| (space.model().to_owned(), space.dims()))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        self.hasher.update(line.as_bytes()).update(b"\n");
        self.put(line)?;
        self.done.memories += 1;
        Ok(())
    }

    fn put(&mut self, line: &str) -> Result<()> {
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|error| Error::io("export: it could not be written").with_source(error))
    }

    fn finish(mut self, head: &Head, as_of: u64) -> Result<Exported> {
        let manifest = Manifest {
            store: self.core.directory.store_id(),
            user: head.user.0,
            generation: head.slot.generation,
            as_of,
            memories: self.done.memories,
            exported_at: self.core.now().as_micros(),
            hash: *self.hasher.finalize().as_bytes(),
        };
        let line = manifest.encode(&self.core.keyring.export_tag(manifest.body().as_bytes()));
        self.put(&line)?;
        Ok(self.done)
    }
}
