//! How high weight times decay can be in a block, for any rate and any clock.
//!
//! h(lambda) = max over rows of (log2 weight - lambda2 * c * (tmax - t)) is convex in lambda, so the chord
//! between two grid points bounds it.

use std::f64::consts::LOG2_E;

use crate::policy::score::{DAY_MICROS, Decay};

const GRID: [f64; 9] = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
/// Beyond this, differences of times saturate and the shift of a bound would not hold.
const TIME_FAR: u64 = 1 << 61;
/// Keeps rate times days finite; no memory survives a microsecond of it anyway.
const HALVINGS_MAX: f64 = 1e30;

/// A decay as the bounds use it: a place on the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridDecay {
    cell: usize,
    part: f64,
    pub(super) halvings: f64,
    pub(super) floor: f64,
    pub(super) by_importance: bool,
    weighted: bool,
}

impl GridDecay {
    pub(super) fn new(decay: &Decay, weighted: bool) -> Self {
        let lambda = decay.lambda();
        let last = GRID.len() - 2;
        let cell = GRID.iter().rposition(|&g| g <= lambda).unwrap_or(0).min(last);
        let part = ((lambda - GRID[cell]) / (GRID[cell + 1] - GRID[cell])).min(1.0);
        let halvings = (lambda * LOG2_E).min(HALVINGS_MAX);
        Self { cell, part, halvings, floor: decay.floor(), by_importance: decay.is_by_importance(), weighted }
    }
}

/// log2 of the largest weight of a block, and of its largest weight times decay.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogBound {
    pub(super) weight: f64,
    pub(super) decayed: f64,
}

/// One row as a hull sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct HullRow {
    pub(super) time: i64,
    pub(super) weight: f64,
    pub(super) importance_rate: f64,
    pub(super) pinned: bool,
}

#[derive(Debug, Clone, Copy)]
struct Curve {
    heights: [f64; GRID.len()],
    rate_min: f64,
    rate_max: f64,
}

impl Curve {
    const EMPTY: Self = Self { heights: [f64::NEG_INFINITY; GRID.len()], rate_min: f64::INFINITY, rate_max: 0.0 };

    fn move_newest(&mut self, days: f64) {
        if self.rate_min.is_finite() {
            for (height, lambda) in self.heights.iter_mut().zip(GRID) {
                *height -= lambda * LOG2_E * self.rate_min * days;
            }
        }
    }

    fn raise(&mut self, log_weight: f64, rate: f64, days: f64) {
        for (height, lambda) in self.heights.iter_mut().zip(GRID) {
            *height = height.max(log_weight - lambda * LOG2_E * rate * days);
        }
        self.rate_min = self.rate_min.min(rate);
        self.rate_max = self.rate_max.max(rate);
    }

    fn at(&self, g: &GridDecay) -> f64 {
        let (left, right) = (self.heights[g.cell], self.heights[g.cell + 1]);
        left + (right - left) * g.part
    }
}

/// The hull of a block; it only rises until the block is rewritten.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hull {
    plain: Curve,
    by_importance: Curve,
    newest: i64,
    far: bool,
}

impl Hull {
    pub(super) fn new(newest: i64) -> Self {
        Self { plain: Curve::EMPTY, by_importance: Curve::EMPTY, newest, far: newest.unsigned_abs() > TIME_FAR }
    }

    /// Whether some time is too far out for arithmetic on differences.
    pub(super) fn is_far(&self, now: i64) -> bool {
        self.far || now.unsigned_abs() > TIME_FAR
    }

    pub(super) fn raise(&mut self, row: &HullRow) {
        self.far |= row.time.unsigned_abs() > TIME_FAR;
        if row.time > self.newest {
            let days = days_between(self.newest, row.time);
            self.plain.move_newest(days);
            self.by_importance.move_newest(days);
            self.newest = row.time;
        }
        let (log_weight, days) = (row.weight.log2(), days_between(row.time, self.newest));
        let rate = |rate: f64| if row.pinned { 0.0 } else { rate };
        self.plain.raise(log_weight, rate(1.0), days);
        self.by_importance.raise(log_weight, rate(row.importance_rate), days);
    }

    fn curve(&self, g: &GridDecay) -> &Curve {
        if g.by_importance { &self.by_importance } else { &self.plain }
    }

    /// The fastest rate in the block.
    pub(super) fn rate_max(&self, g: &GridDecay) -> f64 {
        self.curve(g).rate_max
    }

    /// log2 of the largest retention, apart from the floor.
    pub(super) fn retention(&self, g: &GridDecay, now: i64) -> f64 {
        -g.halvings * self.curve(g).rate_min * days_between(self.newest, now).max(0.0)
    }

    /// The time since the newest row is not cut off at 0: rows do that, a block must not.
    pub(super) fn bound(&self, g: &GridDecay, now: i64) -> LogBound {
        let curve = self.curve(g);
        let weight = if g.weighted { curve.heights[0] } else { 0.0 };
        if self.is_far(now) || g.halvings == 0.0 {
            return LogBound { weight, decayed: weight };
        }
        let height = if g.weighted { curve.at(g) } else { 0.0 };
        let rate = if now >= self.newest { curve.rate_min } else { curve.rate_max };
        let shift = g.halvings * rate * days_between(now, self.newest);
        LogBound { weight, decayed: weight.min(height + shift) }
    }
}

/// Days from `from` to `to`, negative when `to` is earlier.
pub(super) fn days_between(from: i64, to: i64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64 / DAY_MICROS
}
