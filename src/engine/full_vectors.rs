//! The full vectors of a user: those of the tail in memory, those of blocks read when a score first needs them.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::codec::Table;
use crate::codec::head::BLOCK_ROWS;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::table::{PACKED, numbered};
use crate::engine::core::Core;
use crate::engine::head::Head;
use crate::error::{Error, Result};
use crate::index::vector::{FullRows, RamRows};
use crate::storage::ReadView;

/// Packs that a recall which had to read some reads beside them, so that later ones find them in memory.
const WARM_PACKS: usize = 64;
/// Room that reading ahead leaves.
const WARM_BYTES: usize = WARM_PACKS << 15;

/// Full vectors in memory, and where the others are.
pub(crate) struct FullVectors {
    dims: usize,
    /// Of the tail, of rows with a vector of their own, and of rows that were closed while the user was held.
    rows: RamRows,
    /// Rows that are in `rows` because no pack has them.
    own: BTreeSet<u32>,
    blocks: Vec<Option<Packs>>,
    packed_bytes: AtomicUsize,
    /// The pack from which on none was read ahead.
    warm_from: AtomicUsize,
    answered: AtomicBool,
}

/// The packs of a block, all written by one commit.
struct Packs {
    version: u64,
    slots: Box<[OnceLock<Pack>]>,
}

/// Most packs of a block: one for each row.
pub(crate) const PACKS_MAX: usize = BLOCK_ROWS as usize;

/// The number of a pack in table `vectors`.
pub(crate) fn pack_number(block: u32, pack: usize) -> u64 {
    PACKED | u64::from(block) << 8 | pack as u64
}

/// How many packs a block has.
pub(crate) fn packs_per_block(dims: usize) -> usize {
    (BLOCK_ROWS as usize).div_ceil(rows_per_pack(dims))
}

impl FullVectors {
    pub(crate) fn new(dims: usize) -> Self {
        Self {
            dims,
            rows: RamRows::new(dims),
            own: BTreeSet::new(),
            blocks: Vec::new(),
            packed_bytes: AtomicUsize::new(0),
            warm_from: AtomicUsize::new(0),
            answered: AtomicBool::new(false),
        }
    }

    /// Keeps the vector of a row that no pack has.
    pub(crate) fn insert(&mut self, row: u32, vector: &[f32]) -> Result<()> {
        self.own.insert(row);
        self.rows.insert(row, vector)
    }

    pub(crate) fn remove(&mut self, row: u32) {
        self.own.remove(&row);
        self.rows.remove(row);
    }

    /// A block was built, or built anew, by the commit `version`: its packs have all vectors of its rows.
    pub(crate) fn set_block(&mut self, block: u32, version: u64) {
        let at = block as usize;
        if self.blocks.len() <= at {
            self.blocks.resize_with(at + 1, || None);
        }
        let slots = (0..packs_per_block(self.dims)).map(|_| OnceLock::new()).collect();
        if let Some(old) = self.blocks[at].replace(Packs { version, slots }) {
            let freed: usize = old.slots.iter().filter_map(OnceLock::get).map(bytes_of).sum();
            self.packed_bytes.fetch_sub(freed, Ordering::Relaxed);
        }
        let first = block * BLOCK_ROWS;
        let mut closed = self.own.split_off(&first);
        self.own.append(&mut closed.split_off(&(first + BLOCK_ROWS)));
    }

    /// Lets go of what a pack has too; whether there was any.
    pub(crate) fn shed(&mut self) -> bool {
        let before = self.bytes();
        let mut kept = RamRows::new(self.dims);
        for row in &self.own {
            if let Some(vector) = self.rows.get(*row) {
                let _ = kept.insert(*row, vector);
            }
        }
        self.rows = kept;
        for packs in self.blocks.iter_mut().flatten() {
            packs.slots.iter_mut().for_each(|slot| _ = slot.take());
        }
        self.packed_bytes.store(0, Ordering::Relaxed);
        self.warm_from.store(0, Ordering::Relaxed);
        self.bytes() < before
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes() + self.packed_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of the packs that were read.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.packed_bytes.load(Ordering::Relaxed)
    }

    fn resident(&self, row: u32) -> Option<&[f32]> {
        if let Some(vector) = self.rows.get(row) {
            return Some(vector);
        }
        let (block, pack, place) = self.place_of(row);
        self.blocks.get(block)?.as_ref()?.slots.get(pack)?.get()?.vector(place)
    }

    fn place_of(&self, row: u32) -> (usize, usize, usize) {
        let (block, within) = ((row / BLOCK_ROWS) as usize, (row % BLOCK_ROWS) as usize);
        let per_pack = rows_per_pack(self.dims);
        (block, within / per_pack, within % per_pack)
    }
}

fn bytes_of(pack: &Pack) -> usize {
    pack.values.len() * size_of::<f32>()
}

/// The full vectors of a held user, with the way to those on disk.
pub(crate) struct Vectors<'a> {
    core: &'a Core,
    head: &'a Head,
    full: &'a FullVectors,
    space: Option<u32>,
    view: Mutex<Option<ReadView>>,
}

impl<'a> Vectors<'a> {
    pub(crate) fn new(core: &'a Core, head: &'a Head, full: &'a FullVectors, space: Option<u32>) -> Self {
        Self { core, head, full, space, view: Mutex::new(None) }
    }

    /// The vector of a row; `None` where it has none.
    pub(crate) fn get(&self, row: u32) -> Result<Option<&'a [f32]>> {
        if let Some(vector) = self.full.resident(row) {
            return Ok(Some(vector));
        }
        let (block, pack, place) = self.full.place_of(row);
        Ok(self.pack(block, pack)?.and_then(|pack| pack.vector(place)))
    }

    fn pack(&self, block: usize, pack: usize) -> Result<Option<&'a Pack>> {
        let Some(Some(packs)) = self.full.blocks.get(block) else { return Ok(None) };
        let Some(slot) = packs.slots.get(pack) else { return Ok(None) };
        if let Some(known) = slot.get() {
            return Ok(Some(known));
        }
        let read = self.read(block as u32, pack, packs.version)?;
        let bytes = bytes_of(&read);
        let mut is_new = false;
        let kept = slot.get_or_init(|| {
            is_new = true;
            read
        });
        if is_new {
            self.full.packed_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(Some(kept))
    }

    fn read(&self, block: u32, pack: usize, version: u64) -> Result<Pack> {
        let mut view = self.view.lock();
        let view = match &mut *view {
            Some(view) => view,
            none => none.insert(self.core.read(self.head.user)?),
        };
        let key = numbered(self.head.user, pack_number(block, pack));
        let chunk = self.head.chunk_key(self.core, view, u64::from(block))?;
        let place = self.head.place(Table::Vectors, &key, chunk.epoch);
        let opened = view.get_with(Table::Vectors, &key, |bytes| self.core.sealer.open(&chunk.key, &place, bytes))?;
        let name = || format!("vectors: pack {pack} of block {block} of {}", self.head.user);
        let opened = opened.ok_or_else(|| Error::corrupt(format!("{} is missing", name())))?;
        if opened.version != version {
            return Err(Error::corrupt(format!("{} is of another commit than its block", name())));
        }
        let pack = Pack::decode(&opened.plain)?;
        if pack.dims != self.full.dims || Some(pack.space) != self.space {
            return Err(Error::corrupt(format!("{} is of another space", name())));
        }
        Ok(pack)
    }

    /// After a recall that read packs, reads some ahead, while the budget has room for them. The first recall of a
    /// user with many only answers. A pack that can't be read is left for whoever needs it: the answer is there already.
    pub(crate) fn warm(&self) {
        let few = self.full.blocks.len() * packs_per_block(self.full.dims) <= WARM_PACKS;
        let first = !self.full.answered.swap(true, Ordering::Relaxed);
        if self.view.lock().is_none() || (first && !few) {
            return;
        }
        let per_block = packs_per_block(self.full.dims);
        let from = self.full.warm_from.fetch_add(WARM_PACKS, Ordering::Relaxed);
        for number in from..from + WARM_PACKS {
            let room = self.core.cache.budget_bytes().saturating_sub(self.core.cache.held_bytes());
            let is_over = number / per_block >= self.full.blocks.len() || room < WARM_BYTES;
            if is_over || self.pack(number / per_block, number % per_block).is_err() {
                break;
            }
        }
    }
}

impl FullRows for Vectors<'_> {
    fn row<'b>(&'b self, row: u32, _buffer: &'b mut Vec<f32>) -> Result<&'b [f32]> {
        self.get(row)?.ok_or_else(|| Error::corrupt(format!("vectors: row {row} of {} is missing", self.head.user)))
    }
}
