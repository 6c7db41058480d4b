use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Builder, StoreStats, User, UserCursor, UserPage};
use crate::engine::{
    Core, Diagnosis, EmbedProgress, Forgotten, Maintenance, Receipt, Repaired, Restored, Snapshot, Verdict,
};
use crate::error::{Error, Result};
use crate::memory::{Calibration, SnapshotId, UserId};
use crate::seal::MasterKey;

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

    /// Changes the master key: from now on only `new` opens the store. Nothing but the header of the KEYRING is written.
    ///
    /// A crash leaves the old key or the new one in force; the next open takes what is left of the other off the disk.
    /// Who has read the keys of the store with the old master key still has them, and old copies of the KEYRING open
    /// with it: change the keys of the users too, where that matters ([`User::rotate_keys`]).
    ///
    /// ```
    /// use mnemic::{MasterKey, Store};
    ///
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("memory");
    /// let store = Store::open(&path)?; // a key file beside it
    /// store.rotate_keys(&MasterKey::passphrase("correct horse battery staple"))?;
    /// store.close()?;
    /// assert!(Store::open(&path).is_err());
    /// Store::builder(&path).master_key(MasterKey::passphrase("correct horse battery staple")).open()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Invalid`](crate::ErrorKind::Invalid): the passphrase is empty or too long. [`Denied`](crate::ErrorKind::Denied):
    ///   the callback failed. Nothing was changed.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed. The message says which key opens the store.
    ///
    /// # Cost
    ///
    /// Two syncs, and for a key file up to five more; for a passphrase a tenth of a second.
    pub fn rotate_keys(&self, new: &MasterKey) -> Result<()> {
        self.core.rotate_master(new)
    }

    /// Whether a receipt of [`forget`](User::forget) or [`forget_user`](Self::forget_user) holds: this store gave it,
    /// and neither the KEYRING nor the user's shard nor a snapshot has a key that opens what was forgotten.
    ///
    /// It holds for good: also after upkeep, restores, new keys, and the return of the user. It breaks when older
    /// files are put back into the store. Copies of the directory that lie elsewhere are beyond its sight.
    ///
    /// ```
    /// use mnemic::{Receipt, Store, Verdict, memory::NewMemory};
    ///
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path().join("memory"))?;
    /// let ada = store.user("ada")?;
    /// let id = ada.remember(NewMemory::note("Met the wombat"))?;
    /// let receipt = ada.forget(id)?.receipt().to_string(); // keep it with the request
    /// assert_eq!(store.verify_receipt(&receipt.parse::<Receipt>()?)?, Verdict::Holds);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): something can't be read. Damage is a [`Verdict::Broken`] that names it.
    ///
    /// # Cost
    ///
    /// Reads the user's chunk keys, 64 bytes for each 256 memories, and its keys in each snapshot; writers of the shard
    /// wait.
    pub fn verify_receipt(&self, receipt: &Receipt) -> Result<Verdict> {
        self.core.verify_receipt(receipt)
    }

    /// Copies every memory of every user, to go back to when something was a mistake. No backup: it lies in the store
    /// and needs the keys of the store. At most [`SNAPSHOTS_MAX`](crate::memory::limits::SNAPSHOTS_MAX) are kept.
    ///
    /// Reading and writing go on meanwhile; each shard is copied as of one moment. [Forgetting](User::forget) a memory
    /// waits until the snapshot is done, and takes the memory out of it: what is forgotten can't be restored.
    ///
    /// ```
    /// use mnemic::{Store, Update, memory::NewMemory};
    ///
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("memory");
    /// let store = Store::open(&path)?;
    /// let ada = store.user("ada")?;
    /// let seat = ada.remember(NewMemory::preference("Prefers window seats"))?;
    /// let snapshot = store.snapshot()?;
    /// ada.update(seat, Update::new().text("Prefers wombats"))?;
    /// ada.remember(NewMemory::fact("Is a wombat"))?;
    /// let done = store.restore_user(snapshot.id, "ada")?;
    /// assert_eq!((done.restored, done.archived), (1, 1));
    /// assert_eq!(ada.get(seat)?.text(), "Prefers window seats");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Unsupported`](crate::ErrorKind::Unsupported): there are as many as are kept; delete one.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed or is full; there is no new snapshot, unless
    ///   [`snapshots`](Self::snapshots) names it.
    ///
    /// Damaged values don't stop it: [`Snapshot::damaged`] names what is not in it, [`Snapshot::without_vector`] what is
    /// in it without its vector.
    ///
    /// # Cost
    ///
    /// Reads and seals every record and vector: their size again on disk, and 130 bytes a memory. From then on each
    /// forgetting writes 130 bytes for each memory of its user, and syncs twice, in each snapshot.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.core.snapshot()
    }

    /// The snapshots of the store, oldest first. One that is damaged says so.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): they can't be read.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.core.snapshots()
    }

    /// Deletes a snapshot.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): there is none of this id. [`Io`](crate::ErrorKind::Io): the disk failed.
    pub fn delete_snapshot(&self, id: SnapshotId) -> Result<()> {
        self.core.delete_snapshot(id)
    }

    /// Goes back to a snapshot with each of its users; see [`restore_user`](Self::restore_user).
    ///
    /// Each user is one commit: after an error or a crash some are done and others are not, none is half done, and
    /// restoring again does the rest. Users who are not in the snapshot stay as they are; users who were forgotten since
    /// stay forgotten.
    ///
    /// # Errors
    ///
    /// Those of [`restore_user`](Self::restore_user), but for users who are gone.
    pub fn restore(&self, id: SnapshotId) -> Result<Restored> {
        self.core.restore(id)
    }

    /// Goes back to a snapshot with one user, whole or not at all.
    ///
    /// * A memory that changed since becomes what it was, as a new version; the [`history`](User::history) keeps both.
    /// * A memory that is newer than the snapshot is archived, not deleted, so that this can be undone too.
    /// * A memory that was forgotten since stays forgotten, and so do references to it.
    /// * A memory that got lost, as by damage, is stored again.
    ///
    /// # Errors
    ///
    /// * [`NotFound`](crate::ErrorKind::NotFound): there is no such snapshot, it has nothing of this user, or the user
    ///   was forgotten since.
    /// * [`Corrupt`](crate::ErrorKind::Corrupt): the snapshot's keys of this user, or the user's values, are damaged.
    ///   One damaged memory is counted and passed over.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed.
    ///
    /// # Cost
    ///
    /// Reads what the snapshot has of the user; writes what changed, in one commit.
    pub fn restore_user(&self, id: SnapshotId, user: &str) -> Result<Restored> {
        self.core.restore_user(id, &UserId::new(user)?)
    }

    /// Tidies the store for about as long as `budget`: what it does not get to, the next call begins with.
    ///
    /// * Shards of which less than two fifths are in use are written anew, and the rest goes back to the file system.
    /// * Entries of the [`history`](User::history) that are older than 30 days go.
    /// * Files of snapshots and rewrites that were cut off go.
    /// * Room for forgetting on a full disk is set aside again.
    ///
    /// Nothing has to be merged or indexed: that is done as memories come. Without any upkeep a store works all the
    /// same; it only grows. Reading goes on meanwhile.
    ///
    /// ```
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = mnemic::Store::open(dir.path().join("memory"))?;
    /// let done = store.maintain(std::time::Duration::from_secs(1))?;
    /// assert!(done.finished);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Busy`](crate::ErrorKind::Busy): another upkeep is under way.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed or is full. Nothing is lost; where the message says so, open the
    ///   store again.
    ///
    /// Damage does not stop it: [`Maintenance::damaged`] names what was passed over.
    ///
    /// # Cost
    ///
    /// Reads each shard that was written to since the last time, and writes those that are mostly free; the writers of
    /// a shard wait while it is written. A shard once begun is finished, also beyond the budget.
    pub fn maintain(&self, budget: Duration) -> Result<Maintenance> {
        self.core.maintain(budget)
    }

    /// Looks at everything that lies in the directory: pages, values, sums, keys in both copies, snapshots.
    ///
    /// Changes nothing. What it names is damaged; what it does not name is as it was written, as far as tags and sums
    /// can tell: an older copy of a whole file is seen back to the last clean close.
    ///
    /// ```
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = mnemic::Store::open(dir.path().join("memory"))?;
    /// let found = store.doctor()?;
    /// assert!(found.is_clean(), "{:?}", found.damaged);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the disk failed. Damage is no error: [`Diagnosis::damaged`] names it.
    ///
    /// # Cost
    ///
    /// Reads every shard twice and opens every value. The writers of a shard wait while it is looked at; readers don't.
    pub fn doctor(&self) -> Result<Diagnosis> {
        self.core.doctor()
    }

    /// Puts right what [`doctor`](Self::doctor) finds, as far as it can be; the rest is named. Does nothing to a store
    /// that is whole.
    ///
    /// A shard with any damage is built anew: users who are whole are copied as they are; of the others, every memory is
    /// taken from the newest record that still opens, wherever in the file it lies, and indexes are made of records
    /// alone. The damaged file stays as a copy in the directory `quarantine`, sealed as ever: what is forgotten later
    /// can't be read from it either. Copies of keys that are damaged are written from the other copy.
    ///
    /// [`Repaired::lost`] names the memories that are gone, [`Repaired::older`] those of which an older version is, or may
    /// be, what is left: it is kept and served.
    ///
    /// Afterwards such a shard answers [`Closed`](crate::ErrorKind::Closed): open the store again. Snapshots of its users
    /// are looked at by the next repair.
    ///
    /// ```
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = mnemic::Store::open(dir.path().join("memory"))?;
    /// assert!(store.repair()?.is_unchanged());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the disk failed or is full. Each shard is then as it was, or repaired.
    ///
    /// # Cost
    ///
    /// That of the doctor. For each shard that is built anew: room for the fresh file and the copy, and memory for the
    /// bytes of all shards.
    pub fn repair(&self) -> Result<Repaired> {
        self.core.repair()
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
    /// # let path = dir.path().join("memory");
    /// let store = mnemic::Store::builder(path).embedder(mnemic::HashedNgrams::new()).open()?;
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
