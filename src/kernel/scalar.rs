//! The twin that every kernel must equal bit for bit.

use super::quantise::PlanedQuery;

/// Lanes of the exact dot product, on every kernel.
pub(super) const DOT_LANES: usize = 8;

pub(super) fn scan(query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
    for (row, sum) in rows.chunks_exact(query.stride()).zip(out) {
        *sum = scan_row(query.whole(), row);
    }
}

fn scan_row(query: &[i16], row: &[u8]) -> i32 {
    let product = |(&q, &x): (&i16, &u8)| i32::from(q) * i32::from((x ^ 0x80).cast_signed());
    query.iter().zip(row).map(product).fold(0, i32::wrapping_add)
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0; DOT_LANES];
    for (a, b) in a.chunks(DOT_LANES).zip(b.chunks(DOT_LANES)) {
        add_products(&mut lanes, a, b);
    }
    sum_lanes(lanes)
}

pub(super) fn add_products(lanes: &mut [f64; DOT_LANES], a: &[f32], b: &[f32]) {
    for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
        *lane += f64::from(a) * f64::from(b);
    }
}

pub(super) fn sum_lanes(l: [f64; DOT_LANES]) -> f64 {
    ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}
