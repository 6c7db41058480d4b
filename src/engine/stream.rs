//! Users whose index is larger than the whole budget: searched block by block, and let go of again.

use crate::codec::UserHash;
use crate::engine::bind::Bound;
use crate::engine::core::Core;
use crate::engine::full_vectors::Vectors;
use crate::engine::head::Head;
use crate::engine::load::Loader;
use crate::engine::rank::Sources;
use crate::engine::recall::{EmptyReason, Ranking};
use crate::error::Result;
use crate::kernel::padded;
use crate::storage::ReadView;

/// Bytes of a row beside its quantised vector.
const ROW_BYTES: usize = 160;
const BLOCK_ROWS: usize = 256;

impl Core {
    /// Whether a user's index would not fit the budget at all.
    pub(crate) fn is_oversized(&self, head: &Head) -> bool {
        let rows = head.facts.live as usize;
        rows.saturating_mul(self.row_bytes()) > self.cache.budget_bytes() && rows > BLOCK_ROWS
    }

    /// About how many bytes a row has in a block.
    pub(crate) fn row_bytes(&self) -> usize {
        ROW_BYTES + self.spaces.read().current().map_or(0, |(_, space)| padded(space.dims()))
    }

    /// The ranking of a vector query over such a user, at half the budget of memory.
    pub(crate) fn rank_streamed(&self, user: UserHash, bound: &Bound<'_>) -> Result<Option<Ranking>> {
        self.consistent(user, |head, view| self.rank_parts(head, view, bound))
    }

    fn rank_parts(&self, head: &Head, view: &ReadView, bound: &Bound<'_>) -> Result<Ranking> {
        let space = self.spaces.read().current().map(|(number, space)| (number, space.clone()));
        let step = (self.cache.budget_bytes() / 2 / (BLOCK_ROWS * self.row_bytes())).max(1) as u64;
        let mut loader = Loader::new(self, view, head);
        let mut plain = loader.open_all(space.as_ref().map(|(number, _)| *number))?;
        let mut best = Ranking::empty(EmptyReason::NothingStored);
        // The tail goes with the first blocks.
        for first in (0..=u64::from(head.facts.closed_blocks)).step_by(step as usize) {
            loader.open_blocks(&mut plain, first..first + step)?;
            let mut index = loader.build(&plain, space.as_ref().map(|(number, space)| (*number, space)))?;
            index.damaged.clone_from(&loader.damaged);
            let vectors = Vectors::new(self, head, &index.full, index.space);
            merge(&mut best, index.rank(bound, &Sources { vectors, words: None })?, bound.ask.limit);
            plain.blocks.clear();
            plain.tail.clear();
        }
        loader.check_sum()?;
        best.damaged = loader.damaged;
        Ok(best)
    }
}

/// Takes over what a further part of the user gave.
fn merge(best: &mut Ranking, part: Ranking, limit: usize) {
    best.hits.extend(part.hits);
    best.hits.sort_by(|a, b| a.candidate.order(&b.candidate));
    best.hits.truncate(limit);
    // The gate that came furthest is the one that kept the last memory out.
    best.reason = if best.hits.is_empty() { best.reason.max(part.reason) } else { None };
    (best.version, best.scorer, best.calibration) = (part.version, part.scorer, part.calibration);
    best.scanned_rows += part.scanned_rows;
    best.reranked_rows += part.reranked_rows;
    best.total_rows += part.total_rows;
}
