use crate::engine::{Filter, Listing, Statuses};
use crate::error::{Error, Result};
use crate::memory::{Memory, Sensitivity, StatusKind, UserId};

const LIMIT_DEFAULT: usize = 100;

/// What to list. Every setter states its default.
#[derive(Debug, Clone)]
pub struct ListOptions {
    after: Option<Cursor>,
    limit: usize,
    filter: Option<Filter>,
    statuses: Option<Vec<StatusKind>>,
}

/// Where a page ended. Valid for as long as the user lives, whatever changes in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub(crate) u32);

impl Cursor {
    /// The cursor as a number, for keeping.
    pub fn to_number(self) -> u32 {
        self.0
    }

    /// The cursor that was kept.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// A page of memories.
#[derive(Debug, Clone)]
pub struct MemoryPage {
    /// In the order in which they were stored.
    pub memories: Vec<Memory>,
    /// How many there are on all pages.
    pub total: usize,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Cursor>,
    /// Damaged values, by name: where there are any, a memory may be missing.
    pub damaged: Vec<String>,
}

/// Where a page of users ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCursor(pub(crate) [u8; 17]);

/// A page of users.
#[derive(Debug, Clone)]
pub struct UserPage {
    /// In an order that tells nothing.
    pub users: Vec<UserId>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<UserCursor>,
}

impl ListOptions {
    /// All states, from the first memory on, 100 to a page.
    pub fn new() -> Self {
        Self { after: None, limit: LIMIT_DEFAULT, filter: None, statuses: None }
    }

    /// Begins where a page ended. Default: at the first memory.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// At most this many to a page, at least 1. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// What a memory must be. Default: anything.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The states that a memory may have. Default: all.
    pub fn statuses(mut self, statuses: impl IntoIterator<Item = StatusKind>) -> Self {
        self.statuses = Some(statuses.into_iter().collect());
        self
    }

    pub(crate) fn listing(&self, level: Sensitivity) -> Result<Listing> {
        if self.limit == 0 {
            return Err(Error::invalid("limit: must be at least 1"));
        }
        if self.statuses.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("statuses: an empty list"));
        }
        Ok(Listing {
            level,
            statuses: self.statuses.as_ref().map_or(Statuses::ALL, |kinds| Statuses::of(kinds.iter().copied())),
            filter: self.filter.clone(),
            from_row: self.after.map_or(0, |cursor| cursor.0),
            limit: self.limit,
        })
    }
}

impl Default for ListOptions {
    fn default() -> Self {
        Self::new()
    }
}
