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

/// What its neighbours and its session add to each turn: near + session, written to `context` by row number.
///
/// `bases` is by row number as well, not a number for a row that this query may not see: such a row lends nothing, keeps
/// its place between its neighbours, and is given nothing. Cost: linear in the turns.
pub(crate) fn add_context(shares: &Shares, layout: &TurnLayout, bases: &[f64], context: &mut [f64]) {
    let (mut session, mut near, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for rows in layout.sessions() {
        session.clear();
        session.extend(rows.iter().map(|row| bases.get(*row as usize).copied().unwrap_or(f64::NAN)));
        fill_near(shares, &session, &mut near);
        sums.clone_from(&near);
        let whole = shares.session * best_mean(&session, &mut sums);
        for ((row, base), near) in rows.iter().zip(&session).zip(&near) {
            if let Some(context) = context.get_mut(*row as usize) {
                *context = if base.is_nan() { 0.0 } else { near + whole };
            }
        }
    }
}

/// What the turns before and after lend to each.
fn fill_near(shares: &Shares, session: &[f64], near: &mut Vec<f64>) {
    let lent = |base: &f64| if base.is_nan() { 0.0 } else { *base };
    near.clear();
    near.resize(session.len(), 0.0);
    let Some(last) = session.len().checked_sub(1) else { return };
    near[1..].iter_mut().zip(&session[..last]).for_each(|(near, before)| *near = lent(before));
    near[..last].iter_mut().zip(&session[1..]).for_each(|(near, after)| *near += lent(after));
    near.iter_mut().for_each(|near| *near *= shares.near);
}

/// The mean of the largest `base + near` of a session; of all, where it has fewer. Uses up `near`.
fn best_mean(session: &[f64], near: &mut [f64]) -> f64 {
    near.iter_mut().zip(session).for_each(|(near, base)| {
        let sum = base + *near;
        *near = if sum.is_nan() { f64::NEG_INFINITY } else { sum };
    });
    let count = session.iter().filter(|base| !base.is_nan()).count().min(BEST_TURNS);
    let mut total = 0.0;
    for _ in 0..count {
        let most = largest(near);
        total += most;
        if let Some(taken) = near.iter_mut().find(|sum| **sum == most) {
            *taken = f64::NEG_INFINITY;
        }
    }
    if count == 0 { 0.0 } else { total / count as f64 }
}

fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<8>();
    let mut most = [f64::NEG_INFINITY; 8];
    for chunk in chunks {
        most.iter_mut().zip(chunk).for_each(|(most, value)| *most = larger(*most, *value));
    }
    most.iter_mut().zip(rest).for_each(|(most, value)| *most = larger(*most, *value));
    most.into_iter().fold(f64::NEG_INFINITY, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(bases: &[Option<f64>], sessions: &[&[u32]]) -> Vec<f64> {
        let mut layout = TurnLayout::default();
        sessions.iter().for_each(|rows| layout.push_session(rows.iter().copied()));
        let bases: Vec<f64> = bases.iter().map(|base| base.unwrap_or(f64::NAN)).collect();
        let mut sums = vec![0.0; bases.len()];
        add_context(&Shares::DEFAULT, &layout, &bases, &mut sums);
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
    fn the_best_of_a_long_session_are_found_wherever_they_stand() {
        for len in [3, 8, 9, 24, 25, 40] {
            for at in 0..len {
                let bases: Vec<f64> = (0..len).map(|i| f64::from(u8::from(i == at)) * 7.0 - i as f64 / 64.0).collect();
                let mut sums: Vec<f64> = bases.clone();
                sums.sort_by(|a, b| b.total_cmp(a));
                let mut near = vec![0.0; len];
                assert_eq!(best_mean(&bases, &mut near), sums[..3].iter().sum::<f64>() / 3.0, "{at} of {len}");
            }
        }
        assert_eq!(best_mean(&[f64::NAN, 2.0, f64::NAN], &mut [0.5; 3]), 2.5);
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
