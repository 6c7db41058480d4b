//! The embedding spaces of the store, and which one its vectors are in.

use parking_lot::RwLockWriteGuard;

use crate::embed::Embedder;
use crate::engine::core::Core;
use crate::error::{Error, Result};
use crate::memory::limits::SPACES_MAX;
use crate::memory::{Space, Vector};
use crate::storage::Directory;

/// The model name of a space that nobody declared: vectors came, and nothing said of which model.
const UNDECLARED: &str = "undeclared";

/// All spaces by number; the last one is current.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spaces {
    all: Vec<Space>,
    /// The space of the embedder given at open, where it is not the current one.
    foreign: Option<Space>,
}

impl Spaces {
    /// The store's spaces; the first embedder ever given declares the first.
    pub(crate) fn open(directory: &Directory, embedder: Option<&dyn Embedder>) -> Result<Self> {
        let mut all = directory.spaces();
        let Some(space) = embedder.map(Embedder::space) else { return Ok(Self { all, foreign: None }) };
        if all.is_empty() {
            all.push(space.clone());
            directory.set_spaces(all.clone())?;
        }
        let foreign = all.last().is_none_or(|current| !current.same_vectors(&space)).then_some(space);
        Ok(Self { all, foreign })
    }

    /// The current space and its number.
    pub(crate) fn current(&self) -> Option<(u32, &Space)> {
        self.all.last().map(|space| (self.all.len() as u32 - 1, space))
    }

    /// Whether the MANIFEST knows a space. Vectors of one that it does not know are newer than it.
    pub(crate) fn knows(&self, number: u32) -> bool {
        (number as usize) < self.all.len()
    }

    /// The space with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Space> {
        self.all.get(number as usize)
    }

    /// The embedder must speak of the current space.
    pub(crate) fn check_embedder(&self) -> Result<()> {
        match (&self.foreign, self.all.last()) {
            (Some(given), Some(current)) => Err(Error::unsupported(format!(
                "embedder: its model {:?} ({} dims) is not that of the stored vectors, {:?} ({} dims)",
                given.model(),
                given.dims(),
                current.model(),
                current.dims()
            ))),
            _ => Ok(()),
        }
    }
}

impl Core {
    /// The number of the space that a vector of the caller's belongs to; the first vector ever declares one.
    pub(crate) fn space_for(&self, vector: &Vector) -> Result<u32> {
        if let Some(number) = check_dims(&self.spaces.read(), vector)? {
            return Ok(number);
        }
        self.declare(Space::new(UNDECLARED, vector.dims())?)?;
        check_dims(&self.spaces.read(), vector)?.ok_or_else(|| Error::corrupt("MANIFEST: no space"))
    }

    /// Declares the store's first space; the same one again is fine.
    pub(crate) fn declare(&self, space: Space) -> Result<()> {
        let spaces = self.spaces.write();
        match spaces.all.last() {
            None => self.append(spaces, space),
            Some(current) if current.same_vectors(&space) => Ok(()),
            Some(current) => Err(Error::conflict(format!(
                "space: the store has {:?} with {} dims, not {:?} with {}",
                current.model(),
                current.dims(),
                space.model(),
                space.dims()
            ))),
        }
    }

    /// Makes the space of the embedder given at open the current one. What is stored in others is pending from now on.
    pub(crate) fn adopt_space(&self) -> Result<()> {
        let spaces = self.spaces.write();
        let Some(new) = spaces.foreign.clone() else { return Ok(()) };
        if spaces.all.len() >= SPACES_MAX {
            return Err(Error::unsupported(format!(
                "reembed: the store had {SPACES_MAX} models, the most that it can"
            )));
        }
        self.append(spaces, new)
    }

    /// Makes a space the current one, and lets go of indexes that were loaded for another. Whoever holds a user may be
    /// waiting for the spaces, so they are given back first.
    fn append(&self, mut spaces: RwLockWriteGuard<'_, Spaces>, new: Space) -> Result<()> {
        let mut all = spaces.all.clone();
        all.push(new);
        self.directory.set_spaces(all.clone())?;
        spaces.foreign.take_if(|foreign| all.last().is_some_and(|current| current.same_vectors(foreign)));
        spaces.all = all;
        drop(spaces);
        self.cache.clear();
        Ok(())
    }

    /// Replaces the calibration of the current space by a new version.
    pub(crate) fn recalibrate(&self, lo: f64, hi: f64) -> Result<crate::memory::Calibration> {
        let mut spaces = self.spaces.write();
        let mut all = spaces.all.clone();
        let current = all.last_mut().ok_or_else(|| Error::unsupported("calibrate: no vector is stored"))?;
        let version = current.calibration.version() + 1;
        current.calibration = crate::memory::Calibration::with_version(lo, hi, version)?;
        let calibration = current.calibration;
        self.directory.set_spaces(all.clone())?;
        spaces.all = all;
        Ok(calibration)
    }
}

fn check_dims(spaces: &Spaces, vector: &Vector) -> Result<Option<u32>> {
    match spaces.current() {
        Some((_, space)) if space.dims() != vector.dims() => Err(Error::invalid(format!(
            "vector: {} numbers, the store's space {:?} has {}",
            vector.dims(),
            space.model(),
            space.dims()
        ))),
        Some((number, _)) => Ok(Some(number)),
        None => Ok(None),
    }
}
