//! Lists on their way, and what happens to rows meanwhile.

use super::centroids::{Centroids, Groups, Sampled};
use super::lists::{Lists, Member};
#[cfg(test)]
use crate::index::vector::facts::Facts;
use crate::index::vector::law::{Law, Moments};

/// How far lists have come; [`Growth::step`] goes on.
pub(in crate::index::vector) enum Growth {
    /// Centres are moved to the middle of their rows.
    Training { sample: Vec<Sampled>, centroids: Centroids, groups: Groups, rounds: usize },
    /// Rows are put into lists; `rows` are still to come, the next one last.
    Filling { rows: Vec<u32>, lists: Lists },
    /// Hits are looked for, to learn how far they lie from their centres.
    Weighing { lists: Lists, asked: usize, shortfalls: Vec<f64> },
    /// Done. The law says how much nearer than their centres hits are.
    Ready(Ready),
    /// There is nothing to learn from.
    Useless,
}

/// Lists that can be searched.
pub(in crate::index::vector) struct Ready {
    pub(super) lists: Lists,
    pub(super) law: Law,
    /// What the law was made of, apart from real questions.
    pub(super) sampled: Moments,
    /// Rows there were, and rows that came, went or moved since.
    pub(super) rows: usize,
    pub(super) changed: usize,
}

impl Ready {
    /// Whether so much has changed that the centres are of the past.
    pub(super) fn is_stale(&self) -> bool {
        2 * self.changed > self.rows
    }
}

impl Growth {
    fn lists_mut(&mut self) -> Option<&mut Lists> {
        match self {
            Self::Filling { lists, .. } | Self::Weighing { lists, .. } => Some(lists),
            Self::Ready(ready) => Some(&mut ready.lists),
            Self::Training { .. } | Self::Useless => None,
        }
    }

    fn count_change(&mut self) {
        if let Self::Ready(ready) = self {
            ready.changed += 1;
        }
    }

    /// Learns of a new row with a vector, or of the new vector of a row that was [forgotten](Self::forget).
    pub(in crate::index::vector) fn add(&mut self, member: &Member<'_>) {
        if let Some(lists) = self.lists_mut() {
            lists.insert(member);
        }
        self.count_change();
    }

    /// Forgets a row, given as it was.
    pub(in crate::index::vector) fn forget(&mut self, member: &Member<'_>) {
        if let Some(lists) = self.lists_mut()
            && let Some(place) = lists.find(member)
        {
            lists.remove(place);
        }
        if let Self::Filling { rows, .. } = self {
            rows.retain(|&row| row != member.facts.row);
        }
        self.count_change();
    }

    /// Learns of the new facts of a row.
    pub(in crate::index::vector) fn change(&mut self, member: &Member<'_>) {
        if let Some(lists) = self.lists_mut()
            && let Some(place) = lists.find(member)
        {
            lists.set_facts(place, &member.facts);
        }
    }

    /// Whether a step would change nothing.
    pub(in crate::index::vector) fn is_done(&self) -> bool {
        match self {
            Self::Ready(ready) => !ready.is_stale(),
            Self::Useless => true,
            _ => false,
        }
    }

    /// Whether it holds a copy of a row that can't be taken out.
    pub(in crate::index::vector) fn has_sampled(&self, row: u32) -> bool {
        matches!(self, Self::Training { sample, .. } if sample.iter().any(|one| one.row == row))
    }

    pub(in crate::index::vector) fn bytes(&self) -> usize {
        match self {
            Self::Training { sample, centroids, .. } => {
                sample.iter().map(Sampled::bytes).sum::<usize>() + centroids.bytes()
            }
            Self::Filling { rows, lists } => rows.capacity() * size_of::<u32>() + lists.bytes(),
            Self::Weighing { lists, shortfalls, .. } => lists.bytes() + shortfalls.capacity() * size_of::<f64>(),
            Self::Ready(ready) => ready.lists.bytes(),
            Self::Useless => 0,
        }
    }

    /// Rows in lists and rows to come, each as often as it is there, with the facts of those in lists; none
    /// while there are no lists.
    #[cfg(test)]
    pub(in crate::index::vector) fn rows(&self) -> Option<(Vec<Facts>, Vec<u32>)> {
        match self {
            Self::Filling { rows, lists } => Some((lists.facts(), rows.clone())),
            Self::Weighing { lists, .. } => Some((lists.facts(), Vec::new())),
            Self::Ready(ready) => Some((ready.lists.facts(), Vec::new())),
            Self::Training { .. } | Self::Useless => None,
        }
    }

    #[cfg(test)]
    pub(in crate::index::vector) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }
}
