//! What two copies of a slot and a row of table `users` say together, whatever a crash left half done.

use super::SlotCopies;
use crate::codec::UserHash;
use crate::codec::head::SlotRef;
use crate::codec::keyring::{Copy, Slot, SlotState};
use crate::error::{Error, Result};

/// The standing of a user, and what is left to do about it.
pub(crate) enum Standing {
    /// The user lives; this slot holds the keys. Where a copy is given, it has to be overwritten with the slot.
    Live {
        /// The slot of the row's epoch.
        slot: Slot,
        /// A copy that says something else: the epoch in the shard decides.
        repair: Option<Copy>,
    },
    /// The keys are gone, but the rows are not yet: the forgetting has to be finished.
    Unfinished,
    /// The user was forgotten.
    Erased,
}

/// Decides by the rules of `docs/file-format.md`, "Keyring".
pub(crate) fn resolve(user: UserHash, row: &SlotRef, copies: SlotCopies) -> Result<Standing> {
    let written: Vec<(Copy, Slot)> =
        [(Copy::A, copies.a), (Copy::B, copies.b)].into_iter().filter_map(|(copy, slot)| Some((copy, slot?))).collect();
    if written.iter().any(|(_, slot)| slot.user != user) {
        return Err(Error::corrupt(format!("KEYRING: the slot of {user} holds another user")));
    }
    let newest = written.iter().map(|(_, slot)| slot.generation).max();
    let newest =
        newest.ok_or_else(|| Error::corrupt(format!("KEYRING: both copies of the slot of {user} are damaged")))?;
    let erased = written.iter().find(|(_, slot)| slot.generation == newest && slot.state == SlotState::Erased);
    match (row.erased, erased) {
        (true, None) if newest <= row.generation => {
            Err(Error::corrupt(format!("KEYRING: older than the forgetting of {user}")))
        }
        (true, _) => Ok(Standing::Erased),
        (false, _) if newest < row.generation => {
            Err(Error::corrupt(format!("KEYRING: older than the return of {user}")))
        }
        (false, Some(_)) => Ok(Standing::Unfinished),
        // A later life was begun, so this one was forgotten, and a crash kept its rows.
        (false, None) if newest > row.generation => Ok(Standing::Unfinished),
        (false, None) => live(user, row, written),
    }
}

fn live(user: UserHash, row: &SlotRef, written: Vec<(Copy, Slot)>) -> Result<Standing> {
    let fits = |slot: &Slot| slot.generation == row.generation && slot.epoch == row.epoch;
    let stale = [Copy::A, Copy::B].into_iter().find(|copy| !written.iter().any(|(c, slot)| c == copy && fits(slot)));
    let slot = written.into_iter().map(|(_, slot)| slot).find(fits);
    let slot = slot.ok_or_else(|| Error::corrupt(format!("KEYRING: not of the same time as the rows of {user}")))?;
    Ok(Standing::Live { slot, repair: stale })
}
