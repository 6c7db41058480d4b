//! What is left of a user: of each value the newest that opens.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::carve::{Candidate, Carved};
use super::{Core, readable};
use crate::codec::block::{StoredVector, decode_block, decode_overlay};
use crate::codec::head::{BLOCK_ROWS, SlotRef, UserFacts};
use crate::codec::log_entry::LogEntry;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::table::{PACKED, number_of};
use crate::codec::trace::StoredTrace;
use crate::codec::{Table, UserHash, frame, record, vector};
use crate::engine::doctor::{Damage, STALE, ShardReport, chunk_of};
use crate::engine::full_vectors::pack_number;
use crate::engine::head::{ChunkKey, Head, head_place, unnamed};
use crate::error::Result;
use crate::memory::{Memory, UserId, Vector};
use crate::seal::{Plain, SlotOwner};

/// A memory that was found, with the commit that wrote it.
pub(super) struct Row {
    pub(super) memory: Memory,
    pub(super) vector: Option<(u32, Vector)>,
    version: u64,
    live: bool,
}

/// Everything that is left of a user.
pub(super) struct Salvage<'a> {
    core: &'a Core,
    report: &'a ShardReport,
    pub(super) head: Head,
    candidates: Vec<Candidate>,
    chunks: HashMap<u64, Vec<ChunkKey>>,
    /// Whether the shard's tree can be trusted to have all that it should.
    trusted: bool,
    pub(super) rows: BTreeMap<u32, Row>,
    pub(super) log: BTreeMap<u64, LogEntry>,
    pub(super) traces: BTreeMap<u64, StoredTrace>,
    /// Frames as they were sealed, by key, with their commits.
    pub(super) tombstones: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    pub(super) pending: u64,
    pub(super) older: Vec<Damage>,
    pub(super) lost: Vec<Damage>,
}

impl<'a> Salvage<'a> {
    /// Of a user whose head was read.
    pub(super) fn new(core: &'a Core, report: &'a ShardReport, carved: &Carved, head: Head) -> Self {
        let candidates = gather(report, carved, head.user);
        let mut salvage = Self {
            core,
            report,
            head,
            candidates,
            chunks: HashMap::new(),
            trusted: !report.pages_damaged && report.view.is_some(),
            rows: BTreeMap::new(),
            log: BTreeMap::new(),
            traces: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            pending: 0,
            older: Vec::new(),
            lost: Vec::new(),
        };
        salvage.collect();
        salvage
    }

    /// Of a user whose head or row is damaged: KEYRING has the keys. `None` where they open nothing.
    pub(super) fn without_head(
        core: &'a Core,
        report: &'a ShardReport,
        carved: &Carved,
        user: UserHash,
    ) -> Result<Option<Self>> {
        let mut slots = core.slots_of(user)?;
        slots.sort_by_key(|(_, slot)| std::cmp::Reverse((slot.generation, slot.epoch)));
        for (number, slot) in slots {
            let Some(keys) = readable(core.keyring.keys_of(&slot))? else { continue };
            let at = SlotRef { slot: number, generation: slot.generation, epoch: slot.epoch, erased: false };
            let place = head_place(user, &at);
            let heads = carved.heads(number).filter_map(|head| core.sealer.open(&keys.user, &place, &head.bytes).ok());
            let newest = heads.max_by_key(|opened| opened.version);
            let facts = newest.and_then(|opened| UserFacts::decode(&opened.plain).ok());
            let is_known = facts.is_some();
            let unnamed = UserFacts::new(UserId::new(&unnamed(user))?);
            let owner = SlotOwner { user, generation: slot.generation, epoch: slot.epoch };
            let head = Head::new(owner, number, keys, facts.unwrap_or(unnamed));
            let salvage = Self::new(core, report, carved, head);
            if is_known || !salvage.chunks.is_empty() {
                return Ok(Some(salvage));
            }
        }
        Ok(None)
    }

    pub(super) fn name(&self, table: Table, number: Option<u64>, says: &str) -> Damage {
        Damage::in_table(self.report.number, table, self.head.facts.user_id.as_str().to_owned(), number, says)
    }

    fn collect(&mut self) {
        self.candidates.sort_by_key(|one| std::cmp::Reverse((one.version, one.live)));
        self.open_keys();
        self.open_tombstones();
        let candidates = std::mem::take(&mut self.candidates);
        for one in &candidates {
            let Some(number) = number_of(&one.key) else { continue };
            match one.table {
                Table::Records => self.take_record(number as u32, one),
                Table::Log => {
                    if let Some(entry) = self.open(one).and_then(|plain| LogEntry::decode(&plain).ok()) {
                        self.log.entry(number).or_insert(entry);
                    }
                }
                Table::Traces => {
                    if let Some(trace) = self.open(one).and_then(|plain| StoredTrace::decode(&plain).ok()) {
                        self.traces.entry(number).or_insert(trace);
                    }
                }
                _ => {}
            }
        }
        self.count_numbers(&candidates);
        self.find_vectors(&candidates);
        self.name_what_is_gone(&candidates);
    }

    fn open_keys(&mut self) {
        for one in self.candidates.iter().filter(|one| one.table == Table::Keys) {
            let opened = self.head.open_chunk_key(self.core, &one.key, &one.bytes);
            if let (Some(chunk), Ok(key)) = (number_of(&one.key), opened) {
                self.chunks.entry(chunk).or_default().push(key);
            }
        }
    }

    fn open_tombstones(&mut self) {
        let seal = self.head.keys.tombstone.derive("mnemic seal tombstones");
        for one in self.candidates.iter().filter(|one| one.table == Table::Tombstones) {
            let place = self.head.place(Table::Tombstones, &one.key, 0);
            if self.core.sealer.open(&seal, &place, &one.bytes).is_ok() {
                self.tombstones.entry(one.key.clone()).or_insert_with(|| (one.version, one.bytes.clone()));
            }
        }
    }

    /// The plain bytes of a value, under any key that its chunk ever had and that still opens.
    fn open(&self, one: &Candidate) -> Option<Plain> {
        let keys = self.chunks.get(&chunk_of(one.table, number_of(&one.key)?))?;
        keys.iter().find_map(|key| self.head.open_value(self.core, one.table, &one.key, key, &one.bytes).ok())
    }

    /// Candidates come newest first, so the first that opens counts. What is older than its tombstone stays away.
    fn take_record(&mut self, row: u32, one: &Candidate) {
        if self.rows.contains_key(&row) {
            return;
        }
        let Some(memory) = self.open(one).and_then(|plain| record::decode(&plain).ok()) else { return };
        let id = self.head.keys.hash_id(memory.id.as_bytes());
        let tombstone = self.tombstones.get(crate::codec::table::hashed(self.head.user, id).as_slice());
        if tombstone.is_none_or(|(version, _)| *version < one.version) {
            self.rows.insert(row, Row { memory, vector: None, version: one.version, live: one.live });
        }
    }

    /// No number is given twice, whatever was lost.
    fn count_numbers(&mut self, candidates: &[Candidate]) {
        let facts = &mut self.head.facts;
        for one in candidates {
            let Some(number) = number_of(&one.key) else { continue };
            let next = number.saturating_add(1);
            match one.table {
                Table::Records => facts.next_row = facts.next_row.max(u32::try_from(next).unwrap_or(0)),
                Table::Log => facts.next_log = facts.next_log.max(next),
                Table::Traces => facts.next_trace = facts.next_trace.max(next),
                _ => {}
            }
        }
    }

    fn find_vectors(&mut self, candidates: &[Candidate]) {
        let current = self.core.spaces.read().current().map(|(number, space)| (number, space.dims()));
        let (mut own, mut packs, mut whole) = (HashMap::new(), HashMap::new(), self.trusted);
        for one in candidates.iter().filter(|one| one.table == Table::Vectors) {
            let Some(number) = number_of(&one.key) else { continue };
            let opened = self.open(one);
            whole &= opened.is_some() || !one.live;
            let Some(plain) = opened else { continue };
            if number < PACKED {
                if let Ok((space, numbers)) = vector::decode(&plain) {
                    own.entry(number as u32).or_insert(((space, numbers), one.version, one.live));
                }
            } else if let Ok(pack) = Pack::decode(&plain) {
                packs.entry(number).or_insert((pack, one.version));
            }
        }
        let unpacked = self.rows_out_of_packs(candidates);
        let mut pending = 0;
        for (row, found) in &mut self.rows {
            let fits = |space: u32, dims: usize| current == Some((space, dims));
            let held = own.get(row).filter(|((space, numbers), version, live)| {
                fits(*space, numbers.dims()) && (*live || *version >= found.version)
            });
            let packed = || {
                let (block, within) = (row / BLOCK_ROWS, (row % BLOCK_ROWS) as usize);
                let per_pack = rows_per_pack(current?.1);
                let (pack, version) = packs.get(&pack_number(block, within / per_pack))?;
                let is_current = *version >= found.version || (self.trusted && found.live && !unpacked.contains(row));
                let numbers = pack.vector(within % per_pack).filter(|_| is_current && fits(pack.space, pack.dims))?;
                Some((pack.space, Vector::from_unit(numbers.to_vec())))
            };
            found.vector = held.map(|(vector, ..)| vector.clone()).or_else(packed);
            if found.vector.is_none() && !whole && found.memory.space.is_some() {
                found.memory.space = None;
                pending += 1;
            }
        }
        self.pending = pending;
    }

    /// Rows of which an overlay says, or may say, that the pack's vector is not theirs any more.
    fn rows_out_of_packs(&self, candidates: &[Candidate]) -> BTreeSet<u32> {
        let overlays = candidates.iter().filter(|one| one.table == Table::Rows && one.live);
        let changed = overlays.filter(|one| {
            let plain = self.open(one);
            let stored = plain.as_deref().and_then(|plain| decode_overlay(plain).ok());
            stored.is_none_or(|stored| !matches!(stored.vector, StoredVector::Packed(_)))
        });
        changed.filter_map(|one| number_of(&one.key).map(|row| row as u32)).collect()
    }

    fn name_what_is_gone(&mut self, candidates: &[Candidate]) {
        let (mut older, mut lost) = (Vec::new(), Vec::new());
        let live = |table| candidates.iter().filter(move |one| one.live && one.table == table);
        let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
        for one in live(Table::Blocks) {
            let plain = self.open(one);
            let rows = plain.as_deref().and_then(|plain| decode_block(plain).ok()).map(|(_, rows)| rows);
            expected.extend(rows.into_iter().flatten().map(|row| (row.row, 0)));
        }
        let records = live(Table::Records).filter_map(|one| Some((number_of(&one.key)? as u32, one.version)));
        expected.extend(records);
        for (row, version) in &expected {
            match self.rows.get(row) {
                None => lost.push(self.name(Table::Records, Some(u64::from(*row)), "this memory is gone")),
                Some(found) if found.version < *version => {
                    older.push(self.name(Table::Records, Some(u64::from(*row)), "an older version is left"));
                }
                Some(_) => {}
            }
        }
        let name = self.head.facts.user_id.as_str();
        let sums = self.report.damaged.iter().filter(|damage| damage.user.as_deref() == Some(name));
        if self.trusted && sums.filter(|damage| damage.what.starts_with(STALE)).count() > 0 {
            older.push(self.name(Table::Records, None, "some value may be older than it was"));
        }
        let gone = (self.head.facts.live as usize).saturating_sub(self.rows.len() + lost.len());
        if gone > 0 {
            lost.push(self.name(Table::Records, None, &format!("{gone} memories are gone")));
        }
        for one in candidates.iter().filter(|one| one.live) {
            let Some(number) = number_of(&one.key) else { continue };
            let kept = match one.table {
                Table::Log => self.log.contains_key(&number),
                Table::Traces => self.traces.contains_key(&number),
                _ => true,
            };
            if !kept {
                lost.push(self.name(one.table, Some(number), "gone"));
            }
        }
        (self.older, self.lost) = (older, lost);
    }
}

/// Every value that says of itself that it is this user's: those that the shard reaches, and those that were carved.
fn gather(report: &ShardReport, carved: &Carved, user: UserHash) -> Vec<Candidate> {
    let mut found = Vec::new();
    for table in Table::OF_USERS {
        let Some(view) = &report.view else { break };
        // What a damaged page hides is carved.
        let _ = view.scan_user(table, user, |key, bytes| {
            let version = frame::parse(table, key, bytes).map_or(0, |frame| frame.version);
            found.push(Candidate { table, key: key.to_vec(), version, live: true, bytes: bytes.to_vec() });
            Ok(())
        });
    }
    found.extend(carved.values(user).map(|one| Candidate {
        table: one.table,
        key: one.key.clone(),
        version: one.version,
        live: false,
        bytes: one.bytes.clone(),
    }));
    found
}
