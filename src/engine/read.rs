//! Reading without ranking: one memory, pages of them, their history, their owners.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::codec::head::{SlotRef, UserFacts};
use crate::codec::log_entry::LogEntry;
use crate::codec::table::number_of;
use crate::codec::{Table, UserHash, record};
use crate::engine::core::Core;
use crate::engine::head::{Head, head_place, log_chunk};
use crate::engine::recall::{ATTEMPTS, Statuses};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Filter;
use crate::index::vector::Facts;
use crate::memory::{Memory, MemoryId, Sensitivity, StatusKind, Timestamp, UserId, Verb, space_code};
use crate::seal::Standing;
use crate::storage::ReadView;

/// A page of memories in the order in which they were stored.
pub(crate) struct Page {
    pub(crate) memories: Vec<Memory>,
    pub(crate) total: usize,
    pub(crate) next: Option<u32>,
    pub(crate) damaged: Vec<String>,
}

/// Memories, and what is said of those that only a newer version can read.
type KnownRecords = (Vec<Memory>, Vec<String>);

/// What to list.
pub(crate) struct Listing {
    pub(crate) level: Sensitivity,
    pub(crate) statuses: Statuses,
    pub(crate) filter: Option<Filter>,
    pub(crate) from_row: u32,
    pub(crate) limit: usize,
}

/// One change of a memory.
#[derive(Debug, Clone)]
pub struct Change {
    /// What was done.
    pub verb: Verb,
    /// When.
    pub at: Timestamp,
    /// The memory as it was before, where the change kept it.
    pub before: Option<Memory>,
}

/// Counts of one user's memories, as far as the caller's level reaches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserStats {
    /// Memories by state.
    pub by_status: BTreeMap<StatusKind, usize>,
    /// Memories that no embedder of the store's model has answered for: they can't be found by meaning yet.
    pub pending: usize,
    /// Memories that the store's model has no vector for, such as those in a language that it does not have.
    pub without_vector: usize,
    /// Bytes of the index in memory.
    pub index_bytes: usize,
    /// Whether the taking of memories is paused.
    pub paused: bool,
    /// Values that are damaged, by name.
    pub damaged: Vec<String>,
}

impl Core {
    pub(crate) fn get(&self, user: &UserId, id: MemoryId, level: Sensitivity) -> Result<Memory> {
        self.check_open()?;
        let hash = self.user_hash(user);
        for _ in 0..ATTEMPTS {
            let (place, version) = self.place_of(hash, id, level)?;
            if let Some(memory) = self.page_records(hash, version, &[place])?.and_then(|mut found| found.pop()) {
                return Ok(memory);
            }
            self.wait_for_commit(hash);
        }
        Err(Error::busy("get: the memory changed faster than it could be read; try again"))
    }

    /// Row and version of a memory that may be seen at this level, and the commit that the index follows.
    fn place_of(&self, user: UserHash, id: MemoryId, level: Sensitivity) -> Result<((u32, u32), u64)> {
        let place = self.with_index(user, |_, index| {
            let facts = index.facts_of_id(id)?.filter(|facts| facts.sensitivity <= level.code());
            Ok(facts.map(|facts| ((facts.row, facts.version), index.version)))
        })?;
        place.flatten().ok_or_else(|| Error::not_found(format!("id {id}: no such memory")))
    }

    /// A page of memories, counted.
    pub(crate) fn list(&self, user: &UserId, listing: &Listing) -> Result<Page> {
        self.check_open()?;
        let hash = self.user_hash(user);
        for _ in 0..ATTEMPTS {
            let picked = self.with_index(hash, |_, index| {
                if let Some(filter) = &listing.filter {
                    filter.check(&index.schema, listing.level)?;
                }
                let passes = |f: &&Facts| {
                    f.sensitivity <= listing.level.code()
                        && listing.statuses.holds(f.status)
                        && listing.filter.as_ref().is_none_or(|filter| filter.passes(f, index.attributes(f.row)))
                };
                let mut rows: Vec<(u32, u32)> = index.arena.iter().filter(passes).map(|f| (f.row, f.version)).collect();
                rows.sort_unstable();
                Ok((rows, index.damaged.clone(), index.version))
            })?;
            let Some((rows, damaged, version)) = picked else {
                return Ok(Page { memories: Vec::new(), total: 0, next: None, damaged: Vec::new() });
            };
            let total = rows.len();
            let mut rest = rows.into_iter().filter(|(row, _)| *row >= listing.from_row);
            let page: Vec<(u32, u32)> = rest.by_ref().take(listing.limit).collect();
            let next = rest.next().map(|(row, _)| row);
            if let Some((memories, newer)) = self.known_records(hash, version, &page)? {
                let damaged = damaged.into_iter().chain(newer).collect();
                return Ok(Page { memories, total, next, damaged });
            }
            self.wait_for_commit(hash);
        }
        Err(Error::busy("list: the user's memories changed faster than they could be read; try again"))
    }

    /// The records that this version can read, and what is said of the others; `None` where the shard is ahead.
    fn known_records(&self, user: UserHash, as_of: u64, page: &[(u32, u32)]) -> Result<Option<KnownRecords>> {
        match self.page_records(user, as_of, page) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            other => return Ok(other?.map(|memories| (memories, Vec::new()))),
        }
        let (mut known, mut newer) = (Vec::with_capacity(page.len()), Vec::new());
        for place in page {
            match self.page_records(user, as_of, &[*place]) {
                Ok(Some(memories)) => known.extend(memories),
                Ok(None) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Unsupported => newer.push(error.message().to_owned()),
                Err(error) => return Err(error),
            }
        }
        Ok(Some((known, newer)))
    }

    /// The records of rows at known versions; `None` where the shard is ahead of the index.
    pub(crate) fn page_records(&self, user: UserHash, as_of: u64, page: &[(u32, u32)]) -> Result<Option<Vec<Memory>>> {
        let records = self.consistent(user, |head, view| {
            page.iter()
                .map(|(row, version)| {
                    let memory = self.record_of(head, view, *row)?.filter(|memory| memory.version == *version);
                    match memory {
                        None if head.version == as_of => Err(missing_record(user, *row)),
                        other => Ok(other),
                    }
                })
                .collect::<Result<Option<Vec<Memory>>>>()
        })?;
        Ok(records.flatten())
    }

    /// What was done to a memory, oldest first.
    pub(crate) fn history(&self, user: &UserId, id: MemoryId, level: Sensitivity) -> Result<Vec<Change>> {
        self.check_open()?;
        let hash = self.user_hash(user);
        let ((row, _), _) = self.place_of(hash, id, level)?;
        let changes = self.consistent(hash, |head, view| self.changes_of(head, view, row, level))?;
        changes.ok_or_else(|| Error::not_found(format!("id {id}: no such memory")))
    }

    fn changes_of(&self, head: &Head, view: &ReadView, row: u32, level: Sensitivity) -> Result<Vec<Change>> {
        head.check_log(view)?;
        let mut changes = Vec::new();
        view.scan_user(Table::Log, head.user, |key, bytes| {
            let seq = number_of(key).ok_or_else(|| Error::corrupt("log: malformed key"))?;
            let chunk = head.chunk_key(self, view, log_chunk(seq))?;
            let entry = LogEntry::decode(&head.open_value(self, Table::Log, key, &chunk, bytes)?)?;
            for change in entry.rows.iter().filter(|change| change.row == row) {
                let before = change.before.as_deref().map(record::decode).transpose()?;
                let before = before.filter(|memory| memory.sensitivity <= level);
                changes.push(Change { verb: entry.verb.verb()?, at: entry.at, before });
            }
            Ok(())
        })?;
        Ok(changes)
    }

    /// Ids of live users of all shards, in the order of their hashes, from `after` on.
    pub(crate) fn users(&self, after: Option<[u8; 17]>, limit: usize) -> Result<(Vec<UserId>, Option<[u8; 17]>)> {
        self.check_open()?;
        let (first, mut start) = after.map_or((0, Vec::new()), |cursor| (usize::from(cursor[0]), cursor[1..].to_vec()));
        let (mut found, mut next) = (Vec::new(), None);
        for number in first..self.shard_count() {
            let view = self.users_view(number)?;
            view.scan_from(Table::Users, &start, |key, row| {
                let user = UserHash(key.try_into().map_err(|_| Error::corrupt("users: malformed key"))?);
                if after.is_some_and(|cursor| usize::from(cursor[0]) == number && cursor[1..] == user.0) {
                    return Ok(ControlFlow::Continue(()));
                }
                if found.len() == limit {
                    return Ok(ControlFlow::Break(()));
                }
                if let Some(id) = self.id_of(user, row)? {
                    let mut cursor = [0; 17];
                    (cursor[0], next) = (number as u8, None);
                    cursor[1..].copy_from_slice(&user.0);
                    next = Some(cursor);
                    found.push(id);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if found.len() == limit {
                return Ok((found, next));
            }
            start.clear();
        }
        Ok((found, None))
    }

    /// A view of a shard whose table `users` was found complete.
    fn users_view(&self, number: usize) -> Result<ReadView> {
        let state = self.shard_at(number);
        let shard = state.serving()?;
        let view = shard.read()?;
        state.check_users(&view)?;
        Ok(view)
    }

    fn id_of(&self, user: UserHash, row: &[u8]) -> Result<Option<UserId>> {
        let (slot, sealed) = SlotRef::decode(row)?;
        let Standing::Live { slot: copy, .. } = self.keyring.standing(user, &slot)? else { return Ok(None) };
        let keys = self.keyring.keys_of(&copy)?;
        let opened = self.sealer.open(&keys.user, &head_place(user, &slot), sealed)?;
        Ok(Some(UserFacts::decode(&opened.plain)?.user_id))
    }

    /// How many users live in the shards that serve.
    pub(crate) fn user_count(&self) -> Result<u64> {
        self.check_open()?;
        let mut count = 0;
        for number in 0..self.shard_count() {
            let view = self.users_view(number)?;
            view.scan_from(Table::Users, &[], |key, row| {
                let user = UserHash(key.try_into().map_err(|_| Error::corrupt("users: malformed key"))?);
                count += u64::from(self.is_user(user, &SlotRef::decode(row)?.0)?);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(count)
    }

    /// Whether a row is of a user who was not forgotten, by the keys: a row alone may be an older one. One whose keys are
    /// damaged is a user still.
    fn is_user(&self, user: UserHash, slot: &SlotRef) -> Result<bool> {
        match self.keyring.standing(user, slot) {
            Ok(standing) => Ok(matches!(standing, Standing::Live { .. })),
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(true),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn user_stats(&self, user: &UserId, level: Sensitivity) -> Result<UserStats> {
        self.check_open()?;
        let stats = self.with_index(self.user_hash(user), |head, index| {
            let mut stats = UserStats {
                index_bytes: index.bytes(),
                paused: head.facts.paused,
                damaged: index.damaged.clone(),
                ..UserStats::default()
            };
            let space = space_code(index.space.or(Some(0)));
            for facts in index.arena.iter().filter(|facts| facts.sensitivity <= level.code()) {
                stats.pending += usize::from(facts.space != space);
                stats.without_vector += usize::from(facts.space == space && !facts.has_vector);
                if let Some(status) = StatusKind::from_code(facts.status) {
                    *stats.by_status.entry(status).or_default() += 1;
                }
            }
            Ok(stats)
        })?;
        Ok(stats.unwrap_or_default())
    }
}

/// The index knows the row, and the shard has not moved since.
fn missing_record(user: UserHash, row: u32) -> Error {
    Error::corrupt(format!("records: row {row} of {user} is missing or stale"))
}
