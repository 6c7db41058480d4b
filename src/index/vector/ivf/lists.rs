//! Rows in the list of their nearest centre: sketches, and all that bounds need.

use super::centroids::Centroids;
use super::sight::Sight;
use crate::index::vector::block::{Block, hull_row};
use crate::index::vector::facts::Facts;
use crate::index::vector::hull::Hull;
use crate::kernel::{Dispatch, PlanedQuery, RowScale, Slab};

/// Up to 256 rows of one list.
pub(super) struct Part {
    pub(super) list: usize,
    pub(super) block: Block,
}

/// What all rows near one centre have in common.
pub(super) struct List {
    pub(super) parts: Vec<usize>,
    /// Only rises, as the hull of a block.
    pub(super) hull: Hull,
    pub(super) norm_max: f32,
    rows: f64,
    dots: f64,
    squares: f64,
}

impl List {
    fn new() -> Self {
        Self { parts: Vec::new(), hull: Hull::new(0), norm_max: 0.0, rows: 0.0, dots: 0.0, squares: 0.0 }
    }

    /// How a query sees the list, given its dot product with the centre and its length.
    pub(super) fn sight(&self, dot: f32, norm: f32, dims: usize) -> Sight {
        let rows = self.rows.max(1.0);
        let along = self.dots / rows;
        let across = (self.squares / rows - along * along).max(0.0);
        let slant = (f64::from(dot) / f64::from(norm)).clamp(-1.0, 1.0);
        let spread = (across * (1.0 - slant * slant) / dims as f64).sqrt().max(SPREAD_MIN);
        Sight { centre: along * f64::from(dot), spread }
    }
}

/// Keeps quotients finite where all rows of a list are the same.
const SPREAD_MIN: f64 = 1e-4;

/// A row with what the lists keep of it.
pub(in crate::index::vector) struct Member<'a> {
    pub(in crate::index::vector) facts: Facts,
    pub(in crate::index::vector) bytes: &'a [u8],
    pub(in crate::index::vector) scale: RowScale,
}

/// All lists of one user.
pub(in crate::index::vector) struct Lists {
    kernel: Dispatch,
    dims: usize,
    centroids: Centroids,
    each: Vec<List>,
    parts: Vec<Part>,
}

impl Lists {
    pub(super) fn new(kernel: Dispatch, dims: usize, centroids: Centroids) -> Self {
        let each = (0..centroids.len()).map(|_| List::new()).collect();
        Self { kernel, dims, centroids, each, parts: Vec::new() }
    }

    pub(super) fn all(&self) -> &[List] {
        &self.each
    }

    pub(super) fn part(&self, at: usize) -> &Part {
        &self.parts[at]
    }

    /// The dot products of a query with all centres.
    pub(super) fn dots(&self, planes: &PlanedQuery) -> Vec<f32> {
        self.centroids.dots(planes)
    }

    fn planes(&self, member: &Member<'_>) -> PlanedQuery {
        let value = |&x: &u8| (f32::from(x) - 128.0) * member.scale.scale;
        let vector: Vec<f32> = member.bytes[..self.dims].iter().map(value).collect();
        self.kernel.quantise_query(&vector)
    }

    /// Puts a row that isn't there into the list of its nearest centre.
    pub(super) fn insert(&mut self, member: &Member<'_>) {
        let (at, dot) = self.centroids.nearest(&self.planes(member));
        let open = self.each[at].parts.last().copied().filter(|&part| !self.parts[part].block.is_full());
        let part = open.unwrap_or_else(|| self.open(at, member.facts.time));
        let block = &mut self.parts[part].block;
        block.push_outline(member.facts, member.bytes, member.scale, self.dims);
        let list = &mut self.each[at];
        if list.rows == 0.0 {
            list.hull = Hull::new(member.facts.time);
        }
        list.hull.raise(&hull_row(&member.facts));
        list.norm_max = list.norm_max.max(member.scale.norm);
        list.rows += 1.0;
        list.dots += f64::from(dot);
        list.squares += f64::from(member.scale.norm).powi(2);
    }

    fn open(&mut self, list: usize, base: i64) -> usize {
        let block = Block::new(self.kernel, 0, base, 0, &mut Slab::new(0));
        self.parts.push(Part { list, block });
        self.each[list].parts.push(self.parts.len() - 1);
        self.parts.len() - 1
    }

    /// Where a row is, given as it was put in.
    pub(super) fn find(&self, member: &Member<'_>) -> Option<(usize, usize)> {
        let (list, _) = self.centroids.nearest(&self.planes(member));
        self.each[list].parts.iter().find_map(|&part| {
            let block = &self.parts[part].block;
            block.live().iter().find(|&lane| block.facts[lane].row == member.facts.row).map(|lane| (part, lane))
        })
    }

    /// Takes a row out and wipes it.
    pub(super) fn remove(&mut self, (part, lane): (usize, usize)) {
        self.parts[part].block.remove(lane);
    }

    /// Replaces the facts of a row.
    pub(super) fn set_facts(&mut self, (part, lane): (usize, usize), facts: &Facts) {
        let Part { list, block } = &mut self.parts[part];
        block.set_facts(lane, facts);
        self.each[*list].hull.raise(&hull_row(facts));
    }

    pub(super) fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.block.memory()).sum();
        let lists: usize = self.each.iter().map(|list| list.parts.capacity() * size_of::<usize>()).sum();
        size_of::<Self>() + self.centroids.bytes() + parts + lists + self.each.capacity() * size_of::<List>()
    }

    /// The facts of all rows, each as often as it is there.
    #[cfg(test)]
    pub(super) fn facts(&self) -> Vec<Facts> {
        let facts = |part: &Part| part.block.live().iter().map(|lane| part.block.facts[lane]).collect::<Vec<_>>();
        self.parts.iter().flat_map(facts).collect()
    }
}
