//! Why a row is where it is: its own score, and how many rows beat it.

use super::arena::Arena;
use super::request::{Candidate, Request};
use super::scan::eligible;
use crate::error::Result;

impl Arena {
    /// The exact score of a row, whether or not it passes the gate and the filter; none without the row.
    ///
    /// # Errors
    ///
    /// As [`Arena::search`].
    pub(crate) fn score_row(&self, row: u32, request: &Request<'_>) -> Result<Option<Candidate>> {
        self.check_request(request)?;
        let Some(place) = self.place_of(row) else { return Ok(None) };
        let contradicted: Vec<_> = request.contradicted.iter().filter_map(|&row| self.place_of(row)).collect();
        self.score_place(request, &contradicted, place, &mut Vec::new()).map(Some)
    }

    /// Whether some leg says something about a row that passes the gate.
    pub(crate) fn is_eligible(&self, row: u32, request: &Request<'_>) -> bool {
        self.place_of(row).is_some_and(|(block, lane)| eligible(&self.blocks()[block], block, request).has(lane))
    }

    /// How many rows that pass beat this one, whatever `k` is; none without the row.
    ///
    /// # Errors
    ///
    /// As [`Arena::search`].
    pub(crate) fn rank(&self, row: u32, request: &Request<'_>) -> Result<Option<usize>> {
        let Some(own) = self.score_row(row, request)? else { return Ok(None) };
        let least = request.min_score.map_or(own.parts.score, |min| min.max(own.parts.score));
        let all = Request { k: usize::MAX, min_score: Some(least), ..*request };
        let better = self.search(&all)?.hits;
        Ok(Some(better.iter().take_while(|hit| hit.order(&own).is_lt()).count()))
    }
}
