//! Creation, opening and closing of the KEYRING.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;

use super::{Keyring, NAME, find_next_slot};
use crate::codec::keyring::{self, Header, MasterKind, PAGE_BYTES};
use crate::error::{Error, ErrorKind, Result};
use crate::seal::key::same_tag;
use crate::seal::master::tidy_local;
use crate::seal::{Key, MasterKey, Suite};
use crate::world::{File, OpenMode, World, file_error, retry_interrupted};

impl Keyring {
    /// Makes the keyring of a new store, durably.
    pub(crate) fn create(
        world: &World,
        store: &Path,
        store_id: [u8; 16],
        suite: Suite,
        master: &MasterKey,
    ) -> Result<Self> {
        let (kind, master) = master.create(world, store)?;
        let (root, secret) = (Key::random(world)?, Key::random(world)?);
        let header = new_header(world, suite, store_id, kind, &master, (&root, &secret))?;
        let path = store.join(NAME);
        let failed = |error| file_error("create", &path, error);
        let file = retry_interrupted(|| world.fs().open(&path, OpenMode::CreateNewPrivate)).map_err(failed)?;
        let keyring = Self {
            path: path.clone(),
            file,
            header: Mutex::new(header),
            suite,
            root,
            secret,
            next_slot: Mutex::new(0),
            unreadable: AtomicU8::new(0),
        };
        keyring.extend_to(keyring::len_for(0))?;
        keyring.write_header()?;
        retry_interrupted(|| world.fs().sync_dir(store)).map_err(|error| file_error("sync", store, error))?;
        Ok(keyring)
    }

    /// Opens the keyring of a store with its master key.
    ///
    /// # Errors
    ///
    /// `Denied`: the key is not the one. `Corrupt`: both copies of the header are damaged.
    pub(crate) fn open(world: &World, store: &Path, store_id: [u8; 16], master: &MasterKey) -> Result<Self> {
        let path = store.join(NAME);
        let file = retry_interrupted(|| world.fs().open(&path, OpenMode::ReadWrite));
        let file = file.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::corrupt("KEYRING: missing"),
            _ => file_error("open", &path, error),
        })?;
        let (header, is_settled, unreadable) = read_header(file.as_ref(), &path)?;
        if header.store_id != store_id {
            return Err(Error::corrupt("KEYRING: of another store"));
        }
        let suite = Suite::from_code(header.suite)?;
        let fits = fits_of(header.check, store_id);
        let master = master.obtain(world, store, &header.master)?.into_iter().find(&fits);
        let master = master.ok_or_else(|| Error::denied("master key: not the key of this store"))?;
        let wrap = master.derive(WRAP);
        let root = suite.unwrap(&wrap, ROOT, &header.root_key).ok_or_else(damaged)?;
        let secret = suite.unwrap(&wrap, SECRET, &header.store_secret).ok_or_else(damaged)?;
        let next_slot = Mutex::new(find_next_slot(file.as_ref(), &path)?);
        let kind = header.master;
        let none = AtomicU8::new(0);
        let keyring = Self { path, file, header: Mutex::new(header), suite, root, secret, next_slot, unreadable: none };
        // A change of the master key may have been cut short: what another key opens must not stay.
        if !is_settled {
            keyring.write_header()?;
        }
        keyring.unreadable.store(unreadable, Ordering::Relaxed);
        tidy_local(world, store, &kind, &fits)?;
        Ok(keyring)
    }

    pub(crate) fn suite(&self) -> Suite {
        self.suite
    }

    /// `last_seq` of each shard at the last clean close; empty before the first.
    pub(crate) fn clean_sequences(&self) -> Vec<u64> {
        self.header.lock().clean.clone()
    }

    /// Notes a clean close, durably.
    pub(crate) fn set_clean_sequences(&self, clean: Vec<u64>) -> Result<()> {
        self.header.lock().clean = clean;
        self.write_header()
    }

    /// Which of the two copies of the header can't be read, or could not when the store was opened, which puts it right.
    /// Where a write was cut between them they differ; both count.
    pub(crate) fn damaged_header_copies(&self) -> Result<Vec<&'static str>> {
        let mut damaged = Vec::new();
        for (copy, name) in ["A", "B"].into_iter().enumerate() {
            let mut page = vec![0; PAGE_BYTES as usize];
            self.io("read", |file| file.read_at(copy as u64 * PAGE_BYTES, &mut page))?;
            let known = self.header.lock().clone();
            let is_whole = |read: Header| Header { clean: known.clean.clone(), ..read } == known;
            let was_unreadable = self.unreadable.load(Ordering::Relaxed) >> copy & 1 == 1;
            if was_unreadable || !Header::decode(&page).is_ok_and(is_whole) {
                damaged.push(name);
            }
        }
        Ok(damaged)
    }

    /// Writes both copies of the header, one after the other, so that one is whole at any time.
    pub(crate) fn write_header(&self) -> Result<()> {
        self.write_pages(&self.header.lock())?;
        self.unreadable.store(0, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn write_pages(&self, header: &Header) -> Result<()> {
        let page = header.encode()?;
        for copy in 0..2 {
            sabotage!(
                42,
                if copy == 1 {
                    break;
                }
            );
            self.io("write", |file| file.write_at(copy * PAGE_BYTES, &page))?;
            self.sync()?;
        }
        Ok(())
    }
}

const WRAP: &str = "mnemic master wrap";
const ROOT: &[u8] = b"root key";
const SECRET: &[u8] = b"store secret";

fn check_of(master: &Key, store_id: &[u8; 16]) -> [u8; 32] {
    master.derive("mnemic master check").mac(&[store_id])
}

fn damaged() -> Error {
    Error::corrupt("KEYRING header: damaged root key")
}

pub(super) fn new_header(
    world: &World,
    suite: Suite,
    store_id: [u8; 16],
    kind: MasterKind,
    master: &Key,
    (root, secret): (&Key, &Key),
) -> Result<Header> {
    let mut nonces = [[0; 24]; 2];
    nonces.iter_mut().try_for_each(|nonce| world.fill(nonce))?;
    let wrap = master.derive(WRAP);
    Ok(Header {
        suite: suite.code(),
        store_id,
        master: kind,
        check: check_of(master, &store_id),
        root_key: suite.wrap(&wrap, nonces[0], ROOT, root)?,
        store_secret: suite.wrap(&wrap, nonces[1], SECRET, secret)?,
        clean: Vec::new(),
    })
}

/// Whether a local key file holds the key that a header names.
fn fits_of(check: [u8; 32], store_id: [u8; 16]) -> impl Fn(&Key) -> bool {
    move |key| same_tag(&check_of(key, &store_id), &check)
}

/// A copy of another format says more than one that is damaged.
fn first_of(before: Error, error: Error) -> Error {
    if before.kind() == ErrorKind::Unsupported { before } else { error }
}

/// The first copy that is whole, and whether the other is the same. Where both are whole and differ, a write was cut
/// between them, and the first is newer.
fn read_header(file: &dyn File, path: &Path) -> Result<(Header, bool, u8)> {
    let mut pages = [vec![0; PAGE_BYTES as usize], vec![0; PAGE_BYTES as usize]];
    let (mut answer, mut unreadable) = (Err(Error::corrupt("KEYRING: too short")), 0);
    for (copy, page) in pages.iter_mut().enumerate() {
        match retry_interrupted(|| file.read_at(copy as u64 * PAGE_BYTES, page)) {
            Ok(()) => {
                let read = Header::decode(page);
                unreadable |= u8::from(read.is_err()) << copy;
                answer = answer.or_else(|before| read.map_err(|error| first_of(before, error)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(file_error("read", path, error)),
        }
    }
    answer.map(|header| (header, pages[0] == pages[1], unreadable))
}
