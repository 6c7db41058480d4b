//! A user written anew from what was salvaged, into a fresh shard.

use super::Repaired;
use super::salvage::Salvage;
use crate::codec::Table;
use crate::engine::core::Core;
use crate::engine::head::{log_chunk, trace_chunk};
use crate::engine::remember::{is_linked, terms_of};
use crate::engine::transaction::{Staged, Transaction};
use crate::engine::user_index::{Attributes, IndexChange, facts_of};
use crate::engine::user_writer::{Before, UserWriter};
use crate::error::Result;
use crate::storage::Rebuilt;
use crate::text::Stems;

impl Core {
    pub(super) fn rebuild(&self, fresh: &mut Rebuilt, salvage: &Salvage<'_>, done: &mut Repaired) -> Result<()> {
        done.users += 1;
        done.memories += salvage.rows.len() as u64;
        done.pending += salvage.pending;
        done.older.extend(salvage.older.iter().cloned());
        done.lost.extend(salvage.lost.iter().cloned());
        let mut transaction = Transaction::new(self, fresh.view()?, fresh.next_seq());
        let user = salvage.head.user;
        let staged = Staged::new(salvage.head.as_empty());
        transaction.attempt(|transaction| transaction.guarded(user, staged, true, |writer| writer.rebuild(salvage)))?;
        let writes = transaction.seal_heads()?;
        drop(transaction);
        fresh.commit(&writes)
    }
}

impl UserWriter<'_, '_> {
    fn rebuild(&mut self, salvage: &Salvage<'_>) -> Result<()> {
        for (key, (_, frame)) in &salvage.tombstones {
            self.adopt(Table::Tombstones, key, frame)?;
        }
        let mut stems = Stems::default();
        for (row, found) in &salvage.rows {
            let facts = self.facts();
            facts.live += 1;
            facts.linked += u32::from(is_linked(&found.memory));
            self.insert_row(*row, &found.memory)?;
            let (facts, attributes) = (facts_of(&found.memory, *row), Attributes::of(&found.memory));
            let (vector, terms) = (found.vector.clone(), terms_of(&found.memory, &mut stems));
            self.change_index(IndexChange::Insert { facts, vector, attributes, terms });
        }
        for (seq, entry) in &salvage.log {
            self.put_value(Table::Log, *seq, log_chunk(*seq), &entry.encode(), Before::Nothing)?;
            self.facts().log_images += entry.images();
        }
        for (number, trace) in &salvage.traces {
            self.put_value(Table::Traces, *number, trace_chunk(*number), &trace.encode(), Before::Nothing)?;
        }
        let (facts, old) = (self.facts(), &salvage.head.facts);
        (facts.next_row, facts.next_log, facts.next_trace) = (old.next_row, old.next_log, old.next_trace);
        Ok(())
    }
}
