//! An approximate search by lists, where they are fewer rows than all blocks.

use super::growth::Ready;
use super::sight::{Entry, Sight};
use crate::index::vector::approximate::{Aim, Found};
use crate::index::vector::arena::Arena;
use crate::index::vector::hull::Hull;
use crate::index::vector::request::Request;
use crate::index::vector::scan::Worker;
use crate::index::vector::search::Plan;
use crate::index::vector::top::SharedFloor;
use crate::kernel::BitQuery;

/// Lists that cost as much to look up as one block to look through.
const LISTS_A_BLOCK: usize = 8;

/// A part of a list that may hold hits.
struct Likely {
    bound: f64,
    part: usize,
    factor: f64,
    sight: Sight,
}

impl Ready {
    /// Looks through the parts of lists that are likely to hold hits over the floor; none where the `blocks`
    /// that are left are less work.
    pub(in crate::index::vector) fn search(
        &self,
        arena: &Arena,
        request: &Request<'_>,
        plan: &Plan,
        floor: &SharedFloor,
        (aim, query): (&Aim, &BitQuery),
        blocks: usize,
    ) -> Option<Found> {
        let lookup = self.lists.all().len() / LISTS_A_BLOCK;
        if blocks <= lookup {
            return None;
        }
        let margin = self.law.wide_margin(aim.target, aim.wider);
        let parts = self.likely(arena, plan, query, (f64::from(floor.get()), margin), blocks - lookup)?;
        let mut worker = Worker::new(arena, request, plan, floor);
        for likely in parts {
            let least = f64::from(floor.get());
            if likely.bound < least {
                break;
            }
            let entry = entry(&likely, plan, least, margin);
            worker.visit_part(&self.lists.part(likely.part).block, query, aim, entry);
        }
        Some(Found::by_lists(worker, self.law, margin))
    }

    /// The parts to look through, the most promising first; none if they are as many as `most`.
    fn likely(
        &self,
        arena: &Arena,
        plan: &Plan,
        query: &BitQuery,
        (least, margin): (f64, f64),
        most: usize,
    ) -> Option<Vec<Likely>> {
        let planes = plan.planes.as_ref()?;
        let mut parts = Vec::new();
        for (list, dot) in self.lists.all().iter().zip(self.lists.dots(planes)) {
            let sight = list.sight(dot, query.norm(), arena.dims());
            let dot = sight.reach(margin).min(f64::from(query.norm() * list.norm_max));
            let relevance = (dot * plan.gain + plan.offset).max(0.0);
            if relevance * plan.factor_max < least {
                continue;
            }
            let factor = |hull: &Hull| plan.factor(&hull.bound(&plan.grid, plan.now));
            if relevance * factor(&list.hull) < least {
                continue;
            }
            let part = |&part: &usize| {
                let factor = factor(&self.lists.part(part).block.hull);
                Likely { bound: relevance * factor, part, factor, sight }
            };
            parts.extend(list.parts.iter().map(part).filter(|likely| likely.bound >= least));
            if parts.len() >= most {
                return None;
            }
        }
        parts.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then(a.part.cmp(&b.part)));
        Some(parts)
    }
}

/// What a part must reach for this floor.
fn entry(likely: &Likely, plan: &Plan, least: f64, margin: f64) -> Entry {
    likely.sight.entry((least / likely.factor - plan.offset) / plan.gain, margin)
}
