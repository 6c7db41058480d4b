//! Forgetting a user: the keys go first, and with them everything.

use crate::codec::Table;
use crate::codec::head::SlotRef;
use crate::engine::core::Core;
use crate::engine::forget::Forgotten;
use crate::engine::head::{self, Found, Head, Repair};
use crate::engine::transaction::{Rekey, Transaction};
use crate::engine::user_cell::CellState;
use crate::error::{Error, Result};
use crate::memory::UserId;
use crate::seal::SlotOwner;
use crate::storage::WriteSet;

impl Core {
    /// Overwrites the user's keys, which needs no free space, then removes the rows.
    pub(crate) fn forget_user(&self, user: &UserId) -> Result<Forgotten> {
        let hash = self.user_hash(user);
        self.finish_other(hash)?;
        self.write(hash, true, move |transaction| transaction.forget_user(hash))
    }
}

impl Transaction<'_> {
    fn forget_user(&mut self, user: crate::codec::UserHash) -> Result<Forgotten> {
        let core = self.core;
        let Found::Live(head) = head::load(core, &self.view, user, Repair::No)? else {
            return Err(Error::not_found("user: nothing is stored"));
        };
        if let Err(error) = self.erase_keys(&head) {
            // Whatever reached the disk counts: what is held in memory may be wrong by now.
            *core.cell(user).state.write() = CellState::default();
            return Err(error);
        }
        let forgotten = Forgotten {
            traces: 0,
            memories: head.facts.live,
            references: 0,
            snapshots_lost: 0,
            generation: head.slot.generation,
            epoch: head.slot.epoch,
            receipt: core.receipt((user, head.slot.generation, head.slot.epoch), None, self.now),
        };
        if let Err(error) = self.remove_rows(user) {
            // The row of `users` stays as it is and the intent open, so that the next open removes them.
            log::warn!("rows of {user} remain, without their keys: {error}");
            self.job = WriteSet::default();
            *core.cell(user).state.write() = CellState::default();
            return Ok(forgotten);
        }
        let gone = SlotRef { erased: true, ..head.slot };
        self.job.put(Table::Users, &user.0, gone.encode(&[]));
        self.rekey = Some(Rekey::Erased { user });
        Ok(forgotten)
    }

    /// Overwrites both copies of the slot. From the first one on the user is forgotten, whatever follows.
    fn erase_keys(&self, head: &Head) -> Result<()> {
        let keyring = &self.core.keyring;
        let owner = SlotOwner { user: head.user, generation: head.slot.generation, epoch: head.slot.epoch };
        keyring.write_intent(self.core.shard_number(head.user) as u32, Some(head.user))?;
        // Durable first: a forgetting without its intent would leave the rows for good.
        keyring.sync()?;
        keyring.erase(head.slot.slot, owner, self.now)
    }
}
