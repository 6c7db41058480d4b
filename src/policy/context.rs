//! What goes into a prompt, within its budget.
//!
//! Core memories first, all that fit. Then the others by maximal marginal relevance (Carbonell, Goldstein 1998): the
//! next is the one with the most `0.7 * score / best score - 0.3 * likeness to what is in`. The block is measured
//! whole after each step, as it would be rendered, so no estimator can be outwitted by delimiters or joins.

use std::cmp::Ordering;

use crate::memory::{MemoryId, Timestamp, Visibility};

/// How much the score counts against likeness.
const RELEVANCE: f64 = 0.7;
/// From this likeness on, a memory says nothing that the other does not. By shared terms, on 1,000 labelled pairs of
/// look-alikes in Chinese: finds half of those that state one fact, and takes one in a hundred of the others for it.
const DUPLICATE_AT: f64 = 0.7;
/// A memory is cut rather than left out where at least so many characters, as people count them, stay.
pub(crate) const CUT_LENGTH_MIN: usize = 24;

/// What the choice depends on, of one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) id: MemoryId,
    /// Goes in before everything that was found.
    pub(crate) core: bool,
    pub(crate) visibility: Visibility,
    pub(crate) score: f64,
    pub(crate) at: Timestamp,
    /// Something speaks against it. It is shown beside its like.
    pub(crate) conflict: bool,
    /// Characters as people count them.
    pub(crate) length: usize,
}

/// A line of the block: which candidate, and how many of its characters stay, unless all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) candidate: usize,
    pub(crate) keep: Option<usize>,
}

/// The room there is, and how to measure.
pub(crate) struct Room<'a> {
    pub(crate) budget: usize,
    /// How much of what the first candidate says the second repeats, 0 to 1.
    pub(crate) likeness: &'a dyn Fn(usize, usize) -> f64,
    /// The tokens of the whole block with these lines, in this order.
    pub(crate) tokens: &'a dyn Fn(&[Line]) -> usize,
}

/// Why a memory is not in the block as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Omission {
    /// It did not fit.
    Budget,
    /// It is in the block, cut.
    Shortened,
    /// It says what this one says, which is in the block.
    Duplicate(MemoryId),
    /// It may never be shown.
    Withheld,
}

/// The lines in order, and what is not there as it is stored, by candidate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Choice {
    pub(crate) lines: Vec<Line>,
    pub(crate) left_out: Vec<(usize, Omission)>,
}

/// Chooses and orders. Deterministic, and never over the budget.
///
/// Cost: for n candidates n^2 likenesses and n measurements of the block, some more where one is cut.
pub(crate) fn choose(candidates: &[Candidate], room: &Room<'_>) -> Choice {
    let mut packer = Packer { candidates, room, choice: Choice::default(), used: 0 };
    let (core, mut found) = packer.admitted();
    for (at, candidate) in core.iter().enumerate() {
        packer.place(*candidate, core.len() - at + found.len() == 1);
    }
    let mut closest: Vec<(f64, Option<usize>)> = vec![(0.0, None); candidates.len()];
    let lines: Vec<usize> = packer.choice.lines.iter().map(|line| line.candidate).collect();
    lines.iter().for_each(|placed| packer.approach(*placed, &found, &mut closest));
    let best = found.iter().map(|c| candidates[*c].score).filter(|s| s.is_finite()).fold(0.0, f64::max);
    while let Some(at) = packer.next(&found, &closest, best) {
        let candidate = found.swap_remove(at);
        match closest[candidate] {
            (likeness, Some(of)) if likeness >= DUPLICATE_AT && !candidates[candidate].conflict => {
                packer.leave_out(candidate, Omission::Duplicate(candidates[of].id));
            }
            _ => {
                if packer.place(candidate, found.is_empty()) {
                    packer.approach(candidate, &found, &mut closest);
                }
            }
        }
    }
    packer.choice.left_out.sort_by_key(|(candidate, _)| *candidate);
    packer.choice
}

struct Packer<'a> {
    candidates: &'a [Candidate],
    room: &'a Room<'a>,
    choice: Choice,
    used: usize,
}

impl Packer<'_> {
    /// What may be shown: core memories in their order, and the others. Each id once.
    fn admitted(&mut self) -> (Vec<usize>, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|a, b| self.compare(*a, *b));
        let mut seen = std::collections::HashSet::new();
        let (mut core, mut found) = (Vec::new(), Vec::new());
        for at in order {
            let candidate = self.candidates[at];
            if candidate.visibility == Visibility::Withhold {
                self.leave_out(at, Omission::Withheld);
            } else if !seen.insert(candidate.id) {
                self.leave_out(at, Omission::Duplicate(candidate.id));
            } else if candidate.core {
                core.push(at);
            } else {
                found.push(at);
            }
        }
        (core, found)
    }

    /// Core first, then strongest, then newest, then by id.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (x, y) = (&self.candidates[a], &self.candidates[b]);
        let strongest = y.score.total_cmp(&x.score).then(y.at.cmp(&x.at));
        y.core.cmp(&x.core).then(strongest).then(x.id.cmp(&y.id)).then(a.cmp(&b))
    }

    fn leave_out(&mut self, candidate: usize, why: Omission) {
        self.choice.left_out.push((candidate, why));
    }

    /// The position in `found` of the best next one.
    fn next(&self, found: &[usize], closest: &[(f64, Option<usize>)], best: f64) -> Option<usize> {
        let value = |candidate: usize| {
            let score = self.candidates[candidate].score;
            let relevance = if best > 0.0 && score.is_finite() { score.max(0.0) / best } else { 0.0 };
            RELEVANCE * relevance - (1.0 - RELEVANCE) * closest[candidate].0
        };
        let better = |a: usize, b: usize| value(b).total_cmp(&value(a)).then_with(|| self.compare(a, b));
        (0..found.len()).min_by(|a, b| better(found[*a], found[*b]))
    }

    /// Notes for each that is still out how close it comes to what was placed.
    fn approach(&self, placed: usize, found: &[usize], closest: &mut [(f64, Option<usize>)]) {
        for other in found {
            let likeness = (self.room.likeness)(*other, placed);
            if likeness > closest[*other].0 {
                closest[*other] = (likeness, Some(placed));
            }
        }
    }

    /// Puts a line in where it belongs, whole or cut, unless it does not fit.
    fn place(&mut self, candidate: usize, is_last: bool) -> bool {
        if self.put(Line { candidate, keep: None }, self.room.budget) {
            return true;
        }
        let is_giant = self.used <= self.room.budget / 2;
        let left = self.room.budget - self.used.min(self.room.budget);
        // One giant must not push out everything that comes after.
        let limit = if is_last { self.room.budget } else { self.used + left.div_ceil(2) };
        if is_giant && self.put_cut(candidate, limit) {
            self.leave_out(candidate, Omission::Shortened);
            return true;
        }
        self.leave_out(candidate, Omission::Budget);
        false
    }

    fn put(&mut self, line: Line, limit: usize) -> bool {
        let lines = self.with(line);
        let tokens = (self.room.tokens)(&lines);
        let fits = tokens <= limit;
        if fits {
            (self.choice.lines, self.used) = (lines, tokens);
        }
        fits
    }

    /// The longest cut within the limit that bisection finds.
    fn put_cut(&mut self, candidate: usize, limit: usize) -> bool {
        let (mut fitting, mut too_long) = (CUT_LENGTH_MIN - 1, self.candidates[candidate].length);
        while fitting + 1 < too_long {
            let middle = usize::midpoint(fitting, too_long);
            let lines = self.with(Line { candidate, keep: Some(middle) });
            if (self.room.tokens)(&lines) <= limit { fitting = middle } else { too_long = middle }
        }
        fitting >= CUT_LENGTH_MIN && self.put(Line { candidate, keep: Some(fitting) }, limit)
    }

    fn with(&self, line: Line) -> Vec<Line> {
        let before = |other: &Line| self.compare(other.candidate, line.candidate) == Ordering::Less;
        let mut lines = self.choice.lines.clone();
        lines.insert(lines.partition_point(before), line);
        lines
    }
}
