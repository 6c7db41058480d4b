//! One pass over a block: sums, bounds, survivors.

use std::ops::Range;

use super::approximate::Aim;
use super::arena::Arena;
use super::bits::{BLOCK_ROWS, Bits};
use super::block::Block;
use super::hull::days_between;
use super::ivf::Entry;
use super::request::Request;
use super::search::Plan;
use super::sheet::Column;
use super::sketch::Sketch;
use super::top::{LowerBounds, SharedFloor};
use crate::kernel::{BOUND_LANES, BitQuery, BoundConsts, BoundRows};

/// Rounding of f32, with room: of sums of relevances, and of exponents per unit.
const ROUNDING: f64 = 1.0 / (1u64 << 21) as f64;
const ROW_SLACK: f64 = 1e-5;
const COS_SLACK: f32 = 2e-6;
/// With more slack than this a bound is worth nothing, and its rows are scored exactly.
const SLACK_MAX: f64 = 0.01;

/// Over every slack that a row's own bound may have.
const CEILING_SLACK: f64 = 1.05;
/// Keeps the product with a weight inside f32; no row comes near it.
const CEILING_MAX: f64 = (1u128 << 100) as f64;

/// Sketches that one search draws; it reads further blocks whole.
const DRAWN_MAX: usize = 64;

/// Lanes that are bounded first where there is no floor; then as many as were seen.
const FIRST_LANES: usize = 2 * BOUND_LANES;

static ZEROS: [f32; BLOCK_ROWS] = [0.0; BLOCK_ROWS];
static ONES: [f32; BLOCK_ROWS] = [1.0; BLOCK_ROWS];

/// Block and lane.
pub(super) type Place = (usize, usize);

/// A row that may be among the best.
#[derive(Debug, Clone, Copy)]
pub(super) struct Survivor {
    pub(super) up: f32,
    pub(super) block: u32,
    pub(super) lane: u32,
}

impl Survivor {
    fn new(up: f32, (block, lane): Place) -> Self {
        Self { up, block: block as u32, lane: lane as u32 }
    }

    pub(super) fn place(&self) -> Place {
        (self.block as usize, self.lane as usize)
    }
}

/// What a likely row had to reach to be looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hurdle {
    pub(super) place: Place,
    /// The floor, by its estimate.
    pub(super) floor: f32,
    /// What its list had to reach, where it was found in one.
    pub(super) entry: Option<Entry>,
}

/// One thread's part of a search.
pub(super) struct Worker<'a> {
    arena: &'a Arena,
    request: &'a Request<'a>,
    plan: &'a Plan,
    floor: &'a SharedFloor,
    lower: LowerBounds,
    pub(super) survivors: Vec<Survivor>,
    /// Of the rows that had one.
    pub(super) hurdles: Vec<Hurdle>,
    pub(super) scanned_rows: usize,
    /// Sketches that were drawn.
    pub(super) drawn: usize,
    largest_extra: f64,
    sums: [i32; BLOCK_ROWS],
    extra: [f32; BLOCK_ROWS],
    rate: [f32; BLOCK_ROWS],
    weight: [f32; BLOCK_ROWS],
    up: [f32; BLOCK_ROWS],
    down: [f32; BLOCK_ROWS],
}

impl<'a> Worker<'a> {
    pub(super) fn new(arena: &'a Arena, request: &'a Request<'a>, plan: &'a Plan, floor: &'a SharedFloor) -> Self {
        Self {
            arena,
            request,
            plan,
            floor,
            lower: LowerBounds::new(plan.proof_k),
            survivors: Vec::with_capacity(BLOCK_ROWS),
            hurdles: Vec::new(),
            scanned_rows: 0,
            drawn: 0,
            largest_extra: 0.0,
            sums: [0; BLOCK_ROWS],
            extra: [0.0; BLOCK_ROWS],
            rate: [0.0; BLOCK_ROWS],
            weight: [0.0; BLOCK_ROWS],
            up: [0.0; BLOCK_ROWS],
            down: [0.0; BLOCK_ROWS],
        }
    }

    /// Looks at the rows of a block that a hit could be among.
    pub(super) fn visit(&mut self, index: usize) {
        let block = &self.arena.blocks()[index];
        let eligible = eligible(block, index, self.request);
        if eligible.is_empty() {
            return;
        }
        self.scanned_rows += block.len();
        match (&self.plan.planes, self.request.legs.and_then(|legs| legs.sums(index))) {
            (Some(_), Some(sums)) => self.sums = *sums,
            (Some(planes), None) => self.arena.kernel().scan_i8(planes, block.rows(), &mut self.sums[..block.len()]),
            (None, _) => {}
        }
        // All rows pass where there is no floor, so that one is looked for in the first few.
        let first = if self.floor.get() > 0.0 { BLOCK_ROWS } else { FIRST_LANES };
        let (mut start, whole) = (0, block.len().next_multiple_of(BOUND_LANES));
        while start < whole {
            let lanes = start..(2 * start).max(first).min(whole);
            start = lanes.end;
            let marked = self.bound(block, Some(index), None, lanes).and(&eligible);
            let survivors = self.filtered(block, marked);
            self.halve_contradicted(index);
            self.keep(index, survivors);
        }
    }

    /// Looks at the rows of a block that are likely to be hits.
    pub(super) fn visit_likely(&mut self, index: usize, query: &BitQuery, aim: &Aim) {
        let block = &self.arena.blocks()[index];
        let is_drawn = block.has_sketch();
        if self.floor.get() <= 0.0 || (!is_drawn && self.drawn >= DRAWN_MAX) {
            return self.visit(index);
        }
        self.drawn += usize::from(!is_drawn);
        let eligible = eligible(block, index, self.request);
        if eligible.is_empty() {
            return;
        }
        self.scanned_rows += block.len();
        let marked = self.estimate(block, Some(index), query, aim).and(&eligible);
        let likely: Vec<_> = self.filtered(block, marked).iter().map(|lane| (lane, (index, lane))).collect();
        self.examine(block, &likely, None);
    }

    /// The same for a part of a list.
    pub(super) fn visit_part(&mut self, part: &Block, query: &BitQuery, aim: &Aim, entry: Entry) {
        let eligible = part.gated(self.request.gate).and(&part.with_vector());
        if eligible.is_empty() {
            return;
        }
        self.scanned_rows += part.len();
        let marked = self.estimate(part, None, query, aim).and(&eligible);
        let likely = self.filtered(part, marked).iter().filter_map(|lane| {
            let place = self.arena.place_of(part.facts[lane].row)?;
            Some((lane, place))
        });
        let likely: Vec<_> = likely.collect();
        self.examine(part, &likely, Some(entry));
    }

    /// The rows whose estimates come near the floor.
    fn estimate(&mut self, block: &Block, index: Option<usize>, query: &BitQuery, aim: &Aim) -> Bits {
        let sketch = block.sketch(self.arena.dims());
        self.arena.kernel().scan_bits(query, sketch.words(), &mut self.sums);
        let lanes = 0..block.len().next_multiple_of(BOUND_LANES);
        self.bound(block, index, Some((query, sketch, aim.reach(query))), lanes)
    }

    /// Bounds likely rows, given by lane and place, and keeps those that reach the floor.
    fn examine(&mut self, block: &Block, likely: &[(usize, Place)], entry: Option<Entry>) {
        let seen = self.floor.get();
        let Some(consts) = self.consts(block, self.largest_extra) else {
            return self.survivors.extend(likely.iter().map(|&(_, place)| Survivor::new(f32::INFINITY, place)));
        };
        for some in likely.chunks(BOUND_LANES) {
            let mut rows = Gathered::default();
            self.gather(block, some, &mut rows);
            let consts = BoundConsts { threshold: self.floor.get(), ..consts };
            let (mut up, mut down, mut marks) = ([0.0; BOUND_LANES], [0.0; BOUND_LANES], [0]);
            self.arena.kernel().bounds(&rows.as_rows(), &consts, &mut up, &mut down, &mut marks);
            for (i, &(_, place)) in some.iter().enumerate().filter(|(i, _)| marks[0] >> i & 1 == 1) {
                let halved = self.plan.contradicted.contains(&place);
                self.keep_row(Survivor::new(up[i], place), if halved { 0.5 * down[i] } else { down[i] });
                self.hurdles.push(Hurdle { place, floor: seen, entry });
            }
        }
    }

    /// Copies the columns of some rows and sums their bytes.
    fn gather(&mut self, block: &Block, some: &[(usize, Place)], rows: &mut Gathered) {
        let weight = weights(block, self.plan, &mut self.weight);
        let rate = rates(block, self.plan.grid.by_importance, &mut self.rate);
        let extra = if self.largest_extra > 0.0 { &self.extra } else { &ZEROS };
        let columns = [
            block.column(Column::Scale),
            block.column(Column::Err),
            weight,
            rate,
            block.column(Column::Ago),
            extra.as_slice(),
        ];
        for (to, from) in rows.columns.iter_mut().zip(columns) {
            to.iter_mut().zip(some).for_each(|(to, &(lane, _))| *to = from[lane]);
        }
        let Some(planes) = &self.plan.planes else { return };
        for (i, &(_, (at, lane))) in some.iter().enumerate() {
            let bytes = self.arena.blocks()[at].row_bytes(lane);
            self.arena.kernel().scan_i8(planes, bytes, &mut rows.sums[i..=i]);
        }
    }

    fn keep_row(&mut self, survivor: Survivor, down: f32) {
        if down > 0.0
            && let Some(kth) = self.lower.push(down)
        {
            self.floor.raise(kth);
        }
        if survivor.up >= self.floor.get() {
            self.survivors.push(survivor);
        }
    }

    fn filtered(&self, block: &Block, marked: Bits) -> Bits {
        match self.request.filter {
            Some(filter) => only(marked, |lane| filter(&block.facts[lane])),
            None => marked,
        }
    }

    /// Bounds rows from their sums and returns those that reach the floor; with a sketch, estimates them.
    fn bound(
        &mut self,
        block: &Block,
        index: Option<usize>,
        sketch: Option<(&BitQuery, &Sketch, f32)>,
        lanes: Range<usize>,
    ) -> Bits {
        self.largest_extra = self.fill_extra(block, index);
        let Some(mut consts) = self.consts(block, self.largest_extra) else {
            self.up[lanes.clone()].fill(f32::INFINITY);
            self.down[lanes.clone()].fill(0.0);
            return Bits::first(lanes.end.min(block.len())).without(&Bits::first(lanes.start));
        };
        let (mut scale, mut err) = (block.column(Column::Scale), block.column(Column::Err));
        if let Some((query, sketch, reach)) = sketch {
            (scale, err) = (sketch.factors(), sketch.spreads());
            consts = BoundConsts { query_scale: query.step(), query_norm: reach, err: 0.0, ..consts };
        }
        let rows = BoundRows {
            sums: &self.sums[lanes.clone()],
            scale: &scale[lanes.clone()],
            err: &err[lanes.clone()],
            weight: &weights(block, self.plan, &mut self.weight)[lanes.clone()],
            rate: &rates(block, self.plan.grid.by_importance, &mut self.rate)[lanes.clone()],
            ago: &block.column(Column::Ago)[lanes.clone()],
            extra: if self.largest_extra > 0.0 { &self.extra[lanes.clone()] } else { &ZEROS[lanes.clone()] },
        };
        let mut marks = [0; BLOCK_ROWS / BOUND_LANES];
        let groups = lanes.start / BOUND_LANES..lanes.end / BOUND_LANES;
        let (up, down) = (&mut self.up[lanes.clone()], &mut self.down[lanes]);
        self.arena.kernel().bounds(&rows, &consts, up, down, &mut marks[groups]);
        Bits::from_marks(&marks)
    }

    /// Writes what is added to each row's dense part; returns the largest magnitude, 0 for nothing.
    fn fill_extra(&mut self, block: &Block, index: Option<usize>) -> f64 {
        let values = self.request.legs.zip(index).and_then(|(legs, index)| legs.block(index));
        let pending = block.live().without(&block.with_vector());
        let undo = if self.plan.offset == 0.0 { Bits::default() } else { pending };
        if values.is_none() && undo.is_empty() {
            return 0.0;
        }
        let mut largest = f64::MIN_POSITIVE;
        match values {
            Some(values) => {
                self.extra.iter_mut().zip(values).for_each(|(extra, value)| *extra = *value as f32);
                largest = largest.max(self.request.legs.zip(index).map_or(0.0, |(legs, index)| legs.magnitude(index)));
            }
            None => self.extra.fill(0.0),
        }
        for lane in undo.iter() {
            let value = values.map_or(0.0, |values| values[lane]) - self.plan.offset;
            largest = f64::max(largest, value.abs());
            self.extra[lane] = value as f32;
        }
        largest
    }

    /// The constants of a block; none if f32 can't bound it.
    fn consts(&self, block: &Block, largest_extra: f64) -> Option<BoundConsts> {
        let plan = self.plan;
        let halvings = plan.grid.halvings;
        let since = days_between(block.base, plan.now);
        let cancels = since < 0.0 || block.ago_min < 0.0;
        sabotage!(12, let since = since + 3.0);
        let lost = if cancels { halvings * block.hull.rate_max(&plan.grid) * since.abs() } else { 0.0 };
        let slack = ROW_SLACK + ROUNDING * (plan.shift.abs() + lost);
        if slack.is_nan() || slack > SLACK_MAX || (halvings > 0.0 && block.hull.is_far(plan.now)) {
            return None;
        }
        let cos_max = plan.planes.as_ref().map_or(0.0, |p| f64::from(p.norm) * f64::from(block.norm_max)).max(1.0);
        let off = ROUNDING * (plan.offset.abs() + largest_extra + plan.gain * cos_max);
        let (query_scale, query_norm, err) = plan.planes.as_ref().map_or((0.0, 0.0, 0.0), |p| {
            (p.scale, p.planed_norm, p.err_norm * block.norm_max + COS_SLACK * cos_max as f32)
        });
        let retention = (block.hull.retention(&plan.grid, plan.now) - plan.shift).exp2();
        let ceiling = (plan.grid.floor + (1.0 - plan.grid.floor) * retention) * CEILING_SLACK;
        Some(BoundConsts {
            query_scale,
            query_norm,
            err,
            gain: plan.gain as f32,
            offset_up: (plan.offset + off) as f32,
            offset_down: (plan.offset - off) as f32,
            halvings: halvings as f32,
            since: since as f32,
            shift: plan.shift as f32,
            ceiling: ceiling.min(CEILING_MAX) as f32,
            floor: plan.grid.floor as f32,
            span: (1.0 - plan.grid.floor) as f32,
            slack: slack as f32,
            slack_per_exponent: ROUNDING as f32,
            threshold: self.floor.get(),
        })
    }

    fn halve_contradicted(&mut self, index: usize) {
        for &(_, lane) in self.plan.contradicted.iter().filter(|&&(block, _)| block == index) {
            self.down[lane] *= 0.5;
        }
    }

    /// Learns from the lower bounds, then keeps the rows that still reach the floor.
    fn keep(&mut self, index: usize, survivors: Bits) {
        let mut floor = self.floor.get();
        for lane in survivors.iter().filter(|&lane| self.down[lane] > 0.0) {
            if let Some(kth) = self.lower.push(self.down[lane]) {
                floor = floor.max(kth);
            }
        }
        self.floor.raise(floor);
        for lane in survivors.iter().filter(|&lane| self.up[lane] >= floor) {
            self.survivors.push(Survivor::new(self.up[lane], (index, lane)));
        }
    }
}

/// Rows of a block side by side, for the bound pass.
#[derive(Default)]
struct Gathered {
    sums: [i32; BOUND_LANES],
    columns: [[f32; BOUND_LANES]; 6],
}

impl Gathered {
    fn as_rows(&self) -> BoundRows<'_> {
        let [scale, err, weight, rate, ago, extra] = &self.columns;
        BoundRows { sums: &self.sums, scale, err, weight, rate, ago, extra }
    }
}

/// Rows that pass the gate and about which some leg says something.
pub(super) fn eligible(block: &Block, index: usize, request: &Request<'_>) -> Bits {
    let dense = if request.query.is_some() { block.with_vector() } else { Bits::default() };
    let others = request.legs.map_or_else(Bits::default, |legs| legs.nonzero(index));
    block.gated(request.gate).and(&dense.or(&others))
}

fn only(bits: Bits, keep: impl Fn(usize) -> bool) -> Bits {
    let mut kept = Bits::default();
    for lane in bits.iter() {
        kept.set(lane, keep(lane));
    }
    kept
}

/// The weights of a block's rows. The divisor of a turn's relevance is one more factor.
fn weights<'a>(block: &'a Block, plan: &Plan, buffer: &'a mut [f32; BLOCK_ROWS]) -> &'a [f32] {
    let lanes = block.len().next_multiple_of(BOUND_LANES);
    let plain = if plan.weighted { block.column(Column::Weight) } else { &ONES[..lanes] };
    if plan.z == 1.0 || block.turns().is_empty() {
        return plain;
    }
    let share = (1.0 / plan.z) as f32;
    let lowered = |plain: f32| plain * share;
    if block.turns().count() == block.len() {
        buffer.iter_mut().zip(&plain[..lanes]).for_each(|(to, from)| *to = lowered(*from));
    } else {
        buffer[..lanes].copy_from_slice(&plain[..lanes]);
        block.turns().iter().for_each(|lane| buffer[lane] = lowered(plain[lane]));
    }
    &buffer[..lanes]
}

fn rates<'a>(block: &'a Block, by_importance: bool, buffer: &'a mut [f32; BLOCK_ROWS]) -> &'a [f32] {
    let lanes = block.len().next_multiple_of(BOUND_LANES);
    let pinned = block.pinned().and(&block.live());
    if by_importance {
        return block.column(Column::Rate);
    }
    if pinned.is_empty() {
        return &ONES[..lanes];
    }
    for (lane, rate) in buffer.iter_mut().enumerate() {
        *rate = f32::from(u8::from(!pinned.has(lane)));
    }
    &buffer[..lanes]
}
