//! The door to the clock, to randomness, ids, threads and the file system.
//!
//! Nothing else in the library asks the operating system for any of these, so a test can decide all
//! of them from one seed: [`World::system`] is the real thing, `testing::TestWorld` the settable one.
#![cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "the feature `testing` makes this room public"))]
#![cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unused_imports, reason = "the seams are wider than what one build uses")
)]

mod clock;
mod files;
mod fs;
mod ids;
mod random;
mod system_fs;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thread;

use std::fmt;
use std::sync::{Arc, LazyLock};

pub use clock::{Clock, SystemClock};
pub use files::{file_error, is_same_file, read_to_vec, retry_interrupted, write_new_durable};
pub use fs::{File, FileId, FileSystem, Metadata, OpenMode};
pub use random::{Random, SystemRandom};
pub use system_fs::SystemFs;
pub use thread::{JoinHandle, Process, SystemProcess, yield_now};

use crate::error::Result;
use ids::IdSource;

/// Everything that comes from outside the library. Clones are cheap and share all state.
#[derive(Clone)]
pub struct World {
    parts: Arc<Parts>,
}

struct Parts {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    process: Arc<dyn Process>,
    fs: Arc<dyn FileSystem>,
    ids: IdSource,
}

impl World {
    /// The operating system's clock, randomness, threads and files: one world for the whole process.
    pub fn system() -> Self {
        static SYSTEM: LazyLock<World> = LazyLock::new(|| {
            let clock = Arc::new(SystemClock::default());
            World::new(clock, Arc::new(SystemRandom), Arc::new(SystemProcess), Arc::new(SystemFs))
        });
        SYSTEM.clone()
    }

    /// A world of the given parts.
    pub fn new(
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        process: Arc<dyn Process>,
        fs: Arc<dyn FileSystem>,
    ) -> Self {
        Self { parts: Arc::new(Parts { clock, random, process, fs, ids: IdSource::default() }) }
    }

    /// Microseconds since 1970 UTC, saturating. May step back when the system's clock does.
    pub fn now_micros(&self) -> i64 {
        self.parts.clock.now_micros()
    }

    /// Microseconds since some fixed instant; never steps back. For durations only.
    pub fn monotonic_micros(&self) -> u64 {
        self.parts.clock.monotonic_micros()
    }

    /// Fills `buffer` with bytes fit for keys.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): the operating system gave no randomness; `buffer` is not to be used.
    pub fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        self.parts.random.fill(buffer)
    }

    /// A new `UUIDv7`, greater than every id this world gave before, also when the clock steps back.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): the operating system gave no randomness.
    pub fn new_id(&self) -> Result<[u8; 16]> {
        self.parts.ids.next(self.now_micros(), self.parts.random.as_ref())
    }

    /// The number of this process. Differs in a forked child.
    pub fn process_id(&self) -> u32 {
        self.parts.process.id()
    }

    /// A variable of the process's environment; `None` where it is not set, or not text.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.parts.process.variable(name)
    }

    /// Starts a named thread.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): the operating system gave no thread.
    pub fn spawn<F>(&self, name: &str, body: F) -> Result<JoinHandle>
    where
        F: FnOnce() + Send + 'static,
    {
        self.parts.process.spawn(name, Box::new(body))
    }

    /// The file system.
    pub fn fs(&self) -> &dyn FileSystem {
        self.parts.fs.as_ref()
    }

    /// The file system, for keeping.
    pub fn shared_fs(&self) -> Arc<dyn FileSystem> {
        Arc::clone(&self.parts.fs)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("fs", &self.parts.fs).finish_non_exhaustive()
    }
}
