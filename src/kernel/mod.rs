//! Distance kernels: integer scans, exact dots and score bounds. Core only; the one room with `unsafe`.
//!
//! Every routine has a scalar twin, and every kernel gives the same bits as that twin.
#![expect(unsafe_code, reason = "vector loads and calls into detected CPU features")]

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx_vnni;
mod bounds;
mod dispatch;
#[cfg(test)]
mod naive;
#[cfg(target_arch = "aarch64")]
mod neon;
mod quantise;
#[cfg(feature = "testing")]
mod roof;
mod scalar;
mod sketch;
mod slab;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use bounds::exp2_fast;
pub(crate) use bounds::{BOUND_LANES, BoundConsts, BoundRows};
pub(crate) use dispatch::{Dispatch, Kernel};
#[cfg(test)]
pub(crate) use naive::float_dot;
pub(crate) use quantise::{PlanedQuery, RowScale, padded};
pub(crate) use sketch::{BitQuery, SKETCH_GROUP};
pub(crate) use slab::{Piece, Slab};
