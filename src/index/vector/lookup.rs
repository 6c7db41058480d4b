//! From ids to slots: open addressing over slots alone, whose keys lie in the facts.
//!
//! A table is split part by part as it grows, so that no insertion waits for a whole table to be moved.

const EMPTY: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;
const CELLS_MIN: usize = 16;
/// A part that would need more is split.
const CELLS_MAX: usize = 8192;
/// Deeper than any number of slots can need.
const DEPTH_MAX: u32 = 24;

/// A table of slots, by the high bits of their hashes.
#[derive(Default)]
pub(super) struct SlotTable {
    depth: u32,
    directory: Vec<u32>,
    parts: Vec<Part>,
}

/// The slots whose hashes share their highest `depth` bits.
#[derive(Default)]
struct Part {
    depth: u32,
    cells: Vec<u32>,
    used: usize,
}

impl Part {
    fn sized(depth: u32, slots: &[(u64, u32)]) -> Self {
        let cells = ((slots.len() + 1) * 2).next_power_of_two().max(CELLS_MIN);
        let mut part = Self { depth, cells: vec![EMPTY; cells], used: 0 };
        slots.iter().for_each(|&(hash, slot)| part.place(hash, slot));
        part
    }

    fn is_full(&self) -> bool {
        (self.used + 1) * 4 > self.cells.len() * 3
    }

    fn position(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let mask = self.cells.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while self.cells[at] != EMPTY {
            if self.cells[at] != DEAD && is_it(self.cells[at]) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn place(&mut self, hash: u64, slot: u32) {
        let mask = self.cells.len() - 1;
        let mut at = hash as usize & mask;
        while self.cells[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.cells[at] = slot;
        self.used += 1;
    }
}

/// A cell of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    part: usize,
    at: usize,
}

impl SlotTable {
    /// An empty table with room for so many slots.
    pub(super) fn with_room(slots: usize) -> Self {
        let depth = (slots * 2).div_ceil(CELLS_MAX).next_power_of_two().trailing_zeros().min(DEPTH_MAX);
        let parts = 1 << depth;
        // A little more than the mean, as hashes never spread evenly.
        let cells = ((slots >> depth) * 2 + CELLS_MIN).next_power_of_two();
        let part = |_| Part { depth, cells: vec![EMPTY; cells], used: 0 };
        Self { depth, directory: (0..parts).collect(), parts: (0..parts).map(part).collect() }
    }

    /// Where the slot that `is_it` accepts lies.
    pub(super) fn position(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<Cell> {
        let part = *self.directory.get(self.entry(hash))? as usize;
        self.parts[part].position(hash, is_it).map(|at| Cell { part, at })
    }

    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.position(hash, is_it).map(|cell| self.parts[cell.part].cells[cell.at])
    }

    pub(super) fn set(&mut self, cell: Cell, slot: u32) {
        self.parts[cell.part].cells[cell.at] = slot;
    }

    pub(super) fn remove(&mut self, hash: u64, slot: u32) {
        if let Some(cell) = self.position(hash, |s| s == slot) {
            self.set(cell, DEAD);
        }
    }

    pub(super) fn insert(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) {
        if self.directory.is_empty() {
            self.directory.push(0);
            self.parts.push(Part::default());
        }
        if self.parts[self.directory[self.entry(hash)] as usize].is_full() {
            self.make_room(hash, &hash_of);
        }
        let part = self.directory[self.entry(hash)] as usize;
        self.parts[part].place(hash, slot);
    }

    fn entry(&self, hash: u64) -> usize {
        hash.checked_shr(u64::BITS - self.depth).unwrap_or(0) as usize
    }

    /// Widens or splits the part of a hash.
    fn make_room(&mut self, hash: u64, hash_of: &dyn Fn(u32) -> u64) {
        let at = self.directory[self.entry(hash)] as usize;
        let part = &self.parts[at];
        let live = part.cells.iter().filter(|&&slot| slot < DEAD);
        let slots: Vec<(u64, u32)> = live.map(|&slot| (hash_of(slot), slot)).collect();
        let depth = part.depth;
        if (slots.len() + 1) * 2 <= CELLS_MAX || depth >= DEPTH_MAX {
            self.parts[at] = Part::sized(depth, &slots);
            return;
        }
        if depth == self.depth {
            self.directory = self.directory.iter().flat_map(|&part| [part, part]).collect();
            self.depth += 1;
        }
        let bit = u64::BITS - 1 - depth;
        let (high, low): (Vec<_>, Vec<_>) = slots.into_iter().partition(|(hash, _)| hash >> bit & 1 == 1);
        let upper = self.parts.len() as u32;
        self.parts[at] = Part::sized(depth + 1, &low);
        self.parts.push(Part::sized(depth + 1, &high));
        let same: Vec<usize> =
            (0..self.directory.len()).filter(|&entry| self.directory[entry] as usize == at).collect();
        same[same.len() / 2..].iter().for_each(|&entry| self.directory[entry] = upper);
        if self.parts[self.directory[self.entry(hash)] as usize].is_full() {
            self.make_room(hash, hash_of);
        }
    }

    pub(super) fn memory(&self) -> usize {
        let cells: usize = self.parts.iter().map(|part| part.cells.capacity()).sum();
        (cells + self.directory.capacity()) * size_of::<u32>() + self.parts.capacity() * size_of::<Part>()
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

pub(super) fn hash_id(id: &[u8; 16]) -> u64 {
    let wide = u128::from_le_bytes(*id);
    mix(mix(wide as u64) ^ (wide >> 64) as u64)
}
