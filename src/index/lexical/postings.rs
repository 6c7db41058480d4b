use super::inverted::LEVELS;

/// Postings that are scored together.
pub(super) const CHUNK: usize = 16;

/// The rows that hold one term, ascending.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    rows: Vec<u32>,
    counts: Vec<u8>,
    /// Active rows of each level.
    active: [u32; LEVELS],
}

impl Postings {
    pub(super) fn insert(&mut self, row: u32, count: u8) {
        let at = match self.rows.last() {
            Some(last) if *last >= row => self.rows.partition_point(|other| *other < row),
            _ => self.rows.len(),
        };
        self.rows.insert(at, row);
        self.counts.insert(at, count);
    }

    pub(super) fn remove(&mut self, row: u32) {
        if let Ok(at) = self.rows.binary_search(&row) {
            self.rows.remove(at);
            self.counts.remove(at);
        }
    }

    pub(super) fn count_in(&mut self, level: usize) {
        self.active[level] += 1;
    }

    pub(super) fn count_out(&mut self, level: usize) {
        self.active[level] -= 1;
    }

    /// Active rows at or below a level.
    pub(super) fn df(&self, level: usize) -> u64 {
        self.active[..=level].iter().map(|n| u64::from(*n)).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows with their counts, up to [`CHUNK`] at a time.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (&[u32], &[u8])> {
        self.rows.chunks(CHUNK).zip(self.counts.chunks(CHUNK))
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.rows.capacity() * size_of::<u32>() + self.counts.capacity()
    }
}
