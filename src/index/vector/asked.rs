//! Questions that were answered exactly, to learn from what users really ask.

use super::arena::Arena;
use crate::kernel::PlanedQuery;

/// Questions that are kept.
const ASKED_MAX: usize = 64;

/// A question and its true hits.
pub(super) struct Asked {
    pub(super) query: Vec<f32>,
    hits: Vec<u32>,
}

/// The last questions of that kind.
#[derive(Default)]
pub(super) struct AskedBefore(Vec<Asked>);

impl AskedBefore {
    pub(super) fn push(&mut self, query: &[f32], hits: Vec<u32>) {
        if self.0.len() >= ASKED_MAX {
            self.0.remove(0);
        }
        self.0.push(Asked { query: query.to_vec(), hits });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let each = |asked: &Asked| (asked.query.capacity() + asked.hits.capacity()) * size_of::<u32>();
        self.0.capacity() * size_of::<Asked>() + self.0.iter().map(each).sum::<usize>()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Asked> {
        self.0.iter()
    }

    /// By how many spreads the cosines of hits were over their estimates.
    pub(super) fn estimates(&self, arena: &Arena) -> Vec<f64> {
        let shortfall = |asked: &Asked, (block, lane): (usize, usize)| {
            let all = arena.shortfalls(&arena.blocks()[block], &asked.query);
            all.iter().find(|(at, ..)| *at == lane).map(|&(.., shortfall)| f64::from(shortfall))
        };
        let each = |asked| asked_places(arena, asked).filter_map(move |place| shortfall(asked, place));
        self.0.iter().flat_map(each).collect()
    }
}

/// Where the hits are now, those that are left.
fn asked_places<'a>(arena: &'a Arena, asked: &'a Asked) -> impl Iterator<Item = (usize, usize)> + 'a {
    asked.hits.iter().filter_map(|&row| arena.place_of(row))
}

impl Asked {
    /// The query in planes, and the hits with their dot products.
    pub(super) fn hits<'a>(
        &'a self,
        arena: &'a Arena,
    ) -> (PlanedQuery, impl Iterator<Item = (f32, usize, usize)> + 'a) {
        let planes = arena.kernel().quantise_query(&self.query);
        let again = planes.clone();
        let hit = move |(block, lane): (usize, usize)| {
            let mut sum = [0];
            let at = &arena.blocks()[block];
            arena.kernel().scan_i8(&again, at.row_bytes(lane), &mut sum);
            (sum[0] as f32 * again.scale * at.scale(lane), block, lane)
        };
        (planes, asked_places(arena, self).map(hit))
    }
}
