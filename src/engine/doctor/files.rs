//! The files beside the shards: MANIFEST and KEYRING, each in two copies.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Damage, told};
use crate::codec::head::SlotRef;
use crate::codec::keyring::Copy;
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::error::Result;

/// A slot, whose it is, and the copies that don't authenticate.
type DamagedSlot = (u32, Option<UserHash>, Vec<Copy>);

impl Core {
    pub(super) fn examine_files(&self) -> Result<Vec<Damage>> {
        let mut damaged = Vec::new();
        for copy in self.directory.damaged_manifest_copies()? {
            damaged.push(Damage::of("MANIFEST", format!("copy {copy} is damaged")));
        }
        for copy in self.keyring.damaged_header_copies()? {
            damaged.push(Damage::of("KEYRING", format!("copy {copy} of the header is damaged")));
        }
        let all_serve = (0..self.shard_count()).all(|number| self.shard_at(number).serving().is_ok());
        for (slot, user, copies) in self.damaged_slots()? {
            // What a power cut left of a user who never came to be, or of one who was coming back.
            let is_nobodys = user.map_or(all_serve, |user| copies.len() == 1 && self.is_forgotten(user));
            if is_nobodys {
                continue;
            }
            for copy in copies {
                let says = format!("copy {copy:?} of slot {slot} is damaged");
                damaged.push(user.map_or_else(|| Damage::of("KEYRING", &says), |user| Damage::of_slot(user, &says)));
            }
        }
        Ok(damaged)
    }

    fn is_forgotten(&self, user: UserHash) -> bool {
        let row = self.read(user).and_then(|view| view.get(Table::Users, &user.0));
        let slot = row.ok().flatten().and_then(|row| SlotRef::decode(&row).ok().map(|(slot, _)| slot));
        slot.is_some_and(|slot| slot.erased)
    }

    /// Slots of which a copy does not authenticate, and whose they are.
    pub(crate) fn damaged_slots(&self) -> Result<Vec<DamagedSlot>> {
        let owners = self.slot_owners()?;
        let mut damaged = Vec::new();
        for slot in 0..self.keyring.slot_count() {
            let owner = owners.get(&slot).copied();
            let copies = self.keyring.damaged_copies(slot, owner.is_some())?;
            if !copies.is_empty() {
                damaged.push((slot, owner, copies));
            }
        }
        let beyond = owners.range(self.keyring.slot_count()..);
        damaged.extend(beyond.map(|(slot, user)| (*slot, Some(*user), vec![Copy::A, Copy::B])));
        Ok(damaged)
    }

    /// The users of the shards that serve, by their slots.
    fn slot_owners(&self) -> Result<BTreeMap<u32, UserHash>> {
        let mut owners = BTreeMap::new();
        for number in 0..self.shard_count() {
            let Ok(view) = self.shard_at(number).serving().and_then(crate::storage::Shard::read) else { continue };
            let scanned = view.scan_from(Table::Users, &[], |key, row| {
                if let (Ok(user), Ok((slot, _))) = (key.try_into(), SlotRef::decode(row)) {
                    owners.insert(slot.slot, UserHash(user));
                }
                Ok(ControlFlow::Continue(()))
            });
            // Damage is told where the shard is looked at.
            scanned.or_else(|error| told(error).map(drop))?;
        }
        Ok(owners)
    }
}
