//! What is left of a user: of each value the newest that opens.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::carve::{Candidate, Carved};
use super::evidence::Evidence;
use super::{Core, readable};
use crate::codec::block::{StoredVector, decode_overlay};
use crate::codec::head::{BLOCK_ROWS, Digest, SlotRef, UserFacts};
use crate::codec::log_entry::LogEntry;
use crate::codec::pack::{Pack, rows_per_pack};
use crate::codec::table::{Digested, PACKED, number_of};
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
    /// The commit of a vector that is a value of its own.
    pub(super) vector_version: Option<u64>,
    /// It had one that is gone, or may have had.
    pub(super) lost_vector: bool,
    pub(super) version: u64,
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
    pub(super) trusted: bool,
    /// The newest commit of a value that opened.
    pub(super) newest: u64,
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
    pub(super) fn new(core: &'a Core, report: &'a ShardReport, carved: &Carved, head: Head) -> Result<Self> {
        let head = newest_head(core, carved, head);
        let candidates = gather(report, carved, head.user)?;
        let mut salvage = Self {
            core,
            report,
            head,
            candidates,
            chunks: HashMap::new(),
            trusted: !report.pages_damaged && report.view.is_some(),
            newest: 0,
            rows: BTreeMap::new(),
            log: BTreeMap::new(),
            traces: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            pending: 0,
            older: Vec::new(),
            lost: Vec::new(),
        };
        salvage.collect();
        Ok(salvage)
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
            let version = newest.as_ref().map_or(u64::MAX, |opened| opened.version);
            let facts = newest.and_then(|opened| UserFacts::decode(&opened.plain).ok());
            let is_known = facts.is_some();
            let unnamed = UserFacts::new(UserId::new(&unnamed(user))?);
            let owner = SlotOwner { user, generation: slot.generation, epoch: slot.epoch };
            let head = Head { version, ..Head::new(owner, number, keys, facts.unwrap_or(unnamed)) };
            let mut salvage = Self::new(core, report, carved, head)?;
            if is_known || !salvage.chunks.is_empty() {
                let says =
                    "the row of this user was found outside its place, if at all: anything may be older, or gone";
                salvage.older.push(salvage.name(Table::Users, None, says));
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
        sabotage!(45, self.candidates.sort_by_key(|one| (one.version, one.live)));
        self.open_keys();
        self.open_tombstones();
        let candidates = std::mem::take(&mut self.candidates);
        let sums_fit = self.sums_fit(&candidates);
        // Where they do, the tree lacks nothing of this user, whatever is wrong with its pages.
        self.trusted |= sums_fit;
        for one in &candidates {
            let Some(number) = number_of(&one.key) else { continue };
            match one.table {
                Table::Records => self.take_record(number as u32, one),
                Table::Log => {
                    if let Some(entry) = self.open(one).and_then(|plain| LogEntry::decode(&plain).ok()) {
                        self.newest = self.newest.max(one.version);
                        self.log.entry(number).or_insert(entry);
                    }
                }
                Table::Traces => {
                    if let Some(trace) = self.open(one).and_then(|plain| StoredTrace::decode(&plain).ok()) {
                        self.newest = self.newest.max(one.version);
                        self.traces.entry(number).or_insert(trace);
                    }
                }
                _ => {}
            }
        }
        self.count_numbers();
        self.find_vectors(&candidates);
        let evidence = Evidence::of(self, &candidates);
        self.name_what_is_older(&evidence, sums_fit, !sums_fit && self.is_said_stale());
        self.name_what_is_gone(&evidence);
        self.name_other_loss(&candidates);
    }

    /// Whether the doctor found a sum of this user that does not fit, and nothing that says why.
    fn is_said_stale(&self) -> bool {
        let name = self.head.facts.user_id.as_str();
        let mut own = self.report.damaged.iter().filter(|damage| damage.user.as_deref() == Some(name));
        own.any(|damage| damage.what.starts_with(STALE))
    }

    /// Whether the values that the tree has, or newer ones in their place, are those that the user's sum counts.
    fn sums_fit(&self, candidates: &[Candidate]) -> bool {
        let live: HashSet<(Table, &[u8])> =
            candidates.iter().filter(|one| one.live).map(|one| (one.table, one.key.as_slice())).collect();
        let sum = |of: &dyn Fn(&Candidate) -> bool| {
            let (mut sum, mut counted) = (Digest::default(), HashSet::new());
            for one in candidates.iter().filter(|one| of(one)) {
                let digested = one.table.digest(&one.key, self.head.facts.closed_rows());
                if digested != Some(Digested::Load) || counted.contains(&(one.table, &one.key)) {
                    continue;
                }
                let Ok(term) = self.head.term(one.table, &one.key, &one.bytes) else { continue };
                counted.insert((one.table, &one.key));
                sum.add(&term);
            }
            sum
        };
        let expected = self.head.facts.digests[Digested::Load as usize];
        sum(&|one| one.live) == expected
            || sum(&|one| live.contains(&(one.table, one.key.as_slice())) && self.authenticates(one)) == expected
    }

    fn authenticates(&self, one: &Candidate) -> bool {
        match one.table {
            Table::Keys => self.head.open_chunk_key(self.core, &one.key, &one.bytes).is_ok(),
            Table::Tombstones => self.tombstones.get(&one.key).is_some_and(|(_, bytes)| *bytes == one.bytes),
            _ => self.open(one).is_some(),
        }
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
    pub(super) fn open(&self, one: &Candidate) -> Option<Plain> {
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
            self.newest = self.newest.max(one.version);
            let (version, live) = (one.version, one.live);
            self.rows
                .insert(row, Row { memory, vector: None, vector_version: None, lost_vector: false, version, live });
        }
    }

    /// No number is given twice, whatever was lost. Keys of values that don't open say nothing: they may be damaged.
    fn count_numbers(&mut self) {
        let changed = self.log.values().flat_map(|entry| &entry.rows).map(|change| change.row);
        let row = self.rows.keys().copied().chain(changed).max().map_or(0, |row| row.saturating_add(1));
        let next = |last: Option<&u64>| last.map_or(0, |last| last.saturating_add(1));
        let facts = &mut self.head.facts;
        facts.next_row = facts.next_row.max(row);
        facts.next_log = facts.next_log.max(next(self.log.keys().next_back()));
        facts.next_trace = facts.next_trace.max(next(self.traces.keys().next_back()));
    }

    fn find_vectors(&mut self, candidates: &[Candidate]) {
        let current = self.core.spaces.read().current().map(|(number, space)| (number, space.dims()));
        let (mut own, mut packs, mut whole) = (HashMap::new(), HashMap::new(), self.trusted && !self.is_said_stale());
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
        let blocks = self.blocks_of(candidates);
        let block_of = |pack: &u64| ((*pack & (PACKED - 1)) >> 8) as u32;
        whole &= packs.iter().all(|(number, (_, commit))| blocks.get(&block_of(number)).is_none_or(|of| commit >= of));
        let mut pending = Vec::new();
        for (row, found) in &mut self.rows {
            let fits = |space: u32, dims: usize| current == Some((space, dims));
            let held = own.get(row).filter(|((space, numbers), version, live)| {
                fits(*space, numbers.dims()) && (*live || *version >= found.version)
            });
            let packed = || {
                let (block, within) = (row / BLOCK_ROWS, (row % BLOCK_ROWS) as usize);
                let per_pack = rows_per_pack(current?.1);
                let (pack, version) = packs.get(&pack_number(block, within / per_pack))?;
                // A pack is written with its block: one that is older is not that block's.
                let is_current = blocks.get(&block).is_none_or(|commit| version >= commit)
                    && (*version >= found.version || (self.trusted && found.live && !unpacked.contains(row)));
                let numbers = pack.vector(within % per_pack).filter(|_| is_current && fits(pack.space, pack.dims))?;
                Some((pack.space, Vector::from_unit(numbers.to_vec())))
            };
            found.vector = held.map(|(vector, ..)| vector.clone()).or_else(packed);
            found.vector_version = held.map(|(_, version, _)| *version);
            if found.vector.is_none() && !whole && found.memory.space.is_some() {
                found.memory.space = None;
                found.lost_vector = true;
                pending.push((*row, found.memory.id));
            }
        }
        self.pending = pending.len() as u64;
        let says = "the vector of this memory is gone; it waits for a new one";
        let name = |(row, id)| Damage { memory: Some(id), ..self.name(Table::Vectors, Some(u64::from(row)), says) };
        let lost: Vec<Damage> = pending.into_iter().map(name).collect();
        self.lost.extend(lost);
    }

    /// The commits of the newest blocks that open.
    fn blocks_of(&self, candidates: &[Candidate]) -> HashMap<u32, u64> {
        let blocks = candidates.iter().filter(|one| one.table == Table::Blocks && (one.live || !self.trusted));
        let opened = blocks.filter(|one| self.open(one).is_some());
        let mut commits = HashMap::new();
        for (number, commit) in opened.filter_map(|one| Some((number_of(&one.key)? as u32, one.version))) {
            commits.entry(number).and_modify(|known: &mut u64| *known = commit.max(*known)).or_insert(commit);
        }
        commits
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

    fn name_other_loss(&mut self, candidates: &[Candidate]) {
        for one in candidates.iter().filter(|one| one.live) {
            let Some(number) = number_of(&one.key) else { continue };
            let kept = match one.table {
                Table::Log => self.log.contains_key(&number),
                Table::Traces => self.traces.contains_key(&number),
                _ => true,
            };
            if !kept {
                self.lost.push(self.name(one.table, Some(number), "gone"));
            }
        }
    }
}

/// The newest of the user's heads that the same keys open, wherever it lies.
fn newest_head(core: &Core, carved: &Carved, head: Head) -> Head {
    let place = head_place(head.user, &head.slot);
    let others = carved.heads(head.slot.slot).filter(|other| other.version > head.version);
    let opened = others.filter_map(|other| core.sealer.open(&head.keys.user, &place, &other.bytes).ok());
    let newest = opened.max_by_key(|opened| opened.version);
    match newest.and_then(|opened| Some((UserFacts::decode(&opened.plain).ok()?, opened.version))) {
        Some((facts, version)) => Head { facts, version, ..head },
        None => head,
    }
}

/// Every value that says of itself that it is this user's: those that the shard reaches, and those that were carved.
fn gather(report: &ShardReport, carved: &Carved, user: UserHash) -> Result<Vec<Candidate>> {
    let mut found = Vec::new();
    for table in Table::OF_USERS {
        let Some(view) = &report.view else { break };
        // What a damaged page hides is carved.
        readable(view.scan_user(table, user, |key, bytes| {
            let version = frame::parse(table, key, bytes).map_or(0, |frame| frame.version);
            found.push(Candidate { table, key: key.to_vec(), version, live: true, bytes: bytes.to_vec() });
            Ok(())
        }))?;
    }
    found.extend(carved.values(user).map(|one| Candidate {
        table: one.table,
        key: one.key.clone(),
        version: one.version,
        live: false,
        bytes: one.bytes.clone(),
    }));
    Ok(found)
}
