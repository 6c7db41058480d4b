//! Random and adversarial stores, kept twice.

use std::collections::BTreeMap;

use super::super::legs::{Legs, Sight};
use super::super::request::Gate;
use super::super::{Arena, Facts, NewRow, RamRows, VectorSource};
use super::brute::{Brute, BruteRow};
use crate::kernel::Dispatch;

pub(super) const DAY: i64 = 86_400_000_000;
pub(super) const NOW: i64 = 1_000 * DAY;

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub(super) fn unit_vector(values: &[f64]) -> Vec<f32> {
    let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    values.iter().map(|x| (x / norm) as f32).collect()
}

/// How hostile the vectors of a store are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Random,
    Adversarial,
    /// Around a few centres.
    Gathered,
}

pub(super) struct Store {
    pub(super) arena: Arena,
    pub(super) full: RamRows,
    pub(super) brute: Brute,
    pub(super) random: Random,
    dims: usize,
    shape: Shape,
    strong: bool,
    /// Overrides what is drawn for rows: no pins, and times chosen from these.
    pub(super) times: Option<&'static [i64]>,
    next_row: u32,
}

impl Store {
    pub(super) fn new(kernel: Dispatch, dims: usize, shape: Shape, seed: u64) -> Self {
        Self {
            arena: Arena::with_kernel(dims, kernel),
            full: RamRows::new(dims),
            brute: Brute::default(),
            random: Random(seed),
            dims,
            shape,
            strong: seed.is_multiple_of(3),
            times: None,
            next_row: 0,
        }
    }

    pub(super) fn vector(&mut self) -> Vec<f32> {
        let dims = self.dims;
        let mut values = vec![0.0; dims];
        match (self.shape, self.random.below(6)) {
            (Shape::Adversarial, 0) => values[self.random.below(dims)] = 1.0,
            (Shape::Adversarial, 1) => values.fill(1.0),
            (Shape::Adversarial, 2) => return self.near_another(0.0, 1.0),
            (Shape::Adversarial, 3) => return self.near_another(0.0, -1.0),
            (Shape::Adversarial, 4) => return self.near_another(1e-6, 1.0),
            (Shape::Gathered, _) => return self.near_a_centre(),
            _ => values.iter_mut().for_each(|x| *x = self.random.unit() + self.random.unit() - 1.0),
        }
        unit_vector(&values)
    }

    fn near_another(&mut self, noise: f64, sign: f64) -> Vec<f32> {
        let row = self.random.below(self.next_row as usize) as u32;
        let other = self.full.get(row).map_or_else(|| vec![1.0; self.dims], <[f32]>::to_vec);
        let near: Vec<f64> = other.iter().map(|&x| sign * f64::from(x) + noise * self.random.unit()).collect();
        if noise == 0.0 && sign > 0.0 && self.full.get(row).is_some() { other } else { unit_vector(&near) }
    }

    fn near_a_centre(&mut self) -> Vec<f32> {
        let mut centre = Random(self.random.below(40) as u64);
        let spread = 2.0 * self.random.unit();
        let value = |_| centre.unit() - 0.5 + spread * (self.random.unit() - 0.5);
        unit_vector(&(0..self.dims).map(value).collect::<Vec<_>>())
    }

    fn time(&mut self) -> i64 {
        let old = (365.0 * DAY as f64 * self.random.unit() * self.random.unit()) as i64;
        match self.random.below(40) {
            0 => NOW + old,
            1 => NOW + self.random.below(3) as i64 - 1,
            2 if self.strong => self.random.pick(&[i64::MIN, i64::MAX, 0, i64::MAX / 3]),
            3 => NOW - 100 * DAY,
            _ => NOW - old,
        }
    }

    pub(super) fn facts(&mut self, row: u32) -> Facts {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes());
        id[12..].copy_from_slice(&row.to_le_bytes());
        let weights = [1.0, 0.5, self.random.unit() as f32, self.random.unit() as f32];
        let faint = if self.random.one_in(20) { self.random.pick(&[1e-9, 1e-19, 0.0]) } else { 1.0 };
        let time = if let Some(times) = self.times { self.random.pick(times) } else { self.time() };
        Facts {
            id,
            row,
            version: self.random.below(9) as u32,
            time,
            created_at: time,
            valid_from: time,
            valid_to: i64::MAX,
            importance: self.random.pick(&weights) * faint,
            confidence: self.random.pick(&weights),
            kind: self.random.below(9) as u8,
            status: u8::from(self.random.one_in(8)),
            sensitivity: self.random.below(4) as u8,
            visibility: 0,
            pinned: self.times.is_none() && self.random.one_in(15),
            turn: self.random.one_in(3),
            space: 1,
            has_vector: false,
        }
    }

    fn new_row(&mut self) -> BruteRow {
        let row = self.next_row;
        let facts = self.facts(row);
        let vector = if self.random.one_in(12) { None } else { Some(self.vector()) };
        self.next_row += 1;
        if let Some(vector) = &vector {
            self.full.insert(row, vector).expect("fits");
        }
        BruteRow { facts, vector }
    }

    pub(super) fn bulk(&mut self, rows: usize) {
        for _ in 0..rows {
            let row = self.new_row();
            self.brute.rows.insert(row.facts.row, row);
        }
        let rows: Vec<NewRow<'_>> = self.brute.rows.values().map(as_new).collect();
        let kernel = self.arena.kernel();
        self.arena = Arena::from_rows(self.dims, kernel, &rows).expect("valid rows");
    }

    pub(super) fn insert(&mut self) {
        let row = self.new_row();
        self.arena.insert(&as_new(&row)).expect("a new row");
        self.brute.rows.insert(row.facts.row, row);
    }

    fn some_row(&mut self) -> Option<u32> {
        let row = self.random.below(self.next_row as usize) as u32;
        self.brute.rows.contains_key(&row).then_some(row)
    }

    pub(super) fn remove(&mut self) {
        let Some(row) = self.some_row() else { return };
        self.arena.remove(row).expect("it is there");
        self.full.remove(row);
        self.brute.rows.remove(&row);
    }

    pub(super) fn change(&mut self) {
        let Some(row) = self.some_row() else { return };
        let facts = self.facts(row);
        self.arena.change_facts(row, &facts).expect("it is there");
        let brute = self.brute.rows.get_mut(&row).expect("it is there");
        brute.facts = facts;
        if self.random.one_in(4) {
            let vector = self.vector();
            self.full.insert(row, &vector).expect("fits");
            self.arena.set_vector(row, &VectorSource::Full(&vector)).expect("fits");
            self.brute.rows.get_mut(&row).expect("it is there").vector = Some(vector);
        }
    }

    /// Legs for some rows, as the arena and as the twin want them.
    pub(super) fn legs(&mut self) -> (Legs, BTreeMap<u32, f64>) {
        let (mut legs, mut twin) = (self.arena.legs(), BTreeMap::new());
        let share = self.random.pick(&[1, 3, 50]);
        for &row in self.brute.rows.keys() {
            if self.random.one_in(share) {
                let value = self.random.pick(&[0.0, 1.0, 0.25, self.random.0 as f64 / u64::MAX as f64, -0.3, 1e-12]);
                twin.insert(row, value);
            }
        }
        let mut by_row = vec![0.0; self.next_row as usize];
        twin.iter().for_each(|(row, value)| by_row[*row as usize] = *value);
        legs.fill(&self.arena, &by_row, &Sight { gate: Gate::OPEN, passes: None });
        (legs, twin)
    }
}

pub(super) fn as_new(row: &BruteRow) -> NewRow<'_> {
    NewRow { facts: row.facts, vector: row.vector.as_deref().map_or(VectorSource::None, VectorSource::Full) }
}
