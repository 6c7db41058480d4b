//! Recalls that were asked to leave a trace: which memories an answer used, told long after.

use crate::codec::Table;
use crate::codec::table::numbered;
use crate::codec::trace::{PARTS, StoredHit, StoredTrace};
use crate::engine::core::Core;
use crate::engine::head::{Head, trace_chunk};
use crate::engine::recall::{Ask, Ranking, Scored};
use crate::engine::user_writer::{Before, UserWriter};
use crate::error::{Error, Result};
use crate::memory::limits::TRACES_MAX;
use crate::memory::{MemoryId, Sensitivity, UserId};
use crate::storage::ReadView;

/// A trace, and for each of its memories whether it is still there, at which version.
pub(crate) struct FoundTrace {
    pub(crate) stored: StoredTrace,
    pub(crate) present: Vec<Option<u32>>,
}

impl Core {
    /// Keeps what a recall used; `None` where the user is unknown. `used` are the memories, with their versions, that went into a prompt block.
    pub(crate) fn leave_trace(
        &self,
        user: &UserId,
        ask: &Ask,
        ranking: &Ranking,
        used: Option<&[(MemoryId, u32)]>,
    ) -> Result<Option<u64>> {
        let hash = self.user_hash(user);
        if self.head(hash)?.is_none() {
            return Ok(None);
        }
        let trace = self.trace_of(ask, ranking, used);
        let kept =
            self.write(hash, false, move |transaction| transaction.with_user(hash, |writer| writer.keep_trace(&trace)));
        kept.map(Some)
    }

    fn trace_of(&self, ask: &Ask, ranking: &Ranking, used: Option<&[(MemoryId, u32)]>) -> StoredTrace {
        let at = self.now();
        let hits = match used {
            None => ranking.hits.iter().map(stored_hit).collect(),
            Some(used) => used.iter().map(|(id, version)| used_hit(ranking, *id, *version)).collect(),
        };
        StoredTrace {
            at: at.as_micros(),
            query_at: ask.at.or(ask.as_of).unwrap_or(at).as_micros(),
            as_of: ask.as_of.map(crate::memory::Timestamp::as_micros),
            context: used.is_some(),
            level: ask.level.code(),
            limit: ask.limit as u64,
            version: ranking.version,
            filter: ask.filter.as_ref().map(crate::index::Filter::words).unwrap_or_default(),
            hits,
            forgotten: 0,
        }
    }

    /// A trace as far as `level` sees its memories.
    pub(crate) fn trace(&self, user: &UserId, number: u64, level: Sensitivity) -> Result<FoundTrace> {
        self.check_open()?;
        let hash = self.user_hash(user);
        let missing = || Error::not_found(format!("trace {number}: no such trace"));
        let mut stored =
            self.consistent(hash, |head, view| self.stored_trace(head, view, number))?.flatten().ok_or_else(missing)?;
        if stored.level > level.code() {
            return Err(missing());
        }
        let present = self.with_index(hash, |_, index| {
            let facts = |hit: &StoredHit| index.arena.facts_by_id(&hit.id);
            stored.hits.retain(|hit| facts(hit).is_none_or(|facts| facts.sensitivity <= level.code()));
            Ok(stored.hits.iter().map(|hit| facts(hit).map(|facts| facts.version)).collect())
        })?;
        Ok(FoundTrace { present: present.ok_or_else(missing)?, stored })
    }

    fn stored_trace(&self, head: &Head, view: &ReadView, number: u64) -> Result<Option<StoredTrace>> {
        head.check_log(view)?;
        let key = numbered(head.user, number);
        if view.get_with(Table::Traces, &key, |_| Ok(()))?.is_none() {
            return Ok(None);
        }
        let chunk = head.chunk_key(self, view, trace_chunk(number))?;
        view.get_with(Table::Traces, &key, |bytes| {
            StoredTrace::decode(&head.open_value(self, Table::Traces, &key, &chunk, bytes)?)
        })
    }
}

impl UserWriter<'_, '_> {
    fn keep_trace(&mut self, trace: &StoredTrace) -> Result<u64> {
        let facts = self.facts();
        let number = facts.next_trace;
        facts.next_trace += 1;
        self.put_value(Table::Traces, number, trace_chunk(number), &trace.encode(), Before::Nothing)?;
        if let Some(oldest) = number.checked_sub(TRACES_MAX) {
            self.remove_value(Table::Traces, oldest)?;
            if trace_chunk(oldest) != trace_chunk(oldest + 1) {
                self.remove_value(Table::Keys, trace_chunk(oldest))?;
            }
        }
        Ok(number)
    }
}

/// A memory of a prompt block: a hit, or pinned and without a score.
fn used_hit(ranking: &Ranking, id: MemoryId, version: u32) -> StoredHit {
    let hit = ranking.hits.iter().find(|hit| hit.candidate.id == *id.as_bytes());
    hit.map_or(StoredHit { id: *id.as_bytes(), version, parts: [0.0; PARTS] }, stored_hit)
}

fn stored_hit(hit: &Scored) -> StoredHit {
    let (parts, legs) = (&hit.candidate.parts, &hit.legs);
    let parts = [
        parts.score,
        parts.dense_cos,
        legs.lexical,
        legs.scene,
        legs.time,
        legs.speaker,
        legs.context,
        parts.relevance_raw,
        parts.retention,
        parts.weight,
    ];
    StoredHit { id: hit.candidate.id, version: hit.facts.version, parts }
}
