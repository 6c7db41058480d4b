use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::memory::Sensitivity;
use crate::text::{QueryTerm, TermHash, TermList};

use super::bm25::{Bm25, Saturation};
use super::postings::{CHUNK, Postings};
use super::scores::{Scores, Sums};

pub(super) const LEVELS: usize = 4;
/// The level of a row that isn't there.
const ABSENT: u8 = u8::MAX;

/// Who may see a row, and whether statistics count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) level: Sensitivity,
    pub(crate) active: bool,
}

/// What a row has beside its postings.
#[derive(Debug, Clone)]
struct Row {
    slots: Box<[u32]>,
    active: bool,
}

/// How many Active rows of a level there are, and how long they are together.
#[derive(Debug, Clone, Copy, Default)]
struct Statistics {
    rows: u64,
    length: u64,
}

/// The inverted index of one user's memories, in memory.
///
/// Row numbers are dense: memory grows with the largest one. What a query sees depends on the rows that are there, not
/// on the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexical {
    slots: HashMap<TermHash, u32, BuildHasherDefault<TermHasher>>,
    terms: Vec<(TermHash, Postings)>,
    free: Vec<u32>,
    rows: Vec<Option<Row>>,
    levels: Vec<u8>,
    lengths: Vec<u32>,
    statistics: [Statistics; LEVELS],
}

impl Lexical {
    /// Adds a row, in place of what had its number. Cost: its terms.
    pub(crate) fn insert(&mut self, row: u32, terms: &TermList, standing: Standing) {
        self.remove(row);
        let at = row as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, None);
            self.levels.resize(at + 1, ABSENT);
            self.lengths.resize(at + 1, 0);
        }
        let mut slots = Vec::with_capacity(terms.counts.len());
        for counted in &terms.counts {
            let slot = self.slot(counted.term);
            self.terms[slot as usize].1.insert(row, counted.count);
            slots.push(slot);
        }
        self.levels[at] = standing.level.code();
        self.lengths[at] = terms.length;
        self.rows[at] = Some(Row { slots: slots.into(), active: false });
        self.activate(at, standing.active);
    }

    /// Takes a row out; nothing happens where there is none. Cost: its terms, each a move of the postings behind it.
    pub(crate) fn remove(&mut self, row: u32) {
        let at = row as usize;
        self.activate(at, false);
        let Some(gone) = self.rows.get_mut(at).and_then(Option::take) else { return };
        for slot in gone.slots {
            let (term, postings) = &mut self.terms[slot as usize];
            postings.remove(row);
            if postings.is_empty() {
                *postings = Postings::default();
                self.slots.remove(term);
                self.free.push(slot);
            }
        }
        self.levels[at] = ABSENT;
        self.lengths[at] = 0;
    }

    /// Changes who may see a row and whether it counts; nothing happens where there is none. Cost: its terms.
    pub(crate) fn set_standing(&mut self, row: u32, standing: Standing) {
        let at = row as usize;
        if self.rows.get(at).is_some_and(Option::is_some) {
            self.activate(at, false);
            self.levels[at] = standing.level.code();
            self.activate(at, standing.active);
        }
    }

    /// The words leg for each row at or below `level`.
    ///
    /// BM25 over the largest sum that the query's terms could give; idf, mean length and which terms occur are of the
    /// Active rows at or below `level`. Sums run over the terms by ascending hash, so that equal contents give equal
    /// bits.
    ///
    /// Cost: the postings of the query's terms, and one pass over the rows.
    pub(crate) fn score(&self, query: &[QueryTerm], level: Sensitivity, bm25: Bm25) -> Scores {
        let level = level.code();
        let counted = self.statistics_below(level);
        if counted.length == 0 {
            return Scores::default();
        }
        let saturation = bm25.against(counted.length as f64 / counted.rows as f64);
        let (mut sums, mut ceiling) = (Sums::of_rows(self.rows.len()), 0.0);
        for postings in query.iter().filter_map(|term| self.postings(term.term)) {
            let df = postings.df(usize::from(level));
            if df == 0 {
                continue;
            }
            let most = Bm25::idf(counted.rows, df) * (bm25.k1 + 1.0);
            ceiling += most;
            for (rows, counts) in postings.chunks() {
                let mut values = self.saturated(level, saturation, rows, counts);
                values.iter_mut().for_each(|value| *value *= most);
                sums.add(rows, &values);
            }
        }
        sums.over(ceiling)
    }

    /// What the counts of one term are worth in some rows; 0 in one above `level`.
    fn saturated(&self, level: u8, saturation: Saturation, rows: &[u32], counts: &[u8]) -> [f64; CHUNK] {
        let (mut seen, mut lengths) = ([0; CHUNK], [0; CHUNK]);
        for (at, (row, count)) in rows.iter().zip(counts).enumerate().take(CHUNK) {
            let row = *row as usize;
            if let (Some(held), Some(length)) = (self.levels.get(row), self.lengths.get(row)) {
                seen[at] = if *held <= level { *count } else { 0 };
                lengths[at] = *length;
            }
        }
        std::array::from_fn(|at| saturation.of(seen[at], lengths[at]))
    }

    #[cfg(test)]
    /// How many Active rows at or below `level` hold a term.
    pub(crate) fn df(&self, term: TermHash, level: Sensitivity) -> u64 {
        self.postings(term).map_or(0, |postings| postings.df(usize::from(level.code())))
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let postings: usize = self.terms.iter().map(|(_, postings)| size_of::<TermHash>() + postings.bytes()).sum();
        let rows: usize = self.rows.iter().flatten().map(|row| size_of_val(&*row.slots)).sum();
        postings + rows + self.slots.capacity() * 13 + self.rows.capacity() * (size_of::<Option<Row>>() + 5)
    }

    fn statistics_below(&self, level: u8) -> Statistics {
        self.statistics[..=usize::from(level)].iter().fold(Statistics::default(), |sum, level| Statistics {
            rows: sum.rows + level.rows,
            length: sum.length + level.length,
        })
    }

    fn postings(&self, term: TermHash) -> Option<&Postings> {
        self.slots.get(&term).map(|slot| &self.terms[*slot as usize].1)
    }

    fn slot(&mut self, term: TermHash) -> u32 {
        if let Some(slot) = self.slots.get(&term) {
            return *slot;
        }
        let slot = self.free.pop().unwrap_or(self.terms.len() as u32);
        match self.terms.get_mut(slot as usize) {
            Some(freed) => freed.0 = term,
            None => self.terms.push((term, Postings::default())),
        }
        self.slots.insert(term, slot);
        slot
    }

    /// Counts a row in or out of the statistics of its level.
    fn activate(&mut self, at: usize, active: bool) {
        let Some(Some(row)) = self.rows.get_mut(at) else { return };
        if row.active == active {
            return;
        }
        row.active = active;
        let (level, length) = (usize::from(self.levels[at]), u64::from(self.lengths[at]));
        let statistics = &mut self.statistics[level];
        if active {
            statistics.rows += 1;
            statistics.length += length;
            row.slots.iter().for_each(|slot| self.terms[*slot as usize].1.count_in(level));
        } else {
            statistics.rows -= 1;
            statistics.length -= length;
            row.slots.iter().for_each(|slot| self.terms[*slot as usize].1.count_out(level));
        }
    }
}

/// Terms are hashes already.
#[derive(Default)]
struct TermHasher(u64);

impl Hasher for TermHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, term: u64) {
        self.0 = term;
    }
}
