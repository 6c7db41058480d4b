//! From row numbers to slots: pages of slots, there only while a row of theirs is.

const PAGE_ROWS: usize = 1024;
const NONE: u32 = u32::MAX;

/// A table of slots by row number. Memory: four bytes for each number near one that is there.
#[derive(Default)]
pub(super) struct RowTable {
    pages: Vec<Option<Box<Page>>>,
}

struct Page {
    slots: [u32; PAGE_ROWS],
    used: usize,
}

const EMPTY_PAGE: Page = Page { slots: [NONE; PAGE_ROWS], used: 0 };

impl RowTable {
    pub(super) fn get(&self, row: u32) -> Option<u32> {
        let page = self.pages.get(row as usize / PAGE_ROWS)?.as_ref()?;
        Some(page.slots[row as usize % PAGE_ROWS]).filter(|slot| *slot != NONE)
    }

    /// Puts a row in its slot, or in another one.
    pub(super) fn set(&mut self, row: u32, slot: u32) {
        let at = row as usize / PAGE_ROWS;
        if self.pages.len() <= at {
            self.pages.resize_with(at + 1, || None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new(EMPTY_PAGE));
        let held = &mut page.slots[row as usize % PAGE_ROWS];
        page.used += usize::from(*held == NONE);
        *held = slot;
    }

    pub(super) fn remove(&mut self, row: u32) {
        let Some(held) = self.pages.get_mut(row as usize / PAGE_ROWS) else { return };
        let Some(page) = held else { return };
        let slot = std::mem::replace(&mut page.slots[row as usize % PAGE_ROWS], NONE);
        page.used -= usize::from(slot != NONE);
        if page.used == 0 {
            *held = None;
        }
    }

    pub(super) fn memory(&self) -> usize {
        let pages = self.pages.iter().flatten().count() * size_of::<Page>();
        pages + self.pages.capacity() * size_of::<Option<Box<Page>>>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_table_equals_a_map(steps in prop::collection::vec((0..5000u32, prop::option::of(0..1000u32)), 0..400)) {
            let (mut table, mut model) = (RowTable::default(), BTreeMap::new());
            for (row, slot) in steps {
                if let Some(slot) = slot {
                    table.set(row, slot);
                    model.insert(row, slot);
                } else {
                    table.remove(row);
                    model.remove(&row);
                }
                prop_assert_eq!(table.get(row), model.get(&row).copied());
            }
            (0..5000).for_each(|row| assert_eq!(table.get(row), model.get(&row).copied()));
            let pages = model.keys().map(|row| *row as usize / PAGE_ROWS).collect::<std::collections::BTreeSet<_>>();
            prop_assert_eq!(table.pages.iter().flatten().count(), pages.len());
        }
    }
}
