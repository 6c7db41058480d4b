//! The verbs of the memory, one function each.

mod change;
mod doctor;
mod embed;
mod export;
mod forget;
mod import;
mod list;
mod maintain;
mod recall;
mod remember;
mod rotate;
mod show;
mod snapshot;
mod stats;
mod trace;

pub(crate) use change::{confirm, contradict, correct, update, used};
pub(crate) use doctor::doctor;
pub(crate) use embed::embed;
pub(crate) use export::export;
pub(crate) use forget::{forget, verify_receipt};
pub(crate) use import::import;
pub(crate) use list::{list, users};
pub(crate) use maintain::maintain;
pub(crate) use recall::{context, recall, why};
pub(crate) use remember::remember;
pub(crate) use rotate::rotate_keys;
pub(crate) use show::show;
pub(crate) use snapshot::{restore, snapshot};
pub(crate) use stats::stats;
