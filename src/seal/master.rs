use std::fmt;
use std::path::Path;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};

use crate::codec::keyring::MasterKind;
use crate::error::{Error, Result};
use crate::seal::Key;
use crate::world::{OpenMode, World, file_error, read_to_vec};

/// The name of the local key file in the store's directory.
const LOCAL_FILE: &str = "MASTERKEY";
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
            Origin::LocalFile => Ok((MasterKind::LocalFile, create_local(world, store)?)),
            Origin::Passphrase(passphrase) => {
                let mut salt = [0; 16];
                world.fill(&mut salt)?;
                let kind = MasterKind::Passphrase { salt, memory_kib: ARGON2.0, passes: ARGON2.1, lanes: ARGON2.2 };
                Ok((kind, stretch(passphrase, &salt, ARGON2)?))
            }
            Origin::Callback(fetch) => Ok((MasterKind::Callback, call(fetch)?)),
        }
    }

    /// Makes the key of an existing store whose header says `kind`.
    pub(crate) fn obtain(&self, world: &World, store: &Path, kind: &MasterKind) -> Result<Key> {
        match (&self.0, *kind) {
            (Origin::LocalFile, MasterKind::LocalFile) => read_local(world, store),
            (Origin::Passphrase(passphrase), MasterKind::Passphrase { salt, memory_kib, passes, lanes }) => {
                stretch(passphrase, &salt, (memory_kib, passes, lanes))
            }
            (Origin::Callback(fetch), MasterKind::Callback) => call(fetch),
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

fn create_local(world: &World, store: &Path) -> Result<Key> {
    let (path, key) = (store.join(LOCAL_FILE), Key::random(world)?);
    let failed = |error| file_error("write", &path, error);
    let file = world.fs().open(&path, OpenMode::CreateNewPrivate).map_err(failed)?;
    file.write_at(0, key.bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    world.fs().sync_dir(store).map_err(|error| file_error("sync", store, error))?;
    Ok(key)
}

fn read_local(world: &World, store: &Path) -> Result<Key> {
    let path = store.join(LOCAL_FILE);
    let Some(bytes) = read_to_vec(world.fs(), &path, 64)? else {
        return Err(Error::denied("master key: the local key file MASTERKEY is missing"));
    };
    let bytes = zeroize::Zeroizing::new(bytes);
    let bytes = bytes.as_slice().try_into();
    bytes.map(Key::new).map_err(|_| Error::denied("master key: the local key file MASTERKEY is not 32 bytes long"))
}
