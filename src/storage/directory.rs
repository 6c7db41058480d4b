mod creation;

use std::fmt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::codec::manifest::{self, Manifest};
use crate::error::{Error, Result};
use crate::memory::Space;
use crate::seal::{Keyring, MasterKey, Suite};
use crate::storage::{Look, Rebuilt, Shard, Snapshots, reserve};
use crate::world::{File, World, file_error, read_to_vec, retry_interrupted, write_new_durable};

const MANIFEST: &str = "MANIFEST";
const CREATING: &str = "CREATING";
const LOCK: &str = "LOCK";
const SHARDS: &str = "shards";
const SNAPSHOTS: &str = "snapshots";
const QUARANTINE: &str = "quarantine";

/// How to open a store.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) master: MasterKey,
    /// Shards of a new store; `None` takes what is there, or the default.
    pub(crate) shards: Option<u32>,
    /// Whether a missing store is made.
    pub(crate) create: bool,
    pub(crate) reserve_bytes: u64,
    /// Cipher suite of a new store; `None` takes the fastest.
    pub(crate) suite: Option<Suite>,
}

/// The directory of an open store, held by its lock.
pub(crate) struct Directory {
    path: PathBuf,
    world: World,
    manifest: Mutex<Manifest>,
    reserve_bytes: u64,
    process_id: u32,
    lock: Mutex<Option<Box<dyn File>>>,
}

/// Everything of a store that lies in its directory.
pub(crate) struct Opened {
    pub(crate) directory: Directory,
    pub(crate) keyring: Keyring,
    pub(crate) shards: Vec<Result<Shard>>,
}

impl Directory {
    /// Opens the store in `path`, or makes one.
    ///
    /// # Errors
    ///
    /// `Busy`: another handle holds it. `NotFound`: there is none and none is to be made. `Invalid`: the directory
    /// holds something else, or the number of shards differs. `Denied`, `Corrupt`, `Unsupported`, `Io`.
    pub(crate) fn open(world: &World, path: &Path, setup: &Setup) -> Result<Opened> {
        let found = creation::look(world, path)?;
        if found == creation::Found::Nothing && !setup.create {
            return Err(Error::not_found(format!("no store in the directory {}", path.display())));
        }
        creation::create_dir(world, path)?;
        let lock = take_lock(world, path)?;
        let keyring = match creation::look(world, path)? {
            creation::Found::Store => None,
            creation::Found::Nothing => Some(creation::create(world, path, setup)?),
        };
        // A store that is refused is left as it is.
        let manifest = read_manifest(world, path)?;
        creation::remove_strays(world, path)?;
        let suite = Suite::from_code(manifest.suite)?;
        if let Some(shards) = setup.shards.filter(|shards| *shards != manifest.shards) {
            return Err(Error::invalid(format!("shards: {shards} asked for, the store has {}", manifest.shards)));
        }
        let keyring = match keyring {
            Some(keyring) => keyring,
            None => Keyring::open(world, path, manifest.store_id, &setup.master)?,
        };
        if keyring.suite() != suite {
            return Err(Error::corrupt("KEYRING: of another cipher suite than MANIFEST says"));
        }
        Snapshots::new(world, path.join(SNAPSHOTS), manifest.store_id).remove_strays()?;
        // A name that an earlier process gave a rewritten shard must outlive what is written to it from now on.
        sync_names(world, &path.join(SHARDS))?;
        let shards = open_shards(world, &path.join(SHARDS), &manifest, &keyring.clean_sequences());
        let directory = Self {
            path: path.to_owned(),
            world: world.clone(),
            manifest: Mutex::new(manifest),
            reserve_bytes: setup.reserve_bytes,
            process_id: world.process_id(),
            lock: Mutex::new(Some(lock)),
        };
        Ok(Opened { directory, keyring, shards })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn store_id(&self) -> [u8; 16] {
        self.manifest.lock().store_id
    }

    /// The embedding spaces of the store, by number.
    pub(crate) fn spaces(&self) -> Vec<Space> {
        self.manifest.lock().spaces.clone()
    }

    /// Replaces the list of spaces, durably.
    pub(crate) fn set_spaces(&self, spaces: Vec<Space>) -> Result<()> {
        let mut manifest = self.manifest.lock();
        let next = Manifest { spaces, ..manifest.clone() };
        write_new_durable(self.world.fs(), &self.path.join(MANIFEST), &next.encode())?;
        *manifest = next;
        Ok(())
    }

    /// A handle that came through a fork must not touch the store: its writes would be lost without a word.
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.world.process_id() == self.process_id {
            return Ok(());
        }
        Err(Error::closed("this handle belongs to the parent of a forked process; open the store again"))
    }

    /// Lets others open the store, though clones of the handle may live on.
    pub(crate) fn unlock(&self) {
        drop(self.lock.lock().take());
    }

    /// A look at a shard's file, whether it serves or not. Nothing may be committed meanwhile.
    pub(crate) fn look(&self, number: u32) -> Result<Look> {
        Look::at(&self.world, &self.path.join(SHARDS), self.store_id(), number)
    }

    /// A fresh shard, to take the place of a damaged one.
    pub(crate) fn rebuilt(&self, number: u32, last_seq: u64) -> Result<Rebuilt> {
        let shards = self.path.join(SHARDS);
        creation::create_dir(&self.world, &shards)?;
        Rebuilt::new(&self.world, &shards, self.store_id(), number, last_seq)
    }

    /// The bytes of every shard, also of those that were put aside: wherever a value may be found.
    pub(crate) fn carvable(&self) -> Result<Vec<Vec<u8>>> {
        let mut files = Vec::new();
        for dir in [self.path.join(SHARDS), self.path.join(QUARANTINE)] {
            let names = match retry_interrupted(|| self.world.fs().list(&dir)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
                other => other.map_err(|error| file_error("list", &dir, error))?,
            };
            for name in names.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "redb")) {
                files.extend(read_to_vec(self.world.fs(), &dir.join(name), usize::MAX)?);
            }
        }
        Ok(files)
    }

    /// Where damaged files are kept.
    pub(crate) fn quarantine(&self) -> PathBuf {
        self.path.join(QUARANTINE)
    }

    /// Which of the two copies of MANIFEST are not what the store goes by.
    pub(crate) fn damaged_manifest_copies(&self) -> Result<Vec<&'static str>> {
        let bytes = read_to_vec(self.world.fs(), &self.path.join(MANIFEST), manifest::BYTES_MAX as usize)?;
        let (bytes, known) = (bytes.unwrap_or_default(), self.manifest.lock().encode());
        let half = known.len() / 2;
        let is_whole = |at: usize| bytes.get(at..at + half) == known.get(at..at + half);
        let whole = [("A", is_whole(0)), ("B", is_whole(half) && bytes.len() == known.len())];
        Ok(whole.into_iter().filter(|(_, whole)| !whole).map(|(name, _)| name).collect())
    }

    /// Writes both copies of MANIFEST anew.
    pub(crate) fn rewrite_manifest(&self) -> Result<()> {
        self.set_spaces(self.spaces())
    }

    /// The store's snapshots.
    pub(crate) fn snapshots(&self) -> Snapshots<'_> {
        Snapshots::new(&self.world, self.path.join(SNAPSHOTS), self.store_id())
    }

    /// Removes unfinished snapshots and rewritten shards; how many files. Neither may be under way.
    pub(crate) fn remove_strays(&self) -> Result<u32> {
        Ok(self.snapshots().remove_strays()? + creation::remove_temporaries(&self.world, &self.path.join(SHARDS))?)
    }

    /// Makes room on a full disk.
    pub(crate) fn release_reserve(&self) -> Result<()> {
        reserve::release(&self.world, &self.path)
    }

    /// Sets the room aside again, as far as there is any; the next try goes on.
    pub(crate) fn restore_reserve(&self) {
        if self.reserve_bytes == 0 {
            return;
        }
        match reserve::create(&self.world, &self.path, self.reserve_bytes) {
            Ok(there) if there == self.reserve_bytes => {}
            Ok(there) => {
                log::warn!("the disk is full: {there} of {} bytes are set aside for forgetting", self.reserve_bytes);
            }
            Err(error) => {
                log::warn!("no room is set aside for forgetting: {error}");
                let _ = reserve::release(&self.world, &self.path);
            }
        }
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").field("path", &self.path).finish_non_exhaustive()
    }
}

fn take_lock(world: &World, path: &Path) -> Result<Box<dyn File>> {
    let name = path.join(LOCK);
    let failed = |error| file_error("lock", &name, error);
    let Some(lock) = retry_interrupted(|| world.fs().try_lock(&name)).map_err(failed)? else {
        let holder = read_to_vec(world.fs(), &name, 64).ok().flatten().unwrap_or_default();
        let holder = String::from_utf8_lossy(&holder);
        let holder =
            if holder.trim().is_empty() { "another handle".to_owned() } else { format!("process {}", holder.trim()) };
        return Err(Error::busy(format!("store {} is held by {holder}", path.display())));
    };
    let pid = world.process_id().to_string();
    retry_interrupted(|| lock.set_len(0)).map_err(failed)?;
    retry_interrupted(|| lock.write_at(0, pid.as_bytes())).map_err(failed)?;
    Ok(lock)
}

fn read_manifest(world: &World, path: &Path) -> Result<Manifest> {
    let bytes = read_to_vec(world.fs(), &path.join(MANIFEST), manifest::BYTES_MAX as usize)?;
    Manifest::decode(&bytes.ok_or_else(|| Error::corrupt("MANIFEST: missing"))?)
}

fn sync_names(world: &World, dir: &Path) -> Result<()> {
    match retry_interrupted(|| world.fs().sync_dir(dir)) {
        // Then every shard says that it is missing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| file_error("sync", dir, error)),
    }
}

/// Each shard opens or fails by itself: a damaged one must not keep the others from serving.
fn open_shards(world: &World, dir: &Path, manifest: &Manifest, clean: &[u64]) -> Vec<Result<Shard>> {
    (0..manifest.shards)
        .map(|number| {
            let shard = Shard::open(world, dir, manifest.store_id, number)?;
            let (last, closed) = (shard.last_seq()?, clean.get(number as usize).copied().unwrap_or(0));
            sabotage!(22, let closed = closed.min(last));
            if last < closed {
                return Err(Error::corrupt(format!(
                    "shard {number:02}: an older copy (commit {last}, closed at {closed})"
                )));
            }
            Ok(shard)
        })
        .collect()
}
