//! What approximate answers have measured goes to the disk with the next commit of the user, or with an upkeep.

use crate::codec::UserHash;
use crate::codec::measured::Measured;
use crate::engine::core::Core;
use crate::error::Result;

impl Core {
    /// Of a user whose index is in memory.
    pub(crate) fn measured(&self, user: UserHash) -> Option<Measured> {
        self.cache.held(user)?.state.read().index.as_ref()?.measured()
    }

    /// Stores what is newer than what is stored.
    pub(crate) fn keep_measured(&self, user: UserHash) -> Result<()> {
        let Some(measured) = self.measured(user) else { return Ok(()) };
        if self.head(user)?.is_none_or(|head| head.facts.measured == Some(measured)) {
            return Ok(());
        }
        // The commit takes it along.
        self.write(user, false, move |transaction| {
            transaction.with_user(user, |writer| {
                writer.facts();
                Ok(())
            })
        })
    }
}
