//! The store of the demonstration: two users, one clock.

use mnemic::memory::{MemoryId, Timestamp};
use mnemic::{Query, Store, User};

use crate::demo::cast::{ADA, Line, WEI};
use crate::failure::Result;
use crate::time::now;

/// One user with the ids of the lines.
pub(crate) struct Actor {
    pub(crate) user: User,
    pub(crate) ids: Vec<MemoryId>,
}

/// What the steps play with.
pub(crate) struct Scene {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    pub(crate) ada: Actor,
    pub(crate) wei: Actor,
}

impl Scene {
    pub(crate) fn set(store: &Store) -> Result<Self> {
        let now = now();
        let ada = Actor::store(store.user("ada")?, &ADA, now)?;
        let wei = Actor::store(store.user("wei")?, &WEI, now)?;
        Ok(Self { store: store.clone(), now, ada, wei })
    }

    /// A query at the scene's clock.
    pub(crate) fn query(&self, text: &str) -> Query {
        Query::text(text).at(self.now)
    }
}

impl Actor {
    fn store(user: User, lines: &[Line], now: Timestamp) -> Result<Self> {
        let outcomes = user.remember_all(lines.iter().map(|line| line.memory(now)))?;
        let ids = outcomes.into_iter().collect::<mnemic::Result<Vec<_>>>()?;
        Ok(Self { user, ids })
    }
}
