//! What a scan reads of a block, side by side in one piece of memory: columns first, then the rows.

use crate::kernel::{BOUND_LANES, Piece, RowScale, Slab};

const COLUMNS: usize = 5;
/// Lanes of a sheet that opens without a known size.
const LANES_MIN: usize = 16;

/// Per-row numbers that the bound pass reads.
#[derive(Clone, Copy)]
pub(super) enum Column {
    Scale,
    Err,
    Weight,
    /// Days before the block's base.
    Ago,
    /// Ebbinghaus rate; 0 for pinned rows.
    Rate,
}

/// Quantised rows and their columns, both padded to the lanes of the bound pass.
pub(super) struct Sheet {
    stride: usize,
    lanes: usize,
    piece: Piece,
}

impl Sheet {
    /// Bytes of one row with its part of the columns.
    pub(super) fn row_bytes(stride: usize) -> usize {
        COLUMNS * size_of::<f32>() + stride
    }

    /// Bytes of a sheet for so many rows.
    pub(super) fn bytes_for(stride: usize, rows: usize) -> usize {
        rows.next_multiple_of(BOUND_LANES) * Self::row_bytes(stride)
    }

    /// Room for so many rows.
    pub(super) fn new(stride: usize, rows: usize, slab: &mut Slab) -> Self {
        let lanes = rows.next_multiple_of(BOUND_LANES);
        Self { stride, lanes, piece: slab.cut(Self::bytes_for(stride, lanes)) }
    }

    /// Lanes that there is room for.
    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    pub(super) fn bytes(&self) -> usize {
        self.piece.as_slice().len()
    }

    /// Makes room for one row more than there are lanes.
    pub(super) fn grow(&mut self, most: usize) {
        let lanes = (self.lanes * 2).clamp(LANES_MIN, most);
        let mut slab = Slab::new(Self::bytes_for(self.stride, lanes));
        let mut wider = Self::new(self.stride, lanes, &mut slab);
        for column in [Column::Scale, Column::Err, Column::Weight, Column::Ago, Column::Rate] {
            wider.column_mut(column)[..self.lanes].copy_from_slice(self.column(column, self.lanes));
        }
        let rows = self.rows(self.lanes);
        let at = wider.rows_at();
        wider.piece.as_mut_slice()[at..at + rows.len()].copy_from_slice(rows);
        *self = wider;
    }

    fn rows_at(&self) -> usize {
        self.lanes * COLUMNS * size_of::<f32>()
    }

    /// The first rows.
    pub(super) fn rows(&self, len: usize) -> &[u8] {
        &self.piece.as_slice()[self.rows_at()..][..len * self.stride]
    }

    pub(super) fn row(&self, lane: usize) -> &[u8] {
        &self.piece.as_slice()[self.rows_at() + lane * self.stride..][..self.stride]
    }

    pub(super) fn row_mut(&mut self, lane: usize) -> &mut [u8] {
        let at = self.rows_at() + lane * self.stride;
        &mut self.piece.as_mut_slice()[at..][..self.stride]
    }

    /// A column of so many rows, padded.
    pub(super) fn column(&self, column: Column, len: usize) -> &[f32] {
        let size = self.lanes * size_of::<f32>();
        let bytes = &self.piece.as_slice()[column as usize * size..][..size];
        &bytemuck::cast_slice(bytes)[..len.next_multiple_of(BOUND_LANES)]
    }

    fn column_mut(&mut self, column: Column) -> &mut [f32] {
        let size = self.lanes * size_of::<f32>();
        bytemuck::cast_slice_mut(&mut self.piece.as_mut_slice()[column as usize * size..][..size])
    }

    pub(super) fn get(&self, column: Column, lane: usize) -> f32 {
        self.column(column, self.lanes)[lane]
    }

    pub(super) fn set(&mut self, column: Column, lane: usize, value: f32) {
        self.column_mut(column)[lane] = value;
    }

    pub(super) fn set_scale(&mut self, lane: usize, scale: &RowScale) {
        self.set(Column::Scale, lane, scale.scale);
        self.set(Column::Err, lane, scale.err_norm);
    }
}
