//! From row numbers and ids to slots: open addressing over slots alone, whose keys lie in the facts.

const EMPTY: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;
const CELLS_MIN: usize = 16;

/// A table of slots.
#[derive(Default)]
pub(super) struct SlotTable {
    cells: Vec<u32>,
    used: usize,
}

impl SlotTable {
    /// Where the slot that `is_it` accepts lies.
    pub(super) fn position(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<usize> {
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

    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.position(hash, is_it).map(|at| self.cells[at])
    }

    pub(super) fn set(&mut self, position: usize, slot: u32) {
        self.cells[position] = slot;
    }

    pub(super) fn remove(&mut self, hash: u64, slot: u32) {
        if let Some(at) = self.position(hash, |s| s == slot) {
            self.cells[at] = DEAD;
        }
    }

    pub(super) fn insert(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.used + 1) * 4 > self.cells.len() * 3 {
            self.grow(hash_of);
        }
        self.place(hash, slot);
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let slots: Vec<u32> = self.cells.iter().copied().filter(|&s| s < DEAD).collect();
        let cells = ((slots.len() + 1) * 2).next_power_of_two().max(CELLS_MIN);
        self.cells = vec![EMPTY; cells];
        self.used = 0;
        for slot in slots {
            self.place(hash_of(slot), slot);
        }
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

    pub(super) fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<u32>()
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

pub(super) fn hash_row(row: u32) -> u64 {
    mix(u64::from(row))
}

pub(super) fn hash_id(id: &[u8; 16]) -> u64 {
    let wide = u128::from_le_bytes(*id);
    mix(mix(wide as u64) ^ (wide >> 64) as u64)
}
