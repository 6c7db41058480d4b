//! Receipts of forgettings, and whether what they say still holds.

use crate::codec::head::SlotRef;
use crate::codec::keyring::{Slot, SlotState};
use crate::codec::receipt::Receipt;
use crate::codec::table::hashed;
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::engine::head::{self, Found, Head, Repair};
use crate::engine::snapshot::{Epoch, is_forgotten};
use crate::engine::transaction::Transaction;
use crate::error::{ErrorKind, Result};
use crate::memory::{SnapshotId, Timestamp};
use crate::seal::same_tag;

/// Whether a receipt holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// This store gave it, and no key is left that opens what was forgotten.
    Holds,
    /// This store never gave it: it is of another store, or was changed.
    Forged,
    /// This store gave it, but keys of what was forgotten are there, as after older files were put back. Says where.
    Broken(Vec<String>),
}

impl Core {
    /// The receipt of a forgetting. `epoch` is the last one that is gone.
    pub(crate) fn receipt(
        &self,
        (user, generation, epoch): (UserHash, u32, u64),
        memory: Option<[u8; 16]>,
        at: Timestamp,
    ) -> Receipt {
        let mut receipt = Receipt { user, generation, epoch, memory, at: at.as_micros(), tag: [0; 32] };
        receipt.tag = self.keyring.receipt_tag(&receipt.body());
        receipt
    }

    pub(crate) fn verify_receipt(&self, receipt: &Receipt) -> Result<Verdict> {
        self.check_open()?;
        let authentic = same_tag(&receipt.tag, &self.keyring.receipt_tag(&receipt.body()));
        sabotage!(41, let authentic = true);
        if !authentic {
            return Ok(Verdict::Forged);
        }
        let (user, receipt) = (receipt.user, receipt.clone());
        // As a job of its own: no forgetting is half done meanwhile.
        match self.write(user, true, move |transaction| transaction.remains_of(&receipt)) {
            Ok(remains) if remains.is_empty() => Ok(Verdict::Holds),
            Ok(remains) => Ok(Verdict::Broken(remains)),
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(Verdict::Broken(vec![error.message().to_owned()])),
            Err(error) => Err(error),
        }
    }

    /// Whether a snapshot has a key of the memory. One whose keys of the user do not open has none: the key that
    /// sealed them is gone.
    fn snapshot_holds(
        &self,
        transaction: &Transaction<'_>,
        id: SnapshotId,
        head: &Head,
        hash: [u8; 16],
    ) -> Result<bool> {
        let reader = self.directory.snapshots().open(&self.keyring, id)?;
        let Some(entry) = reader.entry(head.user, head.slot.generation)? else { return Ok(false) };
        let epoch = Epoch::new(head.user, head.slot.generation, head.slot.epoch, head.keys.clone());
        let file = reader.keys()?;
        for copy in [crate::codec::keyring::Copy::A, crate::codec::keyring::Copy::B] {
            let Some(section) = epoch.open(self, &reader, &file, &entry, copy)? else { continue };
            if section.rows.iter().any(|row| row.id == hash && is_forgotten(&transaction.view, &entry, row)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Transaction<'_> {
    /// Where keys are left that the receipt says are gone.
    fn remains_of(&self, receipt: &Receipt) -> Result<Vec<String>> {
        let user = receipt.user;
        let Some(row) = self.view.get(Table::Users, &user.0)? else {
            return Ok(vec![format!("users: nothing of {user}; the shard is older than the receipt")]);
        };
        let (row, _) = SlotRef::decode(&row)?;
        let mut remains = Vec::new();
        if row.generation < receipt.generation || !row.erased && receipt.covers(row.generation, row.epoch) {
            remains.push(format!("users: {user} is as it was before the forgetting"));
        }
        self.keys_in_slot(receipt, &row, &mut remains)?;
        if remains.is_empty() {
            self.keys_in_shard(receipt, &mut remains)?;
        }
        Ok(remains)
    }

    fn keys_in_slot(&self, receipt: &Receipt, row: &SlotRef, remains: &mut Vec<String>) -> Result<()> {
        let copies = self.core.keyring.read_slot(row.slot)?;
        let is_left = |slot: &Slot| slot.state == SlotState::Live && receipt.covers(slot.generation, slot.epoch);
        for (name, copy) in [("A", copies.a), ("B", copies.b)] {
            let user = receipt.user;
            match copy {
                // What does not authenticate may still hold the key.
                None => remains.push(format!("KEYRING: copy {name} of the slot of {user} is damaged")),
                Some(slot) if is_left(&slot) || slot.user != user => {
                    remains.push(format!("KEYRING: copy {name} of the slot of {user} holds an older key"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Chunk keys under an older user key, a missing tombstone, and keys of the memory in snapshots.
    fn keys_in_shard(&self, receipt: &Receipt, remains: &mut Vec<String>) -> Result<()> {
        let user = receipt.user;
        let head = match head::load(self.core, &self.view, user, Repair::No)? {
            Found::Live(head) => Some(head),
            Found::Absent(_) => None,
        };
        let mut older = 0;
        self.view.scan_user(Table::Keys, user, |key, bytes| {
            let opens = head.as_ref().is_some_and(|head| head.open_chunk_key(self.core, key, bytes).is_ok());
            older += u64::from(!opens);
            Ok(())
        })?;
        if older > 0 {
            remains.push(format!("keys: {older} of {user} are not under the key that lives"));
        }
        let of_this_life = head.filter(|head| head.slot.generation == receipt.generation);
        let (Some(head), Some(hash)) = (of_this_life, receipt.memory) else { return Ok(()) };
        if self.view.get(Table::Tombstones, &hashed(user, hash))?.is_none() {
            remains.push(format!("tombstones: that of the memory is missing for {user}"));
        }
        for id in self.core.directory.snapshots().ids()? {
            match self.core.snapshot_holds(self, id, &head, hash) {
                Ok(true) => remains.push(format!("snapshot {id}: has the memory")),
                Ok(false) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Receipt {
    /// Whether keys of this life and epoch should be gone.
    fn covers(&self, generation: u32, epoch: u64) -> bool {
        generation < self.generation || generation == self.generation && epoch <= self.epoch
    }
}
