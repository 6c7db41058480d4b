//! `mnemic eval`: how well recall finds the evidence of a labelled set.

mod dataset;
mod dated;
mod metrics;
mod npy;
mod report;
mod run;
mod sweep;

pub(crate) use run::run;
