//! The open store, as all verbs share it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::codec::UserHash;
use crate::embed::Embedder;
use crate::engine::commit_queue::CommitQueue;
use crate::engine::head::{self, Found, Head, Repair};
use crate::engine::job::AnyJob;
use crate::engine::maintain::Upkeep;
use crate::engine::spaces::Spaces;
use crate::engine::user_cell::{UserCache, UserCell};
use crate::error::{Error, Result};
use crate::kernel::Dispatch;
use crate::memory::{Timestamp, UserId};
use crate::seal::{Keyring, Sealer};
use crate::storage::{Directory, ReadView, Setup, Shard};
use crate::world::World;

/// When an acknowledged write is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Before it is acknowledged: the default.
    #[default]
    Durable,
    /// With every n-th commit of its shard, [`flush`](crate::Store::flush) and [`close`](crate::Store::close).
    ///
    /// A crash can lose the last `every - 1` commits of each shard, newest first; what is left is whole.
    Relaxed {
        /// How many commits go together; at least 1.
        every: u32,
    },
}

/// How the engine runs.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) durability: Durability,
    pub(crate) cache_bytes: usize,
    pub(crate) kernel: Dispatch,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// Shards smaller than this are not rewritten.
    pub(crate) rewrite_min_bytes: u64,
}

/// An open store.
pub(crate) struct Core {
    pub(crate) world: World,
    pub(crate) directory: Directory,
    pub(crate) keyring: Keyring,
    pub(crate) sealer: Sealer,
    pub(crate) settings: Settings,
    pub(crate) cache: UserCache,
    pub(crate) spaces: RwLock<Spaces>,
    /// Held alone while a snapshot is taken, and shared by each forgetting of a memory.
    pub(crate) snapshotting: RwLock<()>,
    pub(crate) upkeep: Mutex<Upkeep>,
    shards: Vec<ShardState>,
    closed: AtomicBool,
}

/// A shard with its queue.
pub(crate) struct ShardState {
    shard: Result<Shard>,
    pub(crate) queue: CommitQueue<Box<dyn AnyJob>>,
    /// Set for good when the outcome of a commit could not be found out.
    broken: Mutex<Option<Error>>,
    pub(crate) last_seq: AtomicU64,
    /// Commits that a later one has to carry to the disk.
    pub(crate) unsynced: AtomicU32,
    /// Whether table `users` was found complete in this process.
    pub(crate) users_checked: AtomicBool,
    /// Held alone from a commit until memory follows it.
    pub(crate) installing: RwLock<()>,
}

impl Core {
    pub(crate) fn open(world: World, path: &Path, setup: &Setup, settings: Settings) -> Result<Self> {
        let opened = Directory::open(&world, path, setup)?;
        let sealer = Sealer { suite: opened.keyring.suite(), store_id: opened.directory.store_id() };
        let spaces = Spaces::open(&opened.directory, settings.embedder.as_deref())?;
        let shards = opened.shards.into_iter().map(ShardState::new).collect();
        let core = Self {
            cache: UserCache::new(settings.cache_bytes),
            world,
            directory: opened.directory,
            keyring: opened.keyring,
            sealer,
            settings,
            spaces: RwLock::new(spaces),
            snapshotting: RwLock::new(()),
            upkeep: Mutex::default(),
            shards,
            closed: AtomicBool::new(false),
        };
        core.finish_intents()?;
        core.directory.restore_reserve();
        Ok(core)
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.world.now_micros())
    }

    /// Answers `Closed` once the store was closed, and in a forked child.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the store was closed"));
        }
        self.directory.check_process()
    }

    pub(crate) fn user_hash(&self, user: &UserId) -> UserHash {
        self.keyring.user_hash(user)
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.shards.len()
    }

    pub(crate) fn shard_number(&self, user: UserHash) -> usize {
        usize::from(user.0[0]) % self.shards.len()
    }

    pub(crate) fn shard_at(&self, number: usize) -> &ShardState {
        &self.shards[number]
    }

    pub(crate) fn shard_of(&self, user: UserHash) -> &ShardState {
        self.shard_at(self.shard_number(user))
    }

    pub(crate) fn read(&self, user: UserHash) -> Result<ReadView> {
        self.shard_of(user).serving()?.read()
    }

    /// The head of a live user as of the last installed commit; held from then on.
    pub(crate) fn head(&self, user: UserHash) -> Result<Option<Arc<Head>>> {
        // What is held may not be what a shard of unknown state has.
        self.shard_of(user).serving()?;
        let cell = self.cache.cell(user);
        if let Some(head) = &cell.state.read().head {
            return Ok(Some(Arc::clone(head)));
        }
        let mut state = cell.state.write();
        if state.head.is_none() {
            let view = self.read(user)?;
            state.head = match head::load(self, &view, user, Repair::Yes)? {
                Found::Live(head) => Some(Arc::from(head)),
                Found::Absent(_) => None,
            };
        }
        Ok(state.head.clone())
    }

    /// Hands a view and the head of exactly that moment to `read`; `None` for an unknown user.
    pub(crate) fn consistent<R>(
        &self,
        user: UserHash,
        read: impl FnOnce(&Arc<Head>, &ReadView) -> Result<R>,
    ) -> Result<Option<R>> {
        let Some(held) = self.head(user)? else { return Ok(None) };
        let view = self.read(user)?;
        if head::version_in(&view, user)? == Some(held.version) {
            return read(&held, &view).map(Some);
        }
        match head::load(self, &view, user, Repair::No)? {
            Found::Live(head) => read(&Arc::from(head), &view).map(Some),
            Found::Absent(_) => Ok(None),
        }
    }

    pub(crate) fn cell(&self, user: UserHash) -> Arc<UserCell> {
        self.cache.cell(user)
    }

    /// Closes every shard once, with a note of where each stood. Later calls answer `Closed`.
    pub(crate) fn close(&self) -> Result<()> {
        self.check_open()?;
        let flushed = self.flush();
        self.closed.store(true, Ordering::Release);
        self.cache.clear();
        let mut clean = self.keyring.clean_sequences();
        clean.resize(self.shards.len(), 0);
        let mut outcome = flushed;
        for (state, clean) in self.shards.iter().zip(&mut clean) {
            // A shard that does not serve, perhaps for its age, must not lower what the next open asks of it.
            *clean = (*clean).max(state.last_seq.load(Ordering::Acquire));
            if let Ok(shard) = &state.shard {
                outcome = outcome.and(shard.close());
            }
        }
        let outcome = outcome.and_then(|()| self.keyring.set_clean_sequences(clean));
        self.directory.unlock();
        outcome
    }
}

impl Drop for Core {
    /// What was acknowledged is safe without it; this only spares the next open some work.
    fn drop(&mut self) {
        if self.check_open().is_ok()
            && let Err(error) = self.close()
        {
            log::warn!("closing the store: {error}");
        }
    }
}

impl ShardState {
    fn new(shard: Result<Shard>) -> Self {
        let last_seq = shard.as_ref().ok().and_then(|shard| shard.last_seq().ok()).unwrap_or(0);
        Self {
            shard,
            queue: CommitQueue::default(),
            broken: Mutex::new(None),
            last_seq: AtomicU64::new(last_seq),
            unsynced: AtomicU32::new(0),
            users_checked: AtomicBool::new(false),
            installing: RwLock::new(()),
        }
    }

    /// The shard, while it can be trusted.
    pub(crate) fn serving(&self) -> Result<&Shard> {
        if let Some(error) = &*self.broken.lock() {
            return Err(error.duplicate());
        }
        self.shard.as_ref().map_err(Error::duplicate)
    }

    /// Checks, once in a process, that table `users` is complete.
    pub(crate) fn check_users(&self, view: &ReadView) -> Result<()> {
        if !self.users_checked.load(Ordering::Acquire) {
            self.serving()?.check_users(view)?;
            self.users_checked.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Where another file has taken the name of the shard's: the old one is neither read nor written any more.
    pub(crate) fn retire(&self, error: Error) {
        self.set_broken(error);
        if let Ok(shard) = &self.shard {
            shard.abandon();
        }
    }

    /// The number of the last commit, as far as this process knows.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq.load(Ordering::Acquire)
    }

    /// Refuses everything from now on.
    pub(crate) fn set_broken(&self, error: Error) {
        *self.broken.lock() = Some(error);
    }
}
