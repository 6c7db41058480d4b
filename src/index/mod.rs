//! What is searched.

pub(crate) mod attributes;
mod filter;
pub(crate) mod lexical;
pub(crate) mod vector;

pub use filter::{Comparison, Filter};
#[cfg(feature = "testing")]
pub use vector::{Lab, LabAnswer, LabQuery, LabRow, lab_kernels};
