//! What the other values of a user say of a memory: that it is there, and which version it had at least.

use std::collections::{BTreeMap, HashSet};

use super::carve::Candidate;
use super::salvage::{Row, Salvage};
use crate::codec::block::{decode_block, decode_overlay};
use crate::codec::log_entry::LogEntry;
use crate::codec::table::number_of;
use crate::codec::{Table, record};
use crate::engine::doctor::Damage;
use crate::engine::stored_row::facts_of as facts_of_row;
use crate::engine::user_index::facts_of;
use crate::index::vector::Facts;
use crate::memory::{MemoryId, Verb};

/// Memories in doubt that are named one by one.
const DOUBTS_MAX: usize = 10_000;

/// What is known of a memory without its record.
#[derive(Debug, Clone, Copy, Default)]
struct Witness {
    /// It had at least this version.
    version: u32,
    id: Option<MemoryId>,
    /// The last thing that was done to it was to give it a vector.
    embedded: bool,
    /// As its block or overlay has it.
    facts: Option<Facts>,
}

/// All witnesses of a user's memories.
pub(super) struct Evidence {
    witnesses: BTreeMap<u32, Witness>,
    /// Whether the log has no gap: then nothing was done that it does not tell, since it begins.
    complete: bool,
    /// Commits of the records that the tree has.
    live: BTreeMap<u32, u64>,
}

impl Evidence {
    pub(super) fn of(salvage: &Salvage<'_>, candidates: &[Candidate]) -> Self {
        let mut evidence = Self { witnesses: BTreeMap::new(), complete: has_no_gap(salvage), live: BTreeMap::new() };
        salvage.log.values().for_each(|entry| evidence.hear_log(entry));
        if !evidence.complete {
            // Of what the log says alone, something may have been forgotten since.
            evidence.witnesses.retain(|row, _| salvage.rows.contains_key(row));
        }
        evidence.hear_index(salvage, candidates);
        let records = candidates.iter().filter(|one| one.live && one.table == Table::Records);
        evidence.live = records.filter_map(|one| Some((number_of(&one.key)? as u32, one.version))).collect();
        evidence
    }

    fn hear_log(&mut self, entry: &LogEntry) {
        let verb = entry.verb.verb().ok();
        for change in &entry.rows {
            if verb == Some(Verb::Forget) {
                self.witnesses.remove(&change.row);
                continue;
            }
            let image = change.before.as_deref().and_then(|image| record::decode(image).ok());
            let witness = self.witnesses.entry(change.row).or_default();
            witness.version = match (&image, verb) {
                (Some(image), _) => image.version.saturating_add(1),
                (None, Some(Verb::Remember | Verb::Restore)) => witness.version.max(1),
                (None, Some(Verb::Embed)) => witness.version,
                (None, _) => witness.version.saturating_add(1),
            };
            witness.embedded = verb == Some(Verb::Embed);
            witness.id = image.map(|image| image.id).or(witness.id);
        }
    }

    /// Blocks, and overlays of their rows: of each the newest that opens.
    fn hear_index(&mut self, salvage: &Salvage<'_>, candidates: &[Candidate]) {
        let mut heard = HashSet::new();
        for table in [Table::Blocks, Table::Rows] {
            for one in candidates.iter().filter(|one| one.table == table && (one.live || !salvage.trusted)) {
                let Some(plain) = salvage.open(one).filter(|_| !heard.contains(&(table, &one.key))) else { continue };
                let rows = match table {
                    Table::Blocks => decode_block(&plain).map(|(_, rows)| rows),
                    _ => decode_overlay(&plain).map(|row| vec![row]),
                };
                let Ok(rows) = rows else { continue };
                heard.insert((table, &one.key));
                for row in &rows {
                    let witness = match table {
                        Table::Blocks => self.witnesses.entry(row.row).or_default(),
                        // An overlay that outlived its block says nothing.
                        _ => match self.witnesses.get_mut(&row.row) {
                            Some(witness) => witness,
                            None => continue,
                        },
                    };
                    witness.version = witness.version.max(row.version);
                    witness.id = Some(MemoryId::from_bytes(row.id));
                    witness.facts = Some(facts_of_row(row));
                }
            }
        }
    }

    pub(super) fn id_of(&self, row: u32) -> Option<MemoryId> {
        self.witnesses.get(&row)?.id
    }

    /// Every memory that has to be there.
    pub(super) fn expected(&self) -> impl Iterator<Item = u32> {
        let rows: std::collections::BTreeSet<u32> = self.witnesses.keys().chain(self.live.keys()).copied().collect();
        rows.into_iter()
    }

    /// What is said of a memory that is not, or may not be, what it was last. `sums_fit` where no value is missing,
    /// extra or stale.
    fn verdict(&self, row: u32, found: &Row, sums_fit: bool) -> Option<String> {
        let witness = self.witnesses.get(&row).copied().unwrap_or_default();
        let (version, at_least) = (found.memory.version, witness.version);
        if at_least > version {
            return Some(format!(
                "an older version is kept ({version}, there was {at_least}); the newer one can't be reached"
            ));
        }
        let is_outlived = self.live.get(&row).is_some_and(|commit| *commit > found.version)
            || found.vector_version.is_some_and(|commit| commit > found.version)
            || witness.embedded && found.memory.space.is_none() && found.vector.is_some();
        if is_outlived {
            return Some(format!("an older version is kept ({version}); the newer one can't be reached"));
        }
        let mut says_else = witness.facts.iter().filter(|facts| facts.version == version && !found.lost_vector);
        if says_else.any(|facts| *facts != facts_of(&found.memory, row)) {
            return Some(format!("version {version} is kept, the index has it otherwise: it may be an older one"));
        }
        let is_proven = at_least == version && (self.complete || witness.facts.is_some());
        (!sums_fit && !is_proven).then(|| format!("version {version} is kept, it may be an older one"))
    }
}

/// Whether every entry of the log since its first is there.
fn has_no_gap(salvage: &Salvage<'_>) -> bool {
    let first = salvage.log.keys().next().copied().unwrap_or(salvage.head.facts.next_log);
    salvage.log.len() as u64 == salvage.head.facts.next_log.saturating_sub(first)
}

impl Salvage<'_> {
    /// Names the memories of which an older version is, or may be, what is left.
    pub(super) fn name_what_is_older(&mut self, evidence: &Evidence, sums_fit: bool, stale_sums: bool) {
        let mut older = Vec::new();
        if self.newest > self.head.version {
            let says = "what is known of this user as a whole is older than the memories; it was counted anew";
            older.push(self.name(Table::Users, None, says));
        }
        for (row, found) in &self.rows {
            if let Some(says) = evidence.verdict(*row, found, sums_fit) {
                older.push(Damage {
                    memory: Some(found.memory.id),
                    ..self.name(Table::Records, Some(u64::from(*row)), &says)
                });
            }
            // A record that was changed after its vector: no sum says any more which vector it was.
            if stale_sums && found.vector_version.is_some_and(|commit| commit < found.version) {
                let says = "this vector is kept, it may be an older one";
                older.push(Damage {
                    memory: Some(found.memory.id),
                    ..self.name(Table::Vectors, Some(u64::from(*row)), says)
                });
            }
        }
        if older.len() > DOUBTS_MAX {
            let says = format!("{} more memories may be older than they were", older.len() - DOUBTS_MAX);
            older.truncate(DOUBTS_MAX);
            older.push(self.name(Table::Records, None, &says));
        }
        self.older = older;
    }

    /// Names the memories that have to be there and are not.
    pub(super) fn name_what_is_gone(&mut self, evidence: &Evidence) {
        let gone: Vec<Damage> = evidence
            .expected()
            .filter(|row| !self.rows.contains_key(row))
            .map(|row| Damage {
                memory: evidence.id_of(row),
                ..self.name(Table::Records, Some(u64::from(row)), "this memory is gone")
            })
            .collect();
        let unnamed = (self.head.facts.live as usize).saturating_sub(self.rows.len() + gone.len());
        self.lost.extend(gone);
        if unnamed > 0 {
            self.lost.push(self.name(Table::Records, None, &format!("{unnamed} memories are gone")));
        }
    }
}
