//! Work on a store and what it should lead to: a generator of verbs, a plain model, and the comparison.

mod game;
mod generate;
mod model;
mod observe;
mod step;
mod undo;

pub(crate) use game::{Game, PATH, Setting, check_store};
pub(crate) use generate::{Mix, Upkeep, generate, some_rows};
pub(crate) use model::{Model, Row, UserState, advance, closure_of};
pub(crate) use observe::{Found, Seen, check_deeply, found_of, settle_ids, show_difference, shown_by};
pub(crate) use step::{Answer, Expected, Step, UNKNOWN};

use mnemic::world::testing::SplitMix64;

/// Dimensions of every vector.
pub(crate) const DIMS: usize = 16;

/// A random vector, not normalised, never zero.
pub(crate) fn vector(random: &mut SplitMix64) -> Vec<f32> {
    (0..DIMS).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).map(|x| if x == 0.0 { 0.5 } else { x }).collect()
}

/// One of some things.
pub(crate) fn pick<'a, T>(random: &mut SplitMix64, of: &'a [T]) -> &'a T {
    &of[random.below(of.len() as u64) as usize]
}
