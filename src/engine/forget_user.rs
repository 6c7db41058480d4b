//! Forgetting a user: the keys go first, and with them everything.

use crate::codec::head::SlotRef;
use crate::codec::keyring::Copy;
use crate::codec::Table;
use crate::engine::core::Core;
use crate::engine::forget::Forgotten;
use crate::engine::head::{self, Found, Repair};
use crate::engine::transaction::{Rekey, Transaction};
use crate::error::{Error, Result};
use crate::memory::UserId;
use crate::seal::{Keyring, SlotOwner};

impl Core {
    /// Overwrites the user's keys, which needs no free space, then removes the rows.
    pub(crate) fn forget_user(&self, user: &UserId) -> Result<Forgotten> {
        let hash = self.user_hash(user);
        self.write(hash, true, move |transaction| transaction.forget_user(hash))
    }
}

impl Transaction<'_> {
    fn forget_user(&mut self, user: crate::codec::UserHash) -> Result<Forgotten> {
        let core = self.core;
        let Found::Live(head) = head::load(core, &self.view, user, Repair::No)? else {
            return Err(Error::not_found("user: nothing is stored"));
        };
        let owner = SlotOwner { user, generation: head.slot.generation, epoch: head.slot.epoch };
        let erased = Keyring::erased_slot(owner, self.now);
        let shard = core.shard_number(user) as u32;
        core.keyring.write_intent(shard, Some(user))?;
        for copy in [Copy::A, Copy::B] {
            core.keyring.write_slot(head.slot.slot, copy, &erased)?;
            core.keyring.sync()?;
        }
        // From here on the user is forgotten, whatever happens to the rest.
        self.remove_rows(user)?;
        let gone = SlotRef { erased: true, ..head.slot };
        self.job.put(Table::Users, &user.0, gone.encode(&[]));
        self.rekey = Some(Rekey::Erased { user });
        Ok(Forgotten {
            memories: head.facts.live,
            references: 0,
            generation: head.slot.generation,
            epoch: head.slot.epoch,
        })
    }
}
