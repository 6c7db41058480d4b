use std::fmt;
use std::path::Path;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};

use crate::codec::keyring::MasterKind;
use crate::error::{Error, Result};
use crate::seal::Key;
use crate::world::{OpenMode, World, file_error, read_to_vec, retry_interrupted};

/// The name of the local key file in the store's directory.
const LOCAL_FILE: &str = "MASTERKEY";
/// The name of its successor, while the master key is changed.
const NEW_LOCAL_FILE: &str = "MASTERKEY.new";
/// Argon2id: 64 MiB, 3 passes, 1 lane (RFC 9106, second recommended option, one lane).
const ARGON2: (u32, u32, u32) = (64 * 1024, 3, 1);
/// What a KEYRING may ask of Argon2id at most: a hostile one must not exhaust the machine.
const ARGON2_MAX: (u32, u32, u32) = (1024 * 1024, 64, 16);
const PASSPHRASE_BYTES_MAX: usize = 4096;

type Callback = Arc<dyn Fn() -> std::result::Result<[u8; 32], String> + Send + Sync>;

/// Where the store's master key comes from.
#[derive(Clone, Default)]
pub struct MasterKey(Origin);

#[derive(Clone, Default)]
enum Origin {
    #[default]
    LocalFile,
    Passphrase(zeroize::Zeroizing<String>),
    Callback(Callback),
}

impl MasterKey {
    /// A random key in a file that only its owner can read, inside the store: the default.
    ///
    /// It makes forgetting final. It does not protect a stolen directory, for the key lies in it.
    pub fn local_file() -> Self {
        Self(Origin::LocalFile)
    }

    /// A key made of `passphrase` by Argon2id (64 MiB, 3 passes: about a tenth of a second at open).
    pub fn passphrase(passphrase: impl Into<String>) -> Self {
        Self(Origin::Passphrase(zeroize::Zeroizing::new(passphrase.into())))
    }

    /// A key that the caller fetches, from a key service or the system's key chain, at each open.
    ///
    /// The message of a failed callback becomes part of the error, so it must not hold the key.
    pub fn callback(fetch: impl Fn() -> std::result::Result<[u8; 32], String> + Send + Sync + 'static) -> Self {
        Self(Origin::Callback(Arc::new(fetch)))
    }

    /// Makes the key of a new store, and what the header says of it.
    pub(crate) fn create(&self, world: &World, store: &Path) -> Result<(MasterKind, Key)> {
        match &self.0 {
            Origin::LocalFile => Ok((MasterKind::LocalFile, create_local(world, store, LOCAL_FILE)?)),
            _ => self.prepare(world, store),
        }
    }

    /// The same for a store that has another key yet: a local file waits under another name.
    pub(crate) fn prepare(&self, world: &World, store: &Path) -> Result<(MasterKind, Key)> {
        match &self.0 {
            Origin::LocalFile => {
                drop_new_local(world, store)?;
                Ok((MasterKind::LocalFile, create_local(world, store, NEW_LOCAL_FILE)?))
            }
            Origin::Passphrase(passphrase) => {
                let mut salt = [0; 16];
                world.fill(&mut salt)?;
                let kind = MasterKind::Passphrase { salt, memory_kib: ARGON2.0, passes: ARGON2.1, lanes: ARGON2.2 };
                Ok((kind, stretch(passphrase, &salt, ARGON2)?))
            }
            Origin::Callback(fetch) => Ok((MasterKind::Callback, call(fetch)?)),
        }
    }

    /// The keys that may be that of an existing store whose header says `kind`.
    pub(crate) fn obtain(&self, world: &World, store: &Path, kind: &MasterKind) -> Result<Vec<Key>> {
        match (&self.0, *kind) {
            (Origin::LocalFile, MasterKind::LocalFile) => read_local(world, store),
            (Origin::Passphrase(passphrase), MasterKind::Passphrase { salt, memory_kib, passes, lanes }) => {
                Ok(vec![stretch(passphrase, &salt, (memory_kib, passes, lanes))?])
            }
            (Origin::Callback(fetch), MasterKind::Callback) => Ok(vec![call(fetch)?]),
            (_, MasterKind::LocalFile) => Err(Error::denied("master key: this store uses its local key file")),
            (_, MasterKind::Passphrase { .. }) => Err(Error::denied("master key: this store needs a passphrase")),
            (_, MasterKind::Callback) => Err(Error::denied("master key: this store needs the caller's key")),
        }
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Origin::LocalFile => "MasterKey::LocalFile",
            Origin::Passphrase(_) => "MasterKey::Passphrase(..)",
            Origin::Callback(_) => "MasterKey::Callback(..)",
        })
    }
}

fn stretch(passphrase: &str, salt: &[u8; 16], (memory_kib, passes, lanes): (u32, u32, u32)) -> Result<Key> {
    if passphrase.is_empty() || passphrase.len() > PASSPHRASE_BYTES_MAX {
        return Err(Error::invalid(format!("passphrase: must have 1 to {PASSPHRASE_BYTES_MAX} bytes")));
    }
    if memory_kib > ARGON2_MAX.0 || passes > ARGON2_MAX.1 || lanes > ARGON2_MAX.2 {
        return Err(Error::corrupt("KEYRING header: key derivation asks for too much"));
    }
    let failed = |_| Error::corrupt("KEYRING header: malformed key derivation");
    let params = Params::new(memory_kib, passes, lanes, Some(32)).map_err(failed)?;
    let mut key = zeroize::Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut *key)
        .map_err(failed)?;
    Ok(Key::new(*key))
}

fn call(fetch: &Callback) -> Result<Key> {
    fetch().map(Key::new).map_err(|why| Error::denied(format!("master key: the callback failed: {why}")))
}

fn create_local(world: &World, store: &Path, name: &str) -> Result<Key> {
    let (path, key) = (store.join(name), Key::random(world)?);
    let failed = |error| file_error("write", &path, error);
    let file = retry_interrupted(|| world.fs().open(&path, OpenMode::CreateNewPrivate)).map_err(failed)?;
    retry_interrupted(|| file.write_at(0, key.bytes())).map_err(failed)?;
    retry_interrupted(|| file.sync_all()).map_err(failed)?;
    sync_names(world, store)?;
    Ok(key)
}

/// The key in the local file, and the one that was about to take its place.
fn read_local(world: &World, store: &Path) -> Result<Vec<Key>> {
    let mut keys = Vec::new();
    let mut problem = "missing";
    for name in [LOCAL_FILE, NEW_LOCAL_FILE] {
        match read_key(world, store, name)? {
            Some(Ok(key)) => keys.push(key),
            Some(Err(())) => problem = "not 32 bytes long",
            None => {}
        }
    }
    if keys.is_empty() {
        return Err(Error::denied(format!("master key: the local key file MASTERKEY is {problem}")));
    }
    Ok(keys)
}

/// The key in a file; `Err` where it is no key.
fn read_key(world: &World, store: &Path, name: &str) -> Result<Option<std::result::Result<Key, ()>>> {
    let bytes = read_to_vec(world.fs(), &store.join(name), 64)?.map(zeroize::Zeroizing::new);
    Ok(bytes.map(|bytes| bytes.as_slice().try_into().map(Key::new).map_err(|_| ())))
}

/// After an open: finishes or undoes a change of the key file that was cut short.
pub(super) fn tidy_local(world: &World, store: &Path, kind: &MasterKind, fits: &dyn Fn(&Key) -> bool) -> Result<()> {
    let is_local = *kind == MasterKind::LocalFile;
    let fits_now = |name| Ok(read_key(world, store, name)?.is_some_and(|key| key.is_ok_and(|key| fits(&key))));
    if is_local && fits_now(LOCAL_FILE)? {
        return drop_new_local(world, store);
    }
    settle_local(world, store, kind)
}

/// The new key is in force: the old key file is overwritten, and replaced or removed.
pub(super) fn settle_local(world: &World, store: &Path, kind: &MasterKind) -> Result<()> {
    let (old, new) = (store.join(LOCAL_FILE), store.join(NEW_LOCAL_FILE));
    if *kind == MasterKind::LocalFile {
        blank(world, &old)?;
        retry_interrupted(|| world.fs().rename(&new, &old)).map_err(|error| file_error("rename", &new, error))?;
        return sync_names(world, store);
    }
    remove(world, store, &old)?;
    drop_new_local(world, store)
}

/// Takes away the key file of a change that did not happen.
pub(super) fn drop_new_local(world: &World, store: &Path) -> Result<()> {
    remove(world, store, &store.join(NEW_LOCAL_FILE))
}

fn remove(world: &World, store: &Path, path: &Path) -> Result<()> {
    if !blank(world, path)? {
        return Ok(());
    }
    retry_interrupted(|| world.fs().remove_file(path)).map_err(|error| file_error("remove", path, error))?;
    sync_names(world, store)
}

/// Overwrites a key file, durably; whether there is one.
fn blank(world: &World, path: &Path) -> Result<bool> {
    let file = match retry_interrupted(|| world.fs().open(path, OpenMode::ReadWrite)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(|error| file_error("open", path, error))?,
    };
    let failed = |error| file_error("write", path, error);
    let len = retry_interrupted(|| file.len()).map_err(failed)?.min(64);
    retry_interrupted(|| file.write_at(0, &vec![0; len as usize])).map_err(failed)?;
    retry_interrupted(|| file.sync()).map_err(failed)?;
    Ok(true)
}

fn sync_names(world: &World, store: &Path) -> Result<()> {
    retry_interrupted(|| world.fs().sync_dir(store)).map_err(|error| file_error("sync", store, error))
}
