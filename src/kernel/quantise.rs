//! Floats to integers, with proven error norms.

use super::aligned::AlignedBytes;

/// Quantised rows are padded to a multiple of this many dims.
const PAD: usize = 64;
/// What a zero looks like in a biased row.
const BIAS: u8 = 0x80;
const ROW_MAX: f32 = 127.0;
const QUERY_MAX: u32 = 127 * 256;
/// Independent sums, so that additions needn't wait for each other.
const LANES: usize = 8;
/// Covers the rounding of the f64 sums below, up to 4096 dims.
const NORM_SLACK: f64 = 1.0 + 1e-12;

/// The stored dims of a row of `dims`.
pub(crate) const fn padded(dims: usize) -> usize {
    dims.next_multiple_of(PAD)
}

/// What turns a quantised row back into floats, and how far off that is at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowScale {
    /// Value of one integer step.
    pub(crate) scale: f32,
    /// Upper bound of the norm of (row - scale * integers).
    pub(crate) err_norm: f32,
    /// Upper bound of the norm of the row.
    pub(crate) norm: f32,
}

/// Sums of squares that norms come from: of the values, and of what they are off.
#[derive(Default, Clone, Copy)]
struct Squares {
    sizes: [f64; LANES],
    err: [f64; LANES],
}

impl Squares {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
    fn add(mut self, values: &[f32; LANES], scale: f32, steps: &[f32; LANES]) -> Self {
        for i in 0..LANES {
            let (x, back) = (f64::from(values[i]), f64::from(scale) * f64::from(steps[i]));
            self.sizes[i] += x * x;
            self.err[i] += (x - back) * (x - back);
        }
        self
    }
}

/// Eight values as whole steps, ties to even; plain operations, so that it vectorises everywhere.
#[inline(always)]
fn steps(values: &[f32; LANES], inverse: f32, most: f32) -> [f32; LANES] {
    const MAGIC: f32 = 12_582_912.0;
    values.map(|x| {
        let step = x * inverse;
        let step = if step > most { most } else { step };
        (if step < -most { -most } else { step } + MAGIC) - MAGIC
    })
}

/// Steps as integers, by the bits of a float that has no room for a fraction.
#[inline(always)]
fn whole(steps: &[f32; LANES]) -> [i32; LANES] {
    const MAGIC: f32 = 12_582_912.0;
    steps.map(|step| (step + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()).cast_signed())
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn inverse(scale: f32) -> f32 {
    if scale > 0.0 { 1.0 / scale } else { 0.0 }
}

/// The step of `most` for the largest value; 0 where its inverse would leave f32.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn step_size(values: &[f32], most: f32) -> f32 {
    let scale = largest(values) / most;
    if scale >= f32::MIN_POSITIVE { scale } else { 0.0 }
}

/// Quantises a finite row into `out`, biased by 128 and padded; `out` holds [`padded`] bytes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
pub(super) fn quantise_row(row: &[f32], out: &mut [u8]) -> RowScale {
    assert_eq!(out.len(), padded(row.len()), "a quantised row is padded");
    out[row.len()..].fill(BIAS);
    let scale = step_size(row, ROW_MAX);
    let mut squares = Squares::default();
    let inverse = inverse(scale);
    let (eights, rest) = row.as_chunks::<LANES>();
    for (values, out) in eights.iter().zip(out.as_chunks_mut::<LANES>().0) {
        let steps = steps(values, inverse, ROW_MAX);
        *out = whole(&steps).map(|step| step as u8 ^ BIAS);
        squares = squares.add(values, scale, &steps);
    }
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let steps = steps(&last, inverse, ROW_MAX);
    for (out, step) in out[row.len() - rest.len()..row.len()].iter_mut().zip(whole(&steps)) {
        *out = step as u8 ^ BIAS;
    }
    squares = squares.add(&last, scale, &steps);
    RowScale { scale, err_norm: norm_up(squares.err.iter().sum()), norm: norm_up(squares.sizes.iter().sum()) }
}

/// A query as 16-bit integers: q = 256 * hi + lo, and the same values whole.
#[derive(Clone)]
pub(crate) struct PlanedQuery {
    hi: AlignedBytes,
    lo: AlignedBytes,
    whole: Vec<i16>,
    bias: i32,
    /// Value of one integer step.
    pub(crate) scale: f32,
    /// Upper bound of the norm of (query - scale * integers).
    pub(crate) err_norm: f32,
    /// Upper bound of the norm of scale * integers.
    pub(crate) planed_norm: f32,
    /// Upper bound of the norm of the query.
    pub(crate) norm: f32,
}

impl PlanedQuery {
    /// Bytes of one row that this query can be compared with.
    pub(crate) fn stride(&self) -> usize {
        self.whole.len()
    }

    #[cfg_attr(not(any(target_arch = "x86_64", test)), expect(dead_code, reason = "only VNNI reads planes"))]
    pub(super) fn hi(&self) -> &[u8] {
        self.hi.as_slice()
    }

    #[cfg_attr(not(any(target_arch = "x86_64", test)), expect(dead_code, reason = "only VNNI reads planes"))]
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

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
    pub(super) fn from_whole(whole: Vec<i16>) -> Self {
        let mut hi = AlignedBytes::zeroed(whole.len());
        let mut lo = AlignedBytes::zeroed(whole.len());
        let mut sum = 0i32;
        for ((&q, lo), hi) in whole.iter().zip(lo.as_mut_slice()).zip(hi.as_mut_slice()) {
            *lo = q as u8;
            *hi = ((i32::from(q) - i32::from(q as i8)) >> 8) as u8;
            sum = sum.wrapping_add(i32::from(q));
        }
        let bias = sum.wrapping_mul(128);
        Self { hi, lo, whole, bias, scale: 0.0, err_norm: 0.0, planed_norm: 0.0, norm: 0.0 }
    }
}

/// Quantises a finite query so that no sum with any row can leave i32.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
pub(super) fn quantise_query(query: &[f32]) -> PlanedQuery {
    let room = (i32::MAX as usize / (127 * query.len().max(1))) as u32;
    let cap = room.min(QUERY_MAX) as f32;
    let scale = step_size(query, cap);
    let mut padded_query = query.to_vec();
    padded_query.resize(padded(query.len()), 0.0);
    let mut integers = vec![0i16; padded_query.len()];
    let inverse = inverse(scale);
    for (values, out) in padded_query.as_chunks::<LANES>().0.iter().zip(integers.as_chunks_mut::<LANES>().0) {
        *out = whole(&steps(values, inverse, cap)).map(|step| step as i16);
    }
    let (mut err, step) = ([0.0; LANES], f64::from(scale));
    for (values, steps) in padded_query.as_chunks::<LANES>().0.iter().zip(integers.as_chunks::<LANES>().0) {
        for i in 0..LANES {
            let off = f64::from(values[i]) - step * f64::from(steps[i]);
            err[i] += off * off;
        }
    }
    let size: i64 = integers.iter().map(|&step| i64::from(i32::from(step).pow(2))).sum();
    let mut planes = PlanedQuery::from_whole(integers);
    planes.scale = scale;
    planes.err_norm = norm_up(err.iter().sum());
    planes.planed_norm = norm_up(size as f64 * step * step);
    planes.norm = (planes.planed_norm + planes.err_norm).next_up();
    planes
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn largest(values: &[f32]) -> f32 {
    let mut most = [0.0f32; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    for values in whole {
        for (most, x) in most.iter_mut().zip(values) {
            *most = if x.abs() > *most { x.abs() } else { *most };
        }
    }
    most.iter().chain(rest).fold(0.0, |most, x| x.abs().max(most))
}

fn norm_up(square: f64) -> f32 {
    let norm = square.sqrt() * NORM_SLACK;
    let near = norm as f32;
    if f64::from(near) < norm { near.next_up() } else { near }
}
