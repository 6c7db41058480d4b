//! Up to 256 rows: what a scan reads, and their facts.

use std::sync::OnceLock;

use super::bits::{BLOCK_ROWS, Bits};
use super::facts::{Facts, LEVELS, NewRow, STATUS_ACTIVE, VectorSource};
use super::hull::{Hull, HullRow, days_between};
use super::ivf::Member;
use super::request::Gate;
use super::sheet::{Column, Sheet};
use super::sketch::Sketch;
use crate::kernel::{Dispatch, RowScale, Slab};
use crate::policy::score::{importance_rate, weight};

/// What a zero looks like in a biased row.
const BIASED_ZERO: u8 = 0x80;
const NO_SCALE: RowScale = RowScale { scale: 0.0, err_norm: 0.0, norm: 0.0 };

pub(super) struct Block {
    kernel: Dispatch,
    pub(super) sheet: Sheet,
    pub(super) facts: Vec<Facts>,
    /// The row numbers once more, side by side.
    pub(super) numbers: Vec<u32>,
    norms: Vec<f32>,
    live: Bits,
    active: Bits,
    at_level: [Bits; LEVELS],
    with_vector: Bits,
    pinned: Bits,
    turns: Bits,
    /// Times are relative to this.
    pub(super) base: i64,
    /// The smallest value of the `ago` column.
    pub(super) ago_min: f32,
    /// The largest norm of a row.
    pub(super) norm_max: f32,
    pub(super) hull: Hull,
    sketch: OnceLock<Box<Sketch>>,
}

impl Block {
    /// An empty block for rows around `base`.
    pub(super) fn new(kernel: Dispatch, stride: usize, base: i64, rows: usize, slab: &mut Slab) -> Self {
        Self {
            kernel,
            sheet: Sheet::new(stride, rows, slab),
            facts: Vec::with_capacity(rows),
            numbers: Vec::with_capacity(rows),
            norms: Vec::with_capacity(rows),
            live: Bits::default(),
            active: Bits::default(),
            at_level: [Bits::default(); LEVELS],
            with_vector: Bits::default(),
            pinned: Bits::default(),
            turns: Bits::default(),
            base,
            ago_min: 0.0,
            norm_max: 0.0,
            hull: Hull::new(base),
            sketch: OnceLock::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() == BLOCK_ROWS
    }

    pub(super) fn live(&self) -> Bits {
        self.live
    }

    pub(super) fn with_vector(&self) -> Bits {
        self.with_vector
    }

    pub(super) fn pinned(&self) -> Bits {
        self.pinned
    }

    pub(super) fn turns(&self) -> Bits {
        self.turns
    }

    /// All quantised rows.
    pub(super) fn rows(&self) -> &[u8] {
        self.sheet.rows(self.len())
    }

    /// Value of one step of a row.
    pub(super) fn scale(&self, lane: usize) -> f32 {
        self.sheet.get(Column::Scale, lane)
    }

    pub(super) fn row_bytes(&self, lane: usize) -> &[u8] {
        self.sheet.row(lane)
    }

    /// The sketch of the rows, drawn when it is first asked for.
    pub(super) fn sketch(&self, dims: usize) -> &Sketch {
        self.sketch.get_or_init(|| {
            let mut sketch = Sketch::new(dims, self.len());
            (0..self.len()).for_each(|lane| sketch.put(lane, self.sheet.row(lane), self.scale(lane)));
            Box::new(sketch)
        })
    }

    pub(super) fn has_sketch(&self) -> bool {
        self.sketch.get().is_some()
    }

    /// A column of the bound pass, padded to its lanes.
    pub(super) fn column(&self, column: Column) -> &[f32] {
        self.sheet.column(column, self.len())
    }

    /// Live rows that pass the gate.
    pub(super) fn gated(&self, gate: Gate) -> Bits {
        let status = if gate.active_only { self.live.and(&self.active) } else { self.live };
        status.and(&self.at_level[usize::from(gate.level).min(LEVELS - 1)])
    }

    /// Memory held.
    pub(super) fn memory(&self) -> usize {
        let numbers = self.numbers.capacity() * size_of::<u32>() + self.norms.capacity() * size_of::<f32>();
        let facts = self.facts.capacity() * size_of::<Facts>() + numbers;
        size_of::<Self>() + self.sheet.bytes() + facts + self.sketch.get().map_or(0, |sketch| sketch.bytes())
    }

    /// Appends a row and returns its lane.
    pub(super) fn push(&mut self, row: &NewRow<'_>) -> usize {
        let lane = self.len();
        if lane == self.sheet.lanes() {
            self.sheet.grow(BLOCK_ROWS);
        }
        self.norms.push(0.0);
        self.facts.push(row.facts);
        self.numbers.push(row.facts.row);
        self.live.set(lane, true);
        self.set_vector(lane, &row.vector);
        self.set_facts(lane, &row.facts);
        lane
    }

    /// Appends a row of which only the outline is kept, in a block without room for bytes.
    pub(super) fn push_outline(&mut self, facts: Facts, bytes: &[u8], scale: RowScale, dims: usize) -> usize {
        let lane = self.push(&NewRow { facts, vector: VectorSource::None });
        self.sketch.get_or_init(|| Box::new(Sketch::new(dims, 0)));
        if let Some(sketch) = self.sketch.get_mut() {
            sketch.put(lane, bytes, scale.scale);
        }
        self.set_scale(lane, &scale, true);
        lane
    }

    /// Some live row's vector.
    pub(super) fn first_vector(&self, dims: usize) -> Option<Vec<f32>> {
        let lane = self.live.and(&self.with_vector).iter().next()?;
        Some(self.unquantised(lane, dims))
    }

    /// The vector of a row, as exactly as its quantised form knows it.
    pub(super) fn unquantised(&self, lane: usize, dims: usize) -> Vec<f32> {
        let scale = self.scale(lane);
        self.sheet.row(lane)[..dims].iter().map(|&x| (f32::from(x) - 128.0) * scale).collect()
    }

    /// The scale of a row.
    pub(super) fn row_scale(&self, lane: usize) -> RowScale {
        let number = |column| self.sheet.get(column, lane);
        RowScale { scale: number(Column::Scale), err_norm: number(Column::Err), norm: self.norms[lane] }
    }

    /// A row as lists take it; none without a vector.
    pub(super) fn member(&self, lane: usize) -> Option<Member<'_>> {
        let member = Member { facts: self.facts[lane], bytes: self.sheet.row(lane), scale: self.row_scale(lane) };
        self.with_vector.has(lane).then_some(member)
    }

    /// A copy of another block's live row, as a row to push here.
    pub(super) fn row(&self, lane: usize) -> NewRow<'_> {
        let scale = self.row_scale(lane);
        let known = self.with_vector.has(lane);
        let vector = if known { VectorSource::Quantised(self.sheet.row(lane), scale) } else { VectorSource::None };
        NewRow { facts: self.facts[lane], vector }
    }

    pub(super) fn set_vector(&mut self, lane: usize, vector: &VectorSource<'_>) {
        let bytes = self.sheet.row_mut(lane);
        let (scale, known) = match *vector {
            VectorSource::Full(row) => (self.kernel.quantise_row(row, bytes), true),
            VectorSource::Quantised(row, scale) => {
                bytes.copy_from_slice(row);
                (scale, true)
            }
            VectorSource::None => {
                bytes.fill(BIASED_ZERO);
                (NO_SCALE, false)
            }
        };
        if let Some(sketch) = self.sketch.get_mut() {
            sketch.put(lane, self.sheet.row(lane), scale.scale);
        }
        self.set_scale(lane, &scale, known);
    }

    fn set_scale(&mut self, lane: usize, scale: &RowScale, known: bool) {
        self.sheet.set_scale(lane, scale);
        self.norms[lane] = scale.norm;
        self.norm_max = self.norm_max.max(scale.norm);
        self.with_vector.set(lane, known);
        self.facts[lane].has_vector = known;
    }

    /// Replaces the facts of a row and raises the hull.
    pub(super) fn set_facts(&mut self, lane: usize, facts: &Facts) {
        let HullRow { weight, importance_rate: rate, .. } = hull_row(facts);
        let ago = days_between(facts.time, self.base) as f32;
        self.facts[lane] = Facts { has_vector: self.with_vector.has(lane), ..*facts };
        self.sheet.set(Column::Weight, lane, weight as f32);
        self.sheet.set(Column::Rate, lane, if facts.pinned { 0.0 } else { rate as f32 });
        self.sheet.set(Column::Ago, lane, ago);
        self.ago_min = self.ago_min.min(ago);
        self.active.set(lane, facts.status == STATUS_ACTIVE);
        self.pinned.set(lane, facts.pinned);
        self.turns.set(lane, facts.turn);
        for (level, bits) in self.at_level.iter_mut().enumerate() {
            bits.set(lane, usize::from(facts.sensitivity).min(LEVELS - 1) <= level);
        }
        self.hull.raise(&hull_row(facts));
    }

    /// Takes a row out and wipes it.
    pub(super) fn remove(&mut self, lane: usize) {
        self.set_vector(lane, &VectorSource::None);
        self.live.set(lane, false);
        let facts = &mut self.facts[lane];
        *facts =
            Facts { id: [0; 16], version: 0, created_at: 0, valid_from: 0, valid_to: 0, time: self.base, ..*facts };
    }
}

/// A row as hulls see it.
pub(super) fn hull_row(facts: &Facts) -> HullRow {
    HullRow {
        time: facts.time,
        weight: weight(facts.importance, facts.confidence, false),
        importance_rate: importance_rate(facts.importance),
        pinned: facts.pinned,
    }
}
