//! The rows of the tokens: 8-bit numbers, and for each row what they are to be multiplied with.

use crate::DIMS;

const ROWS: &[u8] = include_bytes!("../data/rows.i8");
const SCALES: &[u8] = include_bytes!("../data/scales.f32");

/// The sum of the tokens' rows at unit length; `None` for no token, or rows that cancel out.
pub(crate) fn unit_sum(ids: &[u16]) -> Option<[f32; DIMS]> {
    let (rows, scales) = (ROWS.as_chunks::<DIMS>().0, SCALES.as_chunks::<4>().0);
    let mut sum = [0.0_f32; DIMS];
    for id in ids {
        let (row, scale) = (rows.get(usize::from(*id))?, scales.get(usize::from(*id))?);
        let scale = f32::from_le_bytes(*scale);
        for (x, byte) in sum.iter_mut().zip(row) {
            *x += f32::from(byte.cast_signed()) * scale;
        }
    }
    let length = sum.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length > 0.0).then(|| sum.map(|x| (f64::from(x) / length) as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_have_a_row_and_a_scale_for_each_token() {
        assert_eq!((ROWS.len(), SCALES.len()), (30_522 * DIMS, 30_522 * 4));
        let finite = |scale: &[u8; 4]| f32::from_le_bytes(*scale).is_finite();
        assert!(SCALES.as_chunks::<4>().0.iter().all(finite));
    }

    #[test]
    fn no_token_gives_no_vector() {
        assert_eq!(unit_sum(&[]), None);
        assert_eq!(unit_sum(&[u16::MAX]), None, "beyond the table");
    }
}
