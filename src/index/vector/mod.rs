//! The rows of one user in memory, and the exact top-k of the whole score over them.
//!
//! Rows are quantised to bytes in blocks of 256; a search skips the blocks and rows that a bound proves
//! too low, and scores the rest from the full vectors in f64.

mod approximate;
mod arena;
mod asked;
mod bits;
mod block;
mod facts;
mod full;
mod hull;
mod ivf;
#[cfg(feature = "testing")]
mod lab;
mod law;
mod legs;
mod lookup;
mod measure;
mod rank;
mod request;
mod row_table;
mod runs;
mod scan;
mod search;
mod sheet;
mod sketch;
mod top;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use arena::Arena;
pub(crate) use facts::{Facts, NewRow, VectorSource};
pub(crate) use full::{FullRows, RamRows};
#[cfg(feature = "testing")]
pub use lab::{Lab, LabAnswer, LabQuery, LabRow, lab_kernels};
pub(crate) use legs::{Legs, Sight, Sums};
pub(crate) use request::{Candidate, Gate, Request};
