//! Work on a store and what it should lead to: a generator of verbs, a plain model, and the comparison.

mod ask;
mod dice;
mod game;
mod generate;
mod model;
mod observe;
mod step;
mod told;
mod undo;

pub(crate) use ask::{Plan, check_recall};
pub(crate) use dice::{Bytes, Dice};
pub(crate) use game::{Game, PATH, Setting, check_store};
pub(crate) use generate::{Mix, Upkeep, generate, some_rows};
pub(crate) use model::{Model, Row, UserState, advance, closure_of};
pub(crate) use observe::{Found, Seen, check_deeply, found_of, settle_ids, show_difference, shown_by};
pub(crate) use step::{Answer, Expected, Step, UNKNOWN};
pub(crate) use told::{Told, check_kind};

/// Dimensions of every vector.
pub(crate) const DIMS: usize = 16;

/// A random vector, not normalised, never zero.
pub(crate) fn vector(random: &mut impl Dice) -> Vec<f32> {
    random.vector()
}

/// One of some things.
pub(crate) fn pick<'a, T>(random: &mut impl Dice, of: &'a [T]) -> &'a T {
    &of[random.below(of.len() as u64) as usize]
}
