//! `mnemic eval`: how well recall finds the evidence of a labelled set.

mod dataset;
mod metrics;
mod npy;
mod report;
mod run;

pub(crate) use run::run;
