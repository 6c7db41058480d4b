//! Lists of alike rows: what an approximate search of a large user reads in place of all sketches.
//!
//! A copy of sketches and facts, beside the blocks and never in their order; built in bounded steps.

mod build;
mod centroids;
mod growth;
mod lists;
mod search;
mod sight;

pub(super) use growth::Growth;
pub(super) use lists::Member;
pub(super) use sight::Entry;
