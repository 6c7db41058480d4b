use std::fmt;

use zeroize::Zeroizing;

use crate::error::Result;
use crate::world::World;

/// 32 secret bytes: zeroed when dropped, never shown.
#[derive(Clone)]
pub(crate) struct Key(Zeroizing<[u8; 32]>);

impl Key {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn random(world: &World) -> Result<Self> {
        let mut key = Self::new([0; 32]);
        world.fill(&mut *key.0)?;
        Ok(key)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The subkey for `purpose` (BLAKE3 `derive_key`).
    pub(crate) fn derive(&self, purpose: &str) -> Self {
        Self::new(blake3::derive_key(purpose, self.bytes()))
    }

    /// The keyed hash of `parts`, one behind the other.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(self.bytes());
        parts.iter().for_each(|part| _ = hasher.update(part));
        hasher.finalize().into()
    }

    /// The first 16 bytes of that.
    pub(crate) fn short_mac(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&self.mac(parts)[..16]);
        short
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Whether two tags are equal, in a time that does not tell where they differ.
pub(crate) fn same_tag(a: &[u8; 32], b: &[u8; 32]) -> bool {
    blake3::Hash::from_bytes(*a) == blake3::Hash::from_bytes(*b)
}
