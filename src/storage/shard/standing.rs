use std::ops::ControlFlow;

use crate::codec::Table;
use crate::codec::standing::{Standing, UsersSum};
use crate::error::{Error, Result};
use crate::storage::ReadView;

pub(super) const LAST_SEQ: &[u8] = b"last_seq";

/// What the file says of itself, which must be that of this shard.
pub(super) fn standing_of(view: &ReadView, store_id: [u8; 16], number: u32) -> Result<Standing> {
    let found = view.get_with(Table::Meta, LAST_SEQ, Standing::decode)?;
    let found = found.ok_or_else(|| Error::corrupt(format!("shard {number:02}: last_seq is missing")))?;
    if (found.store_id, found.number) != (store_id, number) {
        return Err(Error::corrupt(format!("shard {number:02}: the file is that of another shard")));
    }
    Ok(found)
}

/// Checks that each row of `users` is there, and that whoever asks for it by its key finds it: an older page inside the
/// tree can lead elsewhere. How many there are.
pub(super) fn check_users(standing: &Standing, view: &ReadView) -> Result<u64> {
    let (shard, mut found, mut all_met) = (standing.number, UsersSum::default(), true);
    view.scan_from(Table::Users, &[], |key, _| {
        found.add(key);
        all_met &= view.get_with(Table::Users, key, |_| Ok(()))?.is_some();
        Ok(ControlFlow::Continue(()))
    })?;
    if !all_met {
        return Err(Error::corrupt(format!("shard {shard:02}: the tree of table users leads astray")));
    }
    if found == standing.users {
        return Ok(found.count);
    }
    let (found, expected) = (found.count, standing.users.count);
    Err(Error::corrupt(format!("shard {shard:02}: users are missing or extra ({found}, not {expected})")))
}
