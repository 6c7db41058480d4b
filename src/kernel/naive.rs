//! Plain f32 products: the float baseline, in C where the feature is on.

/// The dot product in f32; the order of its sums is the platform's.
pub(crate) fn float_dot(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of one space");
    #[cfg(feature = "simsimd")]
    if let Some(dot) = <f32 as simsimd::SpatialSimilarity>::dot(a, b) {
        return dot;
    }
    super::scalar::dot(a, b)
}
