//! Floats to integers, with proven error norms.

use super::aligned::AlignedBytes;

/// Quantised rows are padded to a multiple of this many dims.
const PAD: usize = 64;
/// What a zero looks like in a biased row.
const BIAS: u8 = 0x80;
const ROW_MAX: f32 = 127.0;
const QUERY_MAX: u32 = 127 * 256;
/// Covers the rounding of the f64 sums below, up to 4096 dims.
const NORM_SLACK: f64 = 1.0 + 1e-12;

/// The stored dims of a row of `dims`.
pub const fn padded(dims: usize) -> usize {
    dims.next_multiple_of(PAD)
}

/// What turns a quantised row back into floats, and how far off that is at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowScale {
    /// Value of one integer step.
    pub scale: f32,
    /// Upper bound of the norm of (row - scale * integers).
    pub err_norm: f32,
    /// Upper bound of the norm of the row.
    pub norm: f32,
}

/// Quantises a finite row into `out`, biased by 128 and padded; `out` holds [`padded`] bytes.
pub fn quantise_row(row: &[f32], out: &mut [u8]) -> RowScale {
    assert_eq!(out.len(), padded(row.len()), "a quantised row is padded");
    let scale = largest(row) / ROW_MAX;
    out[row.len()..].fill(BIAS);
    let mut err = 0.0;
    for (&x, o) in row.iter().zip(out.iter_mut()) {
        let step = if scale > 0.0 { (x / scale).round().clamp(-ROW_MAX, ROW_MAX) } else { 0.0 };
        *o = (step as i8).cast_unsigned() ^ BIAS;
        err += square(f64::from(x) - f64::from(scale) * f64::from(step));
    }
    RowScale { scale, err_norm: norm_up(err), norm: norm_up(sum_of_squares(row)) }
}

/// A query as 16-bit integers: q = 256 * hi + lo, and the same values whole.
#[derive(Clone)]
pub struct PlanedQuery {
    hi: AlignedBytes,
    lo: AlignedBytes,
    whole: Vec<i16>,
    bias: i32,
    /// Value of one integer step.
    pub scale: f32,
    /// Upper bound of the norm of (query - scale * integers).
    pub err_norm: f32,
    /// Upper bound of the norm of scale * integers.
    pub planed_norm: f32,
    /// Upper bound of the norm of the query.
    pub norm: f32,
}

impl PlanedQuery {
    /// Bytes of one row that this query can be compared with.
    pub fn stride(&self) -> usize {
        self.whole.len()
    }

    pub(super) fn hi(&self) -> &[u8] {
        self.hi.as_slice()
    }

    pub(super) fn lo(&self) -> &[u8] {
        self.lo.as_slice()
    }

    pub(super) fn whole(&self) -> &[i16] {
        &self.whole
    }

    /// 128 times the sum of the query, which biased rows add to every sum.
    pub(super) fn bias(&self) -> i32 {
        self.bias
    }

    pub(super) fn from_whole(whole: Vec<i16>) -> Self {
        let mut hi = AlignedBytes::zeroed(whole.len());
        let mut lo = AlignedBytes::zeroed(whole.len());
        let mut sum = 0i32;
        for (i, &q) in whole.iter().enumerate() {
            let low = q as i8;
            lo.as_mut_slice()[i] = low.cast_unsigned();
            hi.as_mut_slice()[i] = (((i32::from(q) - i32::from(low)) >> 8) as i8).cast_unsigned();
            sum = sum.wrapping_add(i32::from(q));
        }
        let bias = sum.wrapping_mul(128);
        Self { hi, lo, whole, bias, scale: 0.0, err_norm: 0.0, planed_norm: 0.0, norm: 0.0 }
    }
}

/// Quantises a finite query so that no sum with any row can leave i32.
pub fn quantise_query(query: &[f32]) -> PlanedQuery {
    let room = (i32::MAX as usize / (127 * query.len().max(1))) as u32;
    let cap = room.min(QUERY_MAX) as f32;
    let scale = largest(query) / cap;
    let mut whole = vec![0i16; padded(query.len())];
    let (mut err, mut planed) = (0.0, 0.0);
    for (&x, o) in query.iter().zip(&mut whole) {
        let step = if scale > 0.0 { (x / scale).round().clamp(-cap, cap) } else { 0.0 };
        *o = step as i16;
        let back = f64::from(scale) * f64::from(step);
        err += square(f64::from(x) - back);
        planed += square(back);
    }
    let mut planes = PlanedQuery::from_whole(whole);
    planes.scale = scale;
    planes.err_norm = norm_up(err);
    planes.planed_norm = norm_up(planed);
    planes.norm = norm_up(sum_of_squares(query));
    planes
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, x| x.abs().max(most))
}

fn sum_of_squares(values: &[f32]) -> f64 {
    values.iter().map(|&x| square(f64::from(x))).sum()
}

fn square(x: f64) -> f64 {
    x * x
}

fn norm_up(squares: f64) -> f32 {
    let norm = squares.sqrt() * NORM_SLACK;
    let near = norm as f32;
    if f64::from(near) < norm { near.next_up() } else { near }
}
