use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::api::{Builder, StoreStats, User, UserCursor, UserPage};
use crate::engine::{Core, EmbedProgress, Forgotten};
use crate::error::{Error, Result};
use crate::memory::{Calibration, UserId};

/// An open store: one directory, many users. Clones are cheap and share it; it is `Send + Sync`.
///
/// ```
/// use mnemic::{memory::NewMemory, HashedNgrams, Query, Store};
///
/// # fn main() -> mnemic::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("memory");
/// let store = Store::builder(&path).embedder(HashedNgrams::new()).open()?;
/// let ada = store.user("ada")?;
/// ada.remember(NewMemory::preference("Prefers window seats"))?;
/// let hits = ada.recall(&Query::text("window or aisle seat?"))?;
/// assert_eq!(hits[0].memory().text(), "Prefers window seats");
/// store.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    core: Arc<Core>,
}

impl Store {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: Arc::new(core) }
    }

    /// Opens the store in a directory, or makes it, with every option at its default.
    ///
    /// # Errors
    ///
    /// Those of [`Builder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder(path).open()
    }

    /// Options for opening the store in a directory.
    pub fn builder(path: impl AsRef<Path>) -> Builder {
        Builder::new(path.as_ref())
    }

    /// The handle of one user. Creates nothing: a user exists from the first memory on.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): the id is empty, only white space, or over 512 bytes.
    pub fn user(&self, id: &str) -> Result<User> {
        Ok(User::new(Arc::clone(&self.core), UserId::new(id)?))
    }

    /// A page of the users who have memories, in an order that tells nothing. For the operator.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): `limit` is 0. [`Corrupt`](crate::ErrorKind::Corrupt),
    /// [`Io`](crate::ErrorKind::Io): a shard can't be read.
    pub fn users(&self, after: Option<UserCursor>, limit: usize) -> Result<UserPage> {
        if limit == 0 {
            return Err(Error::invalid("limit: must be at least 1"));
        }
        let (users, next) = self.core.users(after.map(|cursor| cursor.0), limit)?;
        Ok(UserPage { users, next: next.map(UserCursor) })
    }

    /// How many users have memories.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ErrorKind::Corrupt), [`Io`](crate::ErrorKind::Io): a shard can't be read.
    pub fn user_count(&self) -> Result<u64> {
        self.core.user_count()
    }

    /// Forgets a user completely: the keys are destroyed first, and with them every byte ever sealed for the user.
    ///
    /// Needs no free space. When this returns `Ok`, nobody who has the directory and the master key can read anything
    /// of it. A user who comes back starts anew.
    ///
    /// # Errors
    ///
    /// * [`NotFound`](crate::ErrorKind::NotFound): nothing is stored for this user.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed. Open the store again: the user is then there or gone, never
    ///   half.
    ///
    /// # Cost
    ///
    /// Three syncs and the removal of the rows.
    pub fn forget_user(&self, id: &str) -> Result<Forgotten> {
        self.core.forget_user(&UserId::new(id)?)
    }

    /// Derives how the cosines of the stored vectors read, and publishes it as a new version.
    ///
    /// Compares at most 300,000 random pairs of memories of the same user; their 5 % quantile becomes the cosine that
    /// scores 0, the 99.9 % quantile the one that scores 1.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](crate::ErrorKind::Unsupported): fewer than two vectors of one user are stored.
    pub fn calibrate(&self) -> Result<Calibration> {
        self.core.calibrate()
    }

    /// Embeds the memories that are pending: stored while the embedder failed, or before there was one.
    ///
    /// Other calls go on meanwhile. `on_progress` hears how far it has come after every commit and every user, and may
    /// stop it; what is embedded stays so, and the next call goes on from there. A memory that changes while it is
    /// embedded is left for the next call.
    ///
    /// # Errors
    ///
    /// * [`Unsupported`](crate::ErrorKind::Unsupported): no embedder, or one of another model than the stored vectors;
    ///   the message names both. See [`reembed`](Self::reembed).
    /// * [`Busy`](crate::ErrorKind::Busy): the embedder is unavailable. Try again later.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed.
    ///
    /// # Cost
    ///
    /// The embedder's, and a commit for each user with pending memories.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = mnemic::Store::open(dir.path().join("memory"))?;
    /// let done = store.embed_pending(|progress| {
    ///     println!("{} of {} users", progress.users_done, progress.users);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(done.refused, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn embed_pending(
        &self,
        mut on_progress: impl FnMut(&EmbedProgress) -> ControlFlow<()>,
    ) -> Result<EmbedProgress> {
        self.core.embed_pending(&mut on_progress)
    }

    /// Changes the store to the model of its embedder: every memory gets a vector of that model.
    ///
    /// Open the store with the new embedder and call this. From that moment on the new model is the store's; each user
    /// changes over in one commit (of up to 8,192 memories), and until then is found by words. Other calls go on
    /// meanwhile. After a crash, or when `on_progress` stopped it, call it again: it goes on from where it was. Vectors
    /// of the old model are gone when it is done.
    ///
    /// # Errors
    ///
    /// Those of [`embed_pending`](Self::embed_pending), but that of another model.
    pub fn reembed(&self, mut on_progress: impl FnMut(&EmbedProgress) -> ControlFlow<()>) -> Result<EmbedProgress> {
        self.core.reembed(&mut on_progress)
    }

    /// Carries every acknowledged write to the disk. Only of use with relaxed durability.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the disk failed; open the store again.
    pub fn flush(&self) -> Result<()> {
        self.core.flush()
    }

    /// Facts of the open store.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ErrorKind::Corrupt), [`Io`](crate::ErrorKind::Io): a shard can't be read.
    pub fn stats(&self) -> Result<StoreStats> {
        StoreStats::of(&self.core)
    }

    /// Closes the store for every clone; later calls answer [`Closed`](crate::ErrorKind::Closed).
    ///
    /// Dropping the last clone closes it too, but can't tell of an error.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the last sync failed. Acknowledged durable writes are safe all the same.
    pub fn close(&self) -> Result<()> {
        self.core.close()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.core.directory.path()).finish_non_exhaustive()
    }
}
