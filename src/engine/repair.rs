//! Putting a damaged store right: fresh shards from what is whole, and from what can be carved of the rest.

mod carve;
mod evidence;
mod files;
mod rebuild;
mod salvage;

use std::path::PathBuf;

use crate::codec::head::SlotRef;
use crate::codec::keyring::{Slot, SlotState};
use crate::codec::{Table, UserHash};
use crate::engine::core::{Core, ShardState};
use crate::engine::doctor::{Damage, Patient, ShardReport};
use crate::error::{Error, ErrorKind, Result};
use crate::seal::SlotOwner;
use crate::storage::{ReadView, Rebuilt, WriteSet};
use carve::Carved;
use salvage::Salvage;

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// Shards that were built anew.
    pub shards: u32,
    /// Users whose values were damaged, and who were built anew from their records.
    pub users: u64,
    /// Memories that these users have.
    pub memories: u64,
    /// Memories whose vector is lost or in doubt: [`embed_pending`](crate::Store::embed_pending) gives them a new one.
    pub pending: u64,
    /// Memories of which an older version is, or may be, what is left and served from now on.
    pub older: Vec<Damage>,
    /// What is gone.
    pub lost: Vec<Damage>,
    /// Copies of the damaged files, in the directory `quarantine` of the store.
    pub quarantined: Vec<String>,
}

impl Core {
    /// Repairs what the doctor finds. Shards that were built anew serve again once the store is opened anew.
    pub(crate) fn repair(&self) -> Result<Repaired> {
        self.check_open()?;
        self.flush_for_doctor()?;
        let mut done = Repaired::default();
        self.repair_files()?;
        self.repair_snapshots(&mut done)?;
        let mut refused = None;
        for number in 0..self.shard_count() {
            let state = self.shard_at(number);
            let turn = match state.serving() {
                Ok(_) => self.write_on(state, true, move |transaction| transaction.core.repair_shard(number as u32)),
                Err(_) => self.repair_shard(number as u32),
            };
            let one = match turn {
                // Where it can't even be read, nobody writes to it.
                Err(error) if error.kind() == ErrorKind::Corrupt => self.repair_shard(number as u32),
                other => other,
            };
            match one {
                Ok(one) => done.add(one),
                Err(error) if error.kind() == ErrorKind::Unsupported => refused = refused.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        refused.map_or(Ok(done), Err)
    }

    /// What this version does not know must not get lost in a repair by it.
    fn check_known(report: &ShardReport) -> Result<()> {
        let newer = report.damaged.iter().find(|damage| damage.is_newer()).map(ToString::to_string);
        let table = match report.view.as_ref().map(ReadView::unknown_tables) {
            Some(Ok(names)) => names.first().map(|name| Error::newer(format!("table {name}")).message().to_owned()),
            Some(Err(error)) if error.kind() == ErrorKind::Unsupported => Some(error.message().to_owned()),
            Some(Err(error)) if error.kind() != ErrorKind::Corrupt => return Err(error),
            _ => None,
        };
        match newer.or(table) {
            None => Ok(()),
            Some(what) => {
                let number = report.number;
                Err(Error::unsupported(format!("shard {number:02}: not repaired, that version has to do it: {what}")))
            }
        }
    }

    /// Nothing may be committed to the shard meanwhile.
    fn repair_shard(&self, number: u32) -> Result<Repaired> {
        let mut report = self.examine_shard(number)?;
        let mut done = Repaired::default();
        if report.damaged.iter().all(Damage::is_newer) {
            return Ok(done);
        }
        Self::check_known(&report)?;
        self.add_hidden(&mut report)?;
        // In damaged pages also one that was whole may meet a page that is not.
        let is_ill = |patient: &Patient| report.pages_damaged || matches!(patient, Patient::Ill(_));
        let ill = report.patients.iter().filter(|(_, patient)| is_ill(patient)).map(|(user, _)| *user).collect();
        let limit = report.last_seq.filter(|_| !report.damaged.iter().any(|damage| damage.part == "file"));
        let carved = Carved::of(&self.directory.carvable()?, &ill, limit);
        let last = report.last_seq.unwrap_or(0).max(carved.newest).max(self.shard_at(number as usize).last_seq());
        let clean = self.keyring.clean_sequences().get(number as usize).copied().unwrap_or(0);
        if let Some(seq) = report.last_seq.filter(|seq| *seq < clean) {
            let says = format!("the file is an older copy: what was written after commit {seq} is gone");
            done.lost.push(Damage::in_shard(number, "file", says));
        }
        let mut fresh = self.directory.rebuilt(number, last.max(clean))?;
        for (user, patient) in std::mem::take(&mut report.patients) {
            self.treat(&report, &carved, &mut fresh, (user, patient), &mut done)?;
        }
        drop(report.view.take());
        done.quarantined.extend(fresh.finish(&self.quarantine())?);
        done.shards = 1;
        self.retire(self.shard_at(number as usize), number);
        Ok(done)
    }

    /// The handle of the old file must neither read nor write any more.
    fn retire(&self, state: &ShardState, number: u32) {
        state.retire(Error::closed(format!("shard {number:02} was repaired; open the store again")));
        self.cache.clear();
    }

    pub(super) fn quarantine(&self) -> PathBuf {
        self.directory.quarantine()
    }

    /// Users whom KEYRING knows and table `users` does not, where it may have lost them.
    fn add_hidden(&self, report: &mut ShardReport) -> Result<()> {
        if !report.pages_damaged && report.view.is_some() {
            return Ok(());
        }
        for number in 0..self.keyring.slot_count() {
            let copies = self.keyring.read_slot(number)?;
            for slot in [copies.a, copies.b].into_iter().flatten() {
                if self.shard_number(slot.user) == report.number as usize {
                    report.patients.entry(slot.user).or_insert(Patient::Ill(None));
                }
            }
        }
        Ok(())
    }

    fn treat(
        &self,
        report: &ShardReport,
        carved: &Carved,
        fresh: &mut Rebuilt,
        (user, patient): (UserHash, Patient),
        done: &mut Repaired,
    ) -> Result<()> {
        let row = report.view.as_ref().map(|view| readable(view.get(Table::Users, &user.0))).transpose()?;
        let row = row.flatten().flatten();
        let row = row.and_then(|row| SlotRef::decode(&row).map(|(slot, _)| slot).ok());
        match (patient, &report.view) {
            (Patient::Whole, Some(view)) if readable(fresh.take(view, user))?.is_some() => Ok(()),
            (Patient::Erased | Patient::Lost, _) if row.is_some_and(|row| row.erased) => self.bury(fresh, user, row),
            (Patient::Erased, _) => self.bury(fresh, user, row),
            (Patient::Lost, _) => {
                let says = "the keys of this user are gone; what is sealed under them can't be read";
                done.lost.push(Damage::in_table(report.number, Table::Users, user.to_string(), None, says));
                Ok(())
            }
            (Patient::Whole | Patient::Ill(None), _) => {
                if let Some(slot) = self.grave(user)? {
                    return self.bury(fresh, user, Some(slot));
                }
                let salvage = Salvage::without_head(self, report, carved, user)?;
                self.rebuild_user(fresh, salvage, (report, user), done)
            }
            (Patient::Ill(Some(head)), _) => {
                let salvage = Salvage::new(self, report, carved, *head)?;
                self.rebuild_user(fresh, Some(salvage), (report, user), done)
            }
        }
    }

    fn rebuild_user(
        &self,
        fresh: &mut Rebuilt,
        salvage: Option<Salvage<'_>>,
        (report, user): (&ShardReport, UserHash),
        done: &mut Repaired,
    ) -> Result<()> {
        let Some(salvage) = salvage else {
            let says = "nothing of this user can be read";
            done.lost.push(Damage::in_table(report.number, Table::Users, user.to_string(), None, says));
            return Ok(());
        };
        self.rebuild(fresh, &salvage, done)
    }

    /// Where KEYRING says that a user without a row was forgotten.
    fn grave(&self, user: UserHash) -> Result<Option<SlotRef>> {
        let slots = self.slots_of(user)?;
        let newest = slots.iter().map(|(_, slot)| slot.generation).max();
        let erased = slots.iter().find(|(_, s)| Some(s.generation) == newest && s.state == SlotState::Erased);
        Ok(erased.map(|(number, slot)| SlotRef {
            slot: *number,
            generation: slot.generation,
            epoch: slot.epoch,
            erased: true,
        }))
    }

    /// Every whole copy of every slot of a user.
    fn slots_of(&self, user: UserHash) -> Result<Vec<(u32, Slot)>> {
        let mut found = Vec::new();
        for number in 0..self.keyring.slot_count() {
            let copies = self.keyring.read_slot(number)?;
            let own = [copies.a, copies.b].into_iter().flatten().filter(|slot| slot.user == user);
            found.extend(own.map(|slot| (number, slot)));
        }
        Ok(found)
    }

    /// A forgotten user stays forgotten: no key, and a row that says so.
    fn bury(&self, fresh: &mut Rebuilt, user: UserHash, row: Option<SlotRef>) -> Result<()> {
        let Some(row) = row else { return Ok(()) };
        // A slot that KEYRING was cut before holds no key, and a row that names it would be damage again.
        let Some(copies) = readable(self.keyring.read_slot(row.slot))? else { return Ok(()) };
        let newest = copies.newest_of(user);
        let generation = newest.map_or(row.generation, |newest| newest.max(row.generation));
        self.keyring.erase(row.slot, SlotOwner { user, generation, epoch: row.epoch }, self.now())?;
        let mut writes = WriteSet::default();
        writes.put(Table::Users, &user.0, SlotRef { generation, erased: true, ..row }.encode(&[]));
        fresh.commit(&writes)
    }
}

impl Repaired {
    /// Whether nothing had to be repaired.
    pub fn is_unchanged(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, one: Self) {
        self.shards += one.shards;
        self.users += one.users;
        self.memories += one.memories;
        self.pending += one.pending;
        self.older.extend(one.older);
        self.lost.extend(one.lost);
        self.quarantined.extend(one.quarantined);
    }
}

/// Damage is passed over, any other error ends the repair.
fn readable<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => Ok(None),
        Err(error) => Err(error),
    }
}
