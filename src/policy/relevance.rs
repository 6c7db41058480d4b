//! Relevance beyond the vector: the sum of a memory's legs, and what its neighbours in the session add.
//!
//! Every sum is of f64 in the order written here, so that the same facts give the same bits.

use crate::error::{Error, Result};

/// The largest share.
const SHARE_MAX: f64 = 100.0;

/// What each leg of a text query counts, each finite and from 0 to 100. Absolute: a leg that abstains adds nothing, and
/// nothing is shared out anew. The defaults and how they were chosen: docs/ranking.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Of the meaning, by vectors.
    pub dense: f64,
    /// Of the words.
    pub words: f64,
    /// Of the scene that the query names.
    pub scene: f64,
    /// Of the moment that the question names.
    pub time: f64,
    /// Of the speaker that the question names.
    pub speaker: f64,
    /// Of what each of the turns before and after has by meaning and words.
    pub near: f64,
    /// Of the mean of the best turns of the conversation.
    pub session: f64,
}

impl Shares {
    /// The shares of a query that names none.
    pub const DEFAULT: Self =
        Self { dense: 0.4, words: 1.0, scene: 0.1, time: 0.7, speaker: 0.1, near: 0.25, session: 0.4 };

    /// Refuses shares that make no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let Self { dense, words, scene, time, speaker, near, session } = *self;
        let named = [
            ("dense", dense),
            ("words", words),
            ("scene", scene),
            ("time", time),
            ("speaker", speaker),
            ("near", near),
            ("session", session),
        ];
        match named.iter().find(|(_, share)| !(0.0..=SHARE_MAX).contains(share)) {
            Some((name, share)) => Err(Error::invalid(format!("shares: {name} is {share}, must be 0 to {SHARE_MAX}"))),
            None => Ok(()),
        }
    }

    /// What the relevance of a turn is divided by, to compare with a self-contained memory.
    pub(crate) fn turn_divisor(&self) -> f64 {
        1.0 + 2.0 * self.near + self.session
    }

    #[cfg(test)]
    /// The sum of the legs of one memory, without context. `dense` is the calibrated similarity.
    pub(crate) fn direct(&self, legs: &Legs) -> f64 {
        self.base(legs.dense, legs.lexical)
            + self.scene * legs.scene
            + self.time * legs.time
            + self.speaker * legs.speaker
    }

    /// What a turn lends to its neighbours.
    pub(crate) fn base(&self, dense: f64, lexical: f64) -> f64 {
        self.dense * dense + self.words * lexical
    }
}

#[cfg(test)]
/// The legs of one memory for one query; 0 where one abstains.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Legs {
    pub(crate) dense: f64,
    pub(crate) lexical: f64,
    pub(crate) scene: f64,
    pub(crate) time: f64,
    pub(crate) speaker: f64,
}

/// How many of a session's turns its mean is of.
const BEST_TURNS: usize = 3;

/// The turns of a user: row numbers, session after session, each in the order of its sequence numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TurnLayout {
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl TurnLayout {
    /// Appends a session.
    pub(crate) fn push_session(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.rows.extend(rows);
        self.ends.push(self.rows.len());
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start..end])
    }
}

/// What its neighbours and its session add to each turn, as `add(row, near + session)`.
///
/// `base` gives the base of a row, or `None` for one that this query may not see: such a row lends nothing, keeps its
/// place between its neighbours, and is given nothing. Cost: linear in the turns.
pub(crate) fn add_context(
    shares: &Shares,
    layout: &TurnLayout,
    base: impl Fn(u32) -> Option<f64>,
    mut add: impl FnMut(u32, f64),
) {
    let mut bases = Vec::new();
    for session in layout.sessions() {
        bases.clear();
        bases.extend(session.iter().map(|&row| base(row)));
        let whole = shares.session * best_mean(shares, &bases);
        for (at, &row) in session.iter().enumerate().filter(|(at, _)| bases[*at].is_some()) {
            add(row, near(shares, &bases, at) + whole);
        }
    }
}

fn near(shares: &Shares, bases: &[Option<f64>], at: usize) -> f64 {
    let before = at.checked_sub(1).and_then(|at| bases[at]).unwrap_or(0.0);
    let after = bases.get(at + 1).copied().flatten().unwrap_or(0.0);
    shares.near * (before + after)
}

/// The mean of the largest `base + near` of a session; of all, where it has fewer.
fn best_mean(shares: &Shares, bases: &[Option<f64>]) -> f64 {
    let mut best = [f64::NEG_INFINITY; BEST_TURNS];
    let mut seen = 0;
    for (at, base) in bases.iter().enumerate().filter_map(|(at, base)| Some((at, (*base)?))) {
        insert_largest(&mut best, base + near(shares, bases, at));
        seen += 1;
    }
    let count = BEST_TURNS.min(seen);
    if count == 0 { 0.0 } else { best[..count].iter().sum::<f64>() / count as f64 }
}

/// Keeps the largest values, largest first.
fn insert_largest(best: &mut [f64; BEST_TURNS], value: f64) {
    let at = best.iter().position(|kept| value > *kept);
    if let Some(at) = at {
        best[at..].rotate_right(1);
        best[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(bases: &[Option<f64>], sessions: &[&[u32]]) -> Vec<f64> {
        let mut layout = TurnLayout::default();
        sessions.iter().for_each(|rows| layout.push_session(rows.iter().copied()));
        let mut sums = vec![0.0; bases.len()];
        add_context(&Shares::DEFAULT, &layout, |row| bases[row as usize], |row, sum| sums[row as usize] += sum);
        sums
    }

    #[test]
    fn neighbours_and_the_best_of_the_session_add() {
        let shares = Shares::DEFAULT;
        let sums = context(&[Some(1.0), Some(0.0), Some(2.0), Some(5.0)], &[&[0, 1, 2]]);
        let near = shares.near * 3.0;
        let whole = shares.session * ((2.0 + 1.0 + near) / 3.0);
        assert_eq!(sums, [whole, near + whole, whole, 0.0]);
    }

    #[test]
    fn only_the_three_best_turns_make_the_mean() {
        let sums = context(&[Some(1.0), Some(1.0), Some(1.0), Some(1.0), Some(-9.0)], &[&[0, 2, 1, 3, 4]]);
        let best = (1.0 + Shares::DEFAULT.near) + 2.0 * (1.0 + 2.0 * Shares::DEFAULT.near);
        let whole = Shares::DEFAULT.session * (best / 3.0);
        assert!((sums[4] - (Shares::DEFAULT.near + whole)).abs() < 1e-12);
    }

    #[test]
    fn a_masked_turn_lends_nothing_and_still_parts_its_neighbours() {
        let sums = context(&[Some(1.0), None, Some(2.0)], &[&[0, 1, 2]]);
        let whole = Shares::DEFAULT.session * 1.5;
        assert_eq!(sums, [whole, 0.0, whole]);
        assert_eq!(context(&[None, None], &[&[0, 1], &[]]), [0.0, 0.0]);
    }

    #[test]
    fn a_session_of_one_has_its_own_base_as_best() {
        assert_eq!(context(&[Some(-1.0)], &[&[0]]), [-Shares::DEFAULT.session]);
    }

    #[test]
    fn legs_add_up_in_the_order_written() {
        let legs = Legs { dense: 0.5, lexical: 0.25, scene: 1.0, time: 1.0, speaker: 1.0 };
        let shares = Shares::DEFAULT;
        assert_eq!(shares.direct(&legs), 0.2 + 0.25 + shares.scene + shares.time + shares.speaker);
        assert!((shares.turn_divisor() - 1.9).abs() < 1e-15);
    }
}
