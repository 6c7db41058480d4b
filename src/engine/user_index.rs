//! The searchable form of one user in memory, and how it follows commits.

use crate::engine::full_vectors::FullVectors;
use std::sync::OnceLock;

use crate::codec::measured::Measured;
use crate::engine::words::{self, Words};
use crate::error::{Error, ErrorKind, NEWER, Result};
use crate::index::attributes::Schema;
use crate::index::vector::{Arena, Facts, NewRow, VectorSource};
use crate::kernel::Dispatch;
use crate::memory::limits::DIMS_MIN;
use crate::memory::{Memory, MemoryId, Space, Vector, space_code};

pub(crate) use crate::index::attributes::Attributes;

/// The index of a user as of one commit.
pub(crate) struct UserIndex {
    /// The commit that it follows.
    pub(crate) version: u64,
    /// The number of the space of its vectors; those of other spaces count as pending.
    pub(crate) space: Option<u32>,
    pub(crate) arena: Arena,
    pub(crate) full: FullVectors,
    /// Every row number lies below this.
    pub(crate) next_row: u32,
    /// Built when words are first searched.
    pub(crate) words: OnceLock<Words>,
    pub(crate) schema: Schema,
    /// Values that were damaged when it was loaded, by name.
    pub(crate) damaged: Vec<String>,
    attributes: Vec<Option<Box<Attributes>>>,
    attribute_bytes: usize,
}

/// What a commit changes in the index.
pub(crate) enum IndexChange {
    /// A new row.
    Insert {
        /// Its facts.
        facts: Facts,
        /// Its vector with the number of its space.
        vector: Option<(u32, Vector)>,
        /// What filters ask.
        attributes: Option<Box<Attributes>>,
        /// Its stored terms.
        terms: Vec<u8>,
    },
    /// A changed record.
    Change {
        /// Its new facts.
        facts: Facts,
        /// What filters ask.
        attributes: Option<Box<Attributes>>,
    },
    /// A changed vector.
    SetVector {
        /// The row.
        row: u32,
        /// The new vector; `None` where it is pending again.
        vector: Option<(u32, Vector)>,
    },
    /// A changed text.
    SetTerms {
        /// The row.
        row: u32,
        /// Its stored terms.
        terms: Vec<u8>,
    },
    /// A block was built, or built anew.
    Block {
        /// Its number.
        number: u32,
    },
    /// A forgotten row.
    Remove {
        /// The row.
        row: u32,
        /// Its memory.
        id: [u8; 16],
    },
}

/// The facts of a record.
pub(crate) fn facts_of(memory: &Memory, row: u32) -> Facts {
    Facts {
        id: *memory.id.as_bytes(),
        row,
        version: memory.version,
        time: memory.fades_from().as_micros(),
        created_at: memory.created_at.as_micros(),
        valid_from: memory.valid_from.map_or(i64::MIN, crate::memory::Timestamp::as_micros),
        valid_to: memory.valid_to.map_or(i64::MAX, crate::memory::Timestamp::as_micros),
        importance: memory.importance,
        confidence: memory.confidence,
        kind: memory.kind.code(),
        status: memory.status.kind().code(),
        sensitivity: memory.sensitivity.code(),
        visibility: memory.visibility.code(),
        pinned: memory.pinned,
        turn: memory.is_turn(),
        space: space_code(memory.space),
        has_vector: false,
    }
}

/// A row on its way into a new index.
pub(crate) struct LoadedRow<'a> {
    pub(crate) new: NewRow<'a>,
    pub(crate) attributes: Option<Box<Attributes>>,
}

impl UserIndex {
    /// Builds the index of all rows at once. `blocks` are those that are built, with the commits that wrote them.
    pub(crate) fn build(
        kernel: Dispatch,
        space: Option<(u32, &Space)>,
        version: u64,
        rows: Vec<LoadedRow<'_>>,
        blocks: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<Self> {
        let dims = space.map_or(DIMS_MIN, |(_, space)| space.dims());
        let mut index = Self {
            version,
            space: space.map(|(number, _)| number),
            arena: Arena::from_rows(dims, kernel, rows.iter().map(|row| &row.new))?,
            full: FullVectors::new(dims),
            next_row: 0,
            words: OnceLock::new(),
            schema: Schema::default(),
            damaged: Vec::new(),
            attributes: Vec::new(),
            attribute_bytes: 0,
        };
        for (block, version) in blocks {
            index.full.set_block(block, version);
        }
        for LoadedRow { new: NewRow { facts, vector }, attributes } in rows {
            if let VectorSource::Full(vector) = vector {
                index.full.insert(facts.row, vector)?;
            }
            index.next_row = index.next_row.max(facts.row + 1);
            index.set_attributes(&facts, attributes);
        }
        Ok(index)
    }

    /// What approximate answers have measured so far.
    pub(crate) fn measured(&self) -> Option<Measured> {
        self.arena.measured(self.space?)
    }

    /// Goes on from what was measured of the vectors of this space before.
    pub(crate) fn resume(&mut self, measured: &Measured) {
        if self.space == Some(measured.space) {
            self.arena.resume(measured);
        }
    }

    /// Follows a commit. After an error it must be loaded anew.
    pub(crate) fn apply(&mut self, changes: Vec<IndexChange>, version: u64) -> Result<()> {
        for change in changes {
            self.apply_one(change, version)?;
        }
        self.version = version;
        Ok(())
    }

    fn apply_one(&mut self, change: IndexChange, version: u64) -> Result<()> {
        match change {
            IndexChange::Insert { facts, vector, attributes, terms } => {
                let vector = self.own(vector);
                let source = vector.as_ref().map_or(VectorSource::None, |v| VectorSource::Full(v.as_slice()));
                self.arena.insert(&NewRow { facts, vector: source })?;
                if let Some(vector) = &vector {
                    self.full.insert(facts.row, vector.as_slice())?;
                }
                self.next_row = self.next_row.max(facts.row + 1);
                self.set_attributes(&facts, attributes);
                self.set_terms(facts.row, &terms)?;
                self.join(facts.row);
            }
            IndexChange::Change { facts, attributes } => {
                self.leave(facts.row);
                self.drop_attributes(facts.row);
                self.arena.change_facts(facts.row, &facts)?;
                self.set_attributes(&facts, attributes);
                self.join(facts.row);
                if let Some(words) = self.words.get_mut() {
                    words.set_standing(&facts);
                }
            }
            IndexChange::SetTerms { row, terms } => self.set_terms(row, &terms)?,
            IndexChange::SetVector { row, vector } => {
                sabotage!(13, return Ok(()));
                self.set_vector(row, vector)?;
            }
            IndexChange::Block { number } => self.full.set_block(number, version),
            IndexChange::Remove { row, .. } => {
                sabotage!(6, return Ok(()));
                self.leave(row);
                if let Some(words) = self.words.get_mut() {
                    words.remove(row);
                }
                self.drop_attributes(row);
                self.arena.remove(row)?;
                self.full.remove(row);
            }
        }
        Ok(())
    }

    fn set_terms(&mut self, row: u32, terms: &[u8]) -> Result<()> {
        let (Some(words), Some(facts)) = (self.words.get_mut(), self.arena.facts(row)) else { return Ok(()) };
        let parsed = words::parse(terms)?;
        let (list, told) = parsed.ok_or_else(|| Error::corrupt("terms: of another analyser"))?;
        words.insert(facts, &list, told);
        Ok(())
    }

    fn join(&mut self, row: u32) {
        let attributes = self.attributes.get(row as usize).and_then(|a| a.as_deref());
        if let (Some(words), Some(facts)) = (self.words.get_mut(), self.arena.facts(row)) {
            words.join(facts, attributes);
        }
    }

    fn leave(&mut self, row: u32) {
        let attributes = self.attributes.get(row as usize).and_then(|a| a.as_deref());
        if let (Some(words), Some(facts)) = (self.words.get_mut(), self.arena.facts(row)) {
            words.leave(facts, attributes);
        }
    }

    fn set_vector(&mut self, row: u32, vector: Option<(u32, Vector)>) -> Result<()> {
        self.full.remove(row);
        match self.own(vector) {
            Some(vector) => {
                self.arena.set_vector(row, &VectorSource::Full(vector.as_slice()))?;
                self.full.insert(row, vector.as_slice())
            }
            None => self.arena.set_vector(row, &VectorSource::None),
        }
    }

    /// A vector, if it is of this index's space.
    fn own(&self, vector: Option<(u32, Vector)>) -> Option<Vector> {
        vector.filter(|(space, _)| Some(*space) == self.space).map(|(_, vector)| vector)
    }

    /// The facts of a memory. Where values are damaged, one that is not found may be among them.
    pub(crate) fn facts_of_id(&self, id: MemoryId) -> Result<Option<&Facts>> {
        let facts = self.arena.facts_by_id(id.as_bytes());
        match self.damaged.first() {
            Some(damaged) if facts.is_none() => {
                let kind = if damaged.ends_with(NEWER) { ErrorKind::Unsupported } else { ErrorKind::Corrupt };
                Err(Error::new(kind, format!("id {id}: not found, but {damaged}")))
            }
            _ => Ok(facts),
        }
    }

    pub(crate) fn attributes(&self, row: u32) -> Option<&Attributes> {
        self.attributes.get(row as usize)?.as_deref()
    }

    fn set_attributes(&mut self, facts: &Facts, attributes: Option<Box<Attributes>>) {
        let Some(attributes) = attributes else { return };
        let row = facts.row as usize;
        if self.attributes.len() <= row {
            self.attributes.resize(row + 1, None);
        }
        self.schema.add(&attributes, facts.sensitivity);
        self.attribute_bytes += attributes.bytes();
        self.attributes[row] = Some(attributes);
    }

    fn drop_attributes(&mut self, row: u32) {
        let level = self.arena.facts(row).map_or(0, |facts| facts.sensitivity);
        let old = self.attributes.get_mut(row as usize).and_then(Option::take);
        if let Some(old) = old {
            self.schema.subtract(&old, level);
            self.attribute_bytes -= old.bytes();
        }
    }

    /// Changes when reading has made it larger.
    pub(crate) fn growth(&self) -> usize {
        self.full.packed_bytes() + usize::from(self.words.get().is_some()) + self.arena.growth()
    }

    /// Memory held: what the cache counts.
    pub(crate) fn bytes(&self) -> usize {
        let pointers = self.attributes.capacity() * size_of::<Option<Box<Attributes>>>();
        let words = self.words.get().map_or(0, Words::bytes);
        self.arena.bytes() + self.full.bytes() + pointers + self.attribute_bytes + words
    }
}
