//! An export read back: whole lines as they were, and nothing that was forgotten since.

use std::io::{BufRead, Read, Seek};

use crate::codec::export::{LINE_BYTES_MAX, Line, MANIFEST_BEGIN, Manifest};
use crate::codec::log_entry::{LogEntry, RowChange};
use crate::codec::table::hashed;
use crate::codec::{Table, UserHash, frame};
use crate::engine::core::Core;
use crate::engine::head::{self, Found, Head, Repair};
use crate::engine::remember::terms_of;
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, Result};
use crate::memory::limits::BATCH_MAX;
use crate::memory::{Memory, Space, UserId, Vector, Verb};
use crate::seal::same_tag;
use crate::storage::ReadView;
use crate::text::Stems;

/// Memories of one commit.
const BATCH: usize = if BATCH_MAX < 1000 { BATCH_MAX } else { 1000 };

/// What an import did. Every line is counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Imported {
    /// Whether this very store made the export.
    pub own: bool,
    /// Memories that were stored.
    pub stored: u64,
    /// Memories that are stored already, exactly so.
    pub unchanged: u64,
    /// Memories that are stored in another version: what is stored stays.
    pub conflicts: u64,
    /// Memories that were forgotten since: they stay forgotten.
    pub refused: u64,
}

/// A memory that passed every check that needs no store.
struct Ready {
    memory: Memory,
    vector: Option<(u32, Vector)>,
    terms: Vec<u8>,
}

/// What the export is, as this store sees it.
#[derive(Clone, Copy)]
struct Origin {
    /// The commit after which a tombstone is newer than the export; every tombstone is for an export from elsewhere.
    as_of: u64,
}

/// The user of this store whose memories an export has, where they are to become another's.
struct Source {
    head: Box<Head>,
    view: ReadView,
    as_of: u64,
}

impl Source {
    fn of(core: &Core, manifest: &Manifest) -> Result<Option<Self>> {
        let user = UserHash(manifest.user);
        let view = core.read(user)?;
        Ok(match head::load(core, &view, user, Repair::No)? {
            Found::Live(head) => Some(Self { head, view, as_of: manifest.as_of }),
            Found::Absent(_) => None,
        })
    }

    /// Whether that user had it forgotten since. What can't be read may be a tombstone.
    fn has_buried(&self, memory: &Memory) -> bool {
        let key = hashed(self.head.user, self.head.keys.hash_id(memory.id.as_bytes()));
        let version = self.view.get_with(Table::Tombstones, &key, |bytes| Ok(version_of(&key, bytes)));
        version.map_or(true, |version| version.is_some_and(|version| version > self.as_of))
    }
}

/// The commit that wrote a tombstone.
fn version_of(key: &[u8], bytes: &[u8]) -> u64 {
    frame::parse(Table::Tombstones, key, bytes).map_or(u64::MAX, |frame| frame.version)
}

impl Core {
    pub(crate) fn import<R: BufRead + Seek>(&self, user: &UserId, input: &mut R) -> Result<Imported> {
        self.check_open()?;
        let manifest = self.verified(input)?;
        rewind(input)?;
        let mut done = Imported { own: manifest.store == self.directory.store_id(), ..Imported::default() };
        if done.own && self.is_erased(UserHash(manifest.user), manifest.generation)? {
            done.refused = manifest.memories;
            return Ok(done);
        }
        let same = done.own && self.user_hash(user).0 == manifest.user;
        let source = if done.own && !same { Source::of(self, &manifest)? } else { None };
        let origin = Origin { as_of: if same { manifest.as_of } else { 0 } };
        let (mut left, mut line) = (manifest.memories, String::new());
        while left > 0 {
            let mut batch = Vec::with_capacity(BATCH.min(left as usize));
            while left > 0 && batch.len() < BATCH {
                read_line(input, &mut line)?;
                left -= 1;
                let one = self.ready(Line::decode(line.trim_end_matches('\n'))?)?;
                if source.as_ref().is_some_and(|source| source.has_buried(&one.memory)) {
                    done.refused += 1;
                } else {
                    batch.push(one);
                }
            }
            let stored = self.import_batch(user, origin, batch)?;
            done.add(&stored);
        }
        Ok(done)
    }

    /// The manifest, once all lines before it are known to be whole.
    fn verified(&self, input: &mut (impl BufRead + Seek)) -> Result<Manifest> {
        rewind(input)?;
        let (mut hasher, mut lines, mut line) = (blake3::Hasher::new(), 0, String::new());
        let manifest = loop {
            if !read_line(input, &mut line)? {
                return Err(Error::invalid("export: cut short, the manifest is missing"));
            }
            if line.starts_with(MANIFEST_BEGIN) {
                break line.trim_end_matches('\n').to_owned();
            }
            hasher.update(line.as_bytes());
            lines += 1;
        };
        if read_line(input, &mut line)? {
            return Err(Error::invalid("export: something follows the manifest"));
        }
        let (manifest, tag) = Manifest::decode(&manifest)?;
        let own = manifest.store == self.directory.store_id();
        let authentic = !own || same_tag(&tag, &self.keyring.export_tag(manifest.body().as_bytes()));
        if !authentic || manifest.memories != lines || !same_tag(&manifest.hash, hasher.finalize().as_bytes()) {
            return Err(Error::invalid("export: changed since it was written; nothing was imported"));
        }
        Ok(manifest)
    }

    /// Whether that life of the user is over.
    fn is_erased(&self, user: UserHash, generation: u32) -> Result<bool> {
        sabotage!(43, return Ok(false));
        Ok(match head::load(self, &self.read(user)?, user, Repair::No)? {
            Found::Live(head) => head.slot.generation != generation,
            Found::Absent(past) => past.is_some(),
        })
    }

    fn ready(&self, line: Line) -> Result<Ready> {
        let Line { mut memory, model, vector } = line;
        crate::memory::check(&memory)?;
        let space = model.map(|(model, dims)| self.space_of(&model, dims)).transpose()?.flatten();
        memory.space = space.map(|(number, _)| number);
        let vector = match (space, vector) {
            (Some((number, dims)), Some(numbers)) => Some((number, unit(numbers, dims)?)),
            _ => None,
        };
        let terms = terms_of(&memory, &mut Stems::default());
        Ok(Ready { memory, vector, terms })
    }

    /// The current space where it is the one named; the first one named becomes it.
    fn space_of(&self, model: &str, dims: usize) -> Result<Option<(u32, usize)>> {
        let named = Space::new(model, dims)?;
        if self.spaces.read().current().is_none() {
            self.declare(named.clone())?;
        }
        let spaces = self.spaces.read();
        Ok(spaces.current().filter(|(_, space)| space.same_vectors(&named)).map(|(number, _)| (number, dims)))
    }

    fn import_batch(&self, user: &UserId, origin: Origin, batch: Vec<Ready>) -> Result<Imported> {
        let (hash, id) = (self.user_hash(user), user.clone());
        self.write(hash, false, move |transaction| {
            transaction.with_new_user(hash, &id, |writer| writer.import(origin, batch))
        })
    }
}

impl Imported {
    fn add(&mut self, one: &Self) {
        self.stored += one.stored;
        self.unchanged += one.unchanged;
        self.conflicts += one.conflicts;
        self.refused += one.refused;
    }
}

impl UserWriter<'_, '_> {
    fn import(&mut self, origin: Origin, batch: Vec<Ready>) -> Result<Imported> {
        if self.head().facts.paused {
            return Err(Error::denied("import: memory is paused for this user"));
        }
        let (mut done, mut rows) = (Imported::default(), Vec::new());
        for mut one in batch {
            if self.is_buried(origin, &one.memory)? {
                done.refused += 1;
                continue;
            }
            self.without_buried(origin, &mut one.memory)?;
            if let Some((row, _)) = self.find(one.memory.id)? {
                let stored = self.record(row)?;
                let stored = stored.ok_or_else(|| Error::corrupt(format!("records: row {row} is missing")))?;
                let same = stored == one.memory && (one.vector.is_none() || self.vector(row)? == one.vector);
                *(if same { &mut done.unchanged } else { &mut done.conflicts }) += 1;
            } else {
                rows.push(RowChange { row: self.insert(&one.memory, one.vector, one.terms)?, before: None });
                done.stored += 1;
            }
        }
        if !rows.is_empty() {
            let at = self.now();
            self.log(&LogEntry { verb: Verb::Remember.into(), at, rows })?;
        }
        Ok(done)
    }

    /// Whether a memory was forgotten after the export.
    fn is_buried(&self, origin: Origin, memory: &Memory) -> Result<bool> {
        self.is_id_buried(origin, memory.id.as_bytes())
    }

    fn is_id_buried(&self, origin: Origin, id: &[u8; 16]) -> Result<bool> {
        sabotage!(43, return Ok(false));
        let key = hashed(self.user, self.head().keys.hash_id(id));
        let Some(bytes) = self.transaction.get(Table::Tombstones, &key)? else { return Ok(false) };
        Ok(version_of(&key, &bytes) > origin.as_of)
    }

    /// Takes out the ids of what was forgotten since.
    fn without_buried(&self, origin: Origin, memory: &mut Memory) -> Result<()> {
        for ids in [&mut memory.derived_from, &mut memory.supersedes] {
            let mut kept = Vec::with_capacity(ids.len());
            for id in ids.drain(..) {
                if !self.is_id_buried(origin, id.as_bytes())? {
                    kept.push(id);
                }
            }
            *ids = kept;
        }
        if let crate::memory::Status::Superseded { by, .. } = &mut memory.status
            && let Some(id) = by
            && self.is_id_buried(origin, id.as_bytes())?
        {
            *by = None;
        }
        Ok(())
    }
}

/// Exactly the numbers of an export, where they are a direction at all.
fn unit(numbers: Vec<f32>, dims: usize) -> Result<Vector> {
    let squares: f64 = numbers.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if numbers.len() != dims || !(0.999..1.001).contains(&squares) {
        return Err(Error::invalid(format!("vector: not a unit vector of {dims} numbers")));
    }
    Ok(Vector::from_unit(numbers))
}

fn failed(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::InvalidData => Error::invalid("export: not UTF-8"),
        _ => Error::io("export: it could not be read").with_source(error),
    }
}

fn rewind(input: &mut impl Seek) -> Result<()> {
    input.rewind().map_err(failed)
}

/// Reads a whole line; `false` at the end.
fn read_line(input: &mut impl BufRead, line: &mut String) -> Result<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_BYTES_MAX as u64).read_line(line).map_err(failed)?;
    if read > 0 && !line.ends_with('\n') {
        return Err(Error::invalid(format!("export: a line without an end, or over {LINE_BYTES_MAX} bytes")));
    }
    Ok(read > 0)
}
