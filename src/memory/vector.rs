use std::fmt;
use std::sync::Arc;

use zeroize::Zeroize;

use crate::error::{Error, Result};
use crate::memory::limits::{DIMS_MAX, DIMS_MIN};

/// A direction: finite numbers, normalised in f64 to unit length and kept as f32. Copies share them; they are zeroed
/// with the last one.
#[derive(Clone, PartialEq)]
pub struct Vector(Arc<[f32]>);

impl Vector {
    /// Checks and normalises `numbers`. Any finite, non-zero vector will do, however long or short.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): fewer than 8 or more than 4,096 numbers, a NaN or an infinity, or
    /// all zeros.
    pub fn new(numbers: &[f32]) -> Result<Self> {
        if !(DIMS_MIN..=DIMS_MAX).contains(&numbers.len()) {
            return Err(Error::invalid(format!("vector: {} numbers, must be {DIMS_MIN} to {DIMS_MAX}", numbers.len())));
        }
        if let Some(i) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(Error::invalid(format!("vector: number {i} is NaN or infinite")));
        }
        let squares: f64 = numbers.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        sabotage!(18, let squares = squares.max(1.0));
        if squares == 0.0 {
            return Err(Error::invalid("vector: all zeros, which has no direction"));
        }
        let norm = libm::sqrt(squares);
        Ok(Self(numbers.iter().map(|&x| (f64::from(x) / norm) as f32).collect()))
    }

    /// A vector that was normalised before and read back.
    pub(crate) fn from_unit(numbers: Vec<f32>) -> Self {
        Self(numbers.into())
    }

    /// The unit vector.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How many numbers.
    pub fn dims(&self) -> usize {
        self.0.len()
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        if let Some(numbers) = Arc::get_mut(&mut self.0) {
            numbers.zeroize();
        }
    }
}

impl fmt::Debug for Vector {
    /// Shows only the length: a vector can be turned back into text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vector({} dims)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_but_finite_vectors_are_normalised() {
        for scale in [1e-45f32, 1e-38, 1.0, 1e38] {
            let v = Vector::new(&[scale; 8]).unwrap();
            let norm: f64 = v.as_slice().iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            assert!((norm - 1.0).abs() < 1e-6, "{scale}: {norm}");
        }
    }

    #[test]
    fn vectors_without_direction_are_refused_by_name() {
        for bad in [vec![0.0; 8], vec![f32::NAN; 8], vec![f32::INFINITY; 8], vec![1.0; 7], vec![1.0; 4097]] {
            let error = Vector::new(&bad).unwrap_err();
            assert!(error.message().starts_with("vector:"), "{error}");
        }
    }
}
