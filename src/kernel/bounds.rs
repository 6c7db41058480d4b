//! From integer sums to bounds of the score, sixteen rows at a time.
//!
//! One plain-operation source (no fused multiply-add) is compiled once per instruction set, so that
//! every kernel gives the same bits.

/// Rows are bounded in groups of this many; the slices are padded to it.
pub(crate) const BOUND_LANES: usize = 16;

/// Added to upper bounds: covers everything that f32 rounds to zero.
const TINY_UP: f32 = f32::MIN_POSITIVE;
/// Taken from lower bounds: a lower bound under 2^-100 is none.
const TINY_DOWN: f32 = f32::from_bits((127 - 100) << 23);
/// Exponents below this are all the same to f32.
const EXPONENT_MIN: f32 = -126.0;
const EXPONENT_MAX: f32 = 126.0;

/// Per-row columns, all of one length, which is a multiple of [`BOUND_LANES`].
#[derive(Clone, Copy)]
pub(crate) struct BoundRows<'a> {
    /// Integer sums of the scan.
    pub(crate) sums: &'a [i32],
    /// Scale of each row.
    pub(crate) scale: &'a [f32],
    /// Error norm of each row.
    pub(crate) err: &'a [f32],
    /// Weight of each row.
    pub(crate) weight: &'a [f32],
    /// Decay rate c of each row.
    pub(crate) rate: &'a [f32],
    /// Days from the row's time to the block's base; negative when the row is newer.
    pub(crate) ago: &'a [f32],
    /// Additive legs, in the units of the relevance.
    pub(crate) extra: &'a [f32],
}

/// What is the same for all rows of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundConsts {
    /// Value of one integer step of the query.
    pub(crate) query_scale: f32,
    /// Norm of the planed query.
    pub(crate) query_norm: f32,
    /// Error of the cosine that doesn't depend on the row.
    pub(crate) err: f32,
    /// Relevance per unit of cosine.
    pub(crate) gain: f32,
    /// Relevance at cosine 0, rounded up.
    pub(crate) offset_up: f32,
    /// Relevance at cosine 0, rounded down.
    pub(crate) offset_down: f32,
    /// Halvings per day at rate 1.
    pub(crate) halvings: f32,
    /// Days from the block's base to now.
    pub(crate) since: f32,
    /// Exponent that is taken off, so that strong decay stays inside f32.
    pub(crate) shift: f32,
    /// The largest retention of any row, slack and shift included.
    pub(crate) ceiling: f32,
    /// Retention that never decays.
    pub(crate) floor: f32,
    /// 1 - floor.
    pub(crate) span: f32,
    /// Relative slack.
    pub(crate) slack: f32,
    /// Relative slack per unit of exponent.
    pub(crate) slack_per_exponent: f32,
    /// Rows whose upper bound is below this are not marked.
    pub(crate) threshold: f32,
}

/// 2^x for x in [-126, 126] with a relative error under 3e-7; outside it is clamped.
#[inline(always)]
pub(crate) fn exp2_fast(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0;
    let x = at_least(at_most(x, EXPONENT_MAX), EXPONENT_MIN);
    let shifted = x + MAGIC;
    let f = x - (shifted - MAGIC);
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23);
    let p = 1.540_353e-4 * f + 1.333_356e-3;
    let p = p * f + 9.618_129e-3;
    let p = p * f + 5.550_411e-2;
    let p = p * f + 2.402_265e-1;
    let p = p * f + 6.931_472e-1;
    (p * f + 1.0) * power
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn at_least(x: f32, low: f32) -> f32 {
    if x > low { x } else { low }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn at_most(x: f32, high: f32) -> f32 {
    if x < high { x } else { high }
}

/// The largest relevance that row i can have.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn relevance_up(b: &BoundRows<'_>, c: &BoundConsts, i: usize) -> f32 {
    let cos = b.sums[i] as f32 * (b.scale[i] * c.query_scale);
    let err = b.err[i] * c.query_norm + c.err;
    at_least((cos + err) * c.gain + (b.extra[i] + c.offset_up), 0.0)
}

/// The least relevance that row i can have.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn relevance_down(b: &BoundRows<'_>, c: &BoundConsts, i: usize) -> f32 {
    let cos = b.sums[i] as f32 * (b.scale[i] * c.query_scale);
    let err = b.err[i] * c.query_norm + c.err;
    at_least((cos - err) * c.gain + (b.extra[i] + c.offset_down), 0.0)
}

/// Both bounds of row i.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn lane(b: &BoundRows<'_>, c: &BoundConsts, i: usize, relevance: f32) -> (f32, f32) {
    let age = at_least(b.ago[i] + c.since, 0.0);
    let exponent = (b.rate[i] * c.halvings) * age;
    let factor = b.weight[i] * (exp2_fast(-exponent - c.shift) * c.span + c.floor);
    let slack = at_most(exponent * c.slack_per_exponent + c.slack, 1.0);
    let down = relevance_down(b, c, i) * factor * (1.0 - slack) - TINY_DOWN;
    (relevance * factor * (1.0 + slack) + TINY_UP, at_least(down, 0.0))
}

/// Writes both bounds of sixteen rows and returns the bits of those whose upper one reaches the threshold.
/// Age is looked at only if some row would reach it without.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
fn group(b: &BoundRows<'_>, c: &BoundConsts, up: &mut [f32; BOUND_LANES], down: &mut [f32; BOUND_LANES]) -> u16 {
    let mut relevance = [0.0; BOUND_LANES];
    let mut hopeful = 0;
    for (i, relevance) in relevance.iter_mut().enumerate() {
        *relevance = relevance_up(b, c, i);
        hopeful |= u32::from(*relevance * b.weight[i] * c.ceiling + TINY_UP >= c.threshold);
    }
    if hopeful == 0 {
        return 0;
    }
    let mut bits = 0;
    for (i, &relevance) in relevance.iter().enumerate() {
        (up[i], down[i]) = lane(b, c, i, relevance);
        bits |= u32::from(up[i] >= c.threshold) << i;
    }
    bits as u16
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled inside each instruction set")]
pub(super) fn bounds(rows: &BoundRows<'_>, consts: &BoundConsts, up: &mut [f32], down: &mut [f32], marks: &mut [u16]) {
    let groups = marks.len();
    let (up, down) = (up.as_chunks_mut::<BOUND_LANES>().0, down.as_chunks_mut::<BOUND_LANES>().0);
    let (up, down) = (&mut up[..groups], &mut down[..groups]);
    let sums = &rows.sums.as_chunks::<BOUND_LANES>().0[..groups];
    let columns = [rows.scale, rows.err, rows.weight, rows.rate, rows.ago, rows.extra];
    let [scale, err, weight, rate, ago, extra] = columns.map(|column| &column.as_chunks::<BOUND_LANES>().0[..groups]);
    for g in 0..groups {
        let part = BoundRows {
            sums: &sums[g],
            scale: &scale[g],
            err: &err[g],
            weight: &weight[g],
            rate: &rate[g],
            ago: &ago[g],
            extra: &extra[g],
        };
        marks[g] = group(&part, consts, &mut up[g], &mut down[g]);
    }
}
