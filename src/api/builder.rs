use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::Store;
use crate::embed::Embedder;
use crate::engine::{Core, Durability, RESERVE_BYTES, REWRITE_MIN_BYTES, Settings, Setup, kernels};
use crate::error::{Error, Result};
use crate::memory::Space;
use crate::seal::MasterKey;
use crate::world::World;

/// Bytes of indexes held in memory unless said otherwise.
const CACHE_BYTES_DEFAULT: usize = 256 << 20;

/// How to open a store. Every setter states its default.
///
/// ```
/// use mnemic::{HashedNgrams, MasterKey, Store};
///
/// # fn main() -> mnemic::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("memory");
/// let store = Store::builder(&path).shards(2).embedder(HashedNgrams::new()).master_key(MasterKey::local_file()).open()?;
/// store.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Builder {
    path: PathBuf,
    world: World,
    setup: Setup,
    durability: Durability,
    cache_bytes: usize,
    kernel: Option<String>,
    embedder: Option<Arc<dyn Embedder>>,
    space: Option<Space>,
    rewrite_min_bytes: u64,
}

impl Builder {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            world: World::system(),
            setup: Setup {
                master: MasterKey::default(),
                shards: None,
                create: true,
                reserve_bytes: RESERVE_BYTES,
                suite: None,
            },
            durability: Durability::Durable,
            cache_bytes: CACHE_BYTES_DEFAULT,
            kernel: None,
            embedder: None,
            space: None,
            rewrite_min_bytes: REWRITE_MIN_BYTES,
        }
    }

    /// How many files a new store spreads its users over, 1 to 64. Default: 4. Fixed at creation; asking for another
    /// number later is an error.
    pub fn shards(mut self, shards: u32) -> Self {
        self.setup.shards = Some(shards);
        self
    }

    /// Whether a missing store is made. Default: it is.
    pub fn create(mut self, create: bool) -> Self {
        self.setup.create = create;
        self
    }

    /// Where the master key comes from. Default: a key file inside the store, which makes forgetting final but does
    /// not protect a stolen directory.
    pub fn master_key(mut self, key: MasterKey) -> Self {
        self.setup.master = key;
        self
    }

    /// When an acknowledged write is on disk. Default: before it is acknowledged.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Bytes of user indexes held in memory. Default: 256 MiB. The least recently used go first; a user larger than the
    /// whole budget is searched by vector block by block, and held alone for everything else.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Makes vectors of texts. Default: none; then texts are stored without vectors, and text queries are
    /// `Unsupported`.
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// Declares the space of the vectors that the caller brings. Default: the first vector declares it, by its length.
    pub fn space(mut self, space: Space) -> Self {
        self.space = Some(space);
        self
    }

    /// Which distance kernel to use, by name. Default: the environment variable `MNEMIC_KERNEL`, else the fastest.
    /// Every kernel gives the same bits.
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.kernel = Some(name.into());
        self
    }

    /// Another clock, randomness and file system.
    #[cfg(any(test, feature = "testing"))]
    pub fn world(mut self, world: World) -> Self {
        self.world = world;
        self
    }

    /// Bytes set aside for forgetting on a full disk.
    #[cfg(any(test, feature = "testing"))]
    pub fn reserve_bytes(mut self, bytes: u64) -> Self {
        self.setup.reserve_bytes = bytes;
        self
    }

    /// Cipher suite of a new store, by its number in the file format. Default: the fastest on this machine.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](crate::ErrorKind::Unsupported): there is no such suite.
    #[cfg(any(test, feature = "testing"))]
    pub fn suite(mut self, number: u8) -> Result<Self> {
        self.setup.suite = Some(crate::seal::Suite::from_code(number)?);
        Ok(self)
    }

    /// Shards smaller than this are not rewritten by an upkeep.
    #[cfg(any(test, feature = "testing"))]
    pub fn rewrite_min_bytes(mut self, bytes: u64) -> Self {
        self.rewrite_min_bytes = bytes;
        self
    }

    /// Opens the store, or makes it.
    ///
    /// # Errors
    ///
    /// * [`Busy`](crate::ErrorKind::Busy): another handle or process holds it; the message names the process.
    /// * [`Denied`](crate::ErrorKind::Denied): the master key is not the one of this store.
    /// * [`NotFound`](crate::ErrorKind::NotFound): there is none, and [`create`](Self::create) is off.
    /// * [`Invalid`](crate::ErrorKind::Invalid): an option breaks its limits, or the directory holds something else.
    /// * [`Conflict`](crate::ErrorKind::Conflict): the declared [`space`](Self::space) is not that of the store.
    /// * [`Corrupt`](crate::ErrorKind::Corrupt): the manifest or keyring is damaged. A damaged shard does not keep the
    ///   store from opening: calls for its users answer `Corrupt`.
    /// * [`Unsupported`](crate::ErrorKind::Unsupported): the store is of a format that this build does not read.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed.
    ///
    /// # Cost
    ///
    /// A few milliseconds, whatever the number of users and after any crash; with a passphrase a tenth of a second.
    pub fn open(self) -> Result<Store> {
        if let Durability::Relaxed { every: 0 } = self.durability {
            return Err(Error::invalid("durability: every must be at least 1"));
        }
        let kernel = self.kernel.or_else(|| self.world.variable("MNEMIC_KERNEL"));
        let kernel = kernels::choose(kernel.as_deref())?;
        let settings = Settings {
            durability: self.durability,
            cache_bytes: self.cache_bytes,
            kernel,
            embedder: self.embedder,
            rewrite_min_bytes: self.rewrite_min_bytes,
        };
        let core = Core::open(self.world, &self.path, &self.setup, settings)?;
        if let Some(space) = self.space {
            core.declare(space)?;
        }
        Ok(Store::new(core))
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("path", &self.path).field("setup", &self.setup).finish_non_exhaustive()
    }
}
