use crate::codec::Table;
use crate::codec::frame::Frame;
use crate::seal::Key;

/// The key of a user's digests; it outlives the user key, which changes with every forgotten memory.
#[derive(Debug, Clone)]
pub(crate) struct DigestKey(Key);

impl DigestKey {
    pub(crate) fn of(tombstone_key: &Key) -> Self {
        Self(tombstone_key.derive("mnemic user digest"))
    }

    /// What one value adds to its digest: keyed BLAKE3 of its table, key, version and tag.
    pub(crate) fn term(&self, table: Table, key: &[u8], frame: &Frame<'_>) -> [u8; 32] {
        let mut input = [0u8; 96];
        let len = 2 + key.len() + 8 + frame.tag.len();
        input[0] = table.code();
        input[1] = key.len() as u8;
        input[2..2 + key.len()].copy_from_slice(key);
        input[2 + key.len()..10 + key.len()].copy_from_slice(&frame.version.to_le_bytes());
        input[10 + key.len()..len].copy_from_slice(&frame.tag);
        blake3::keyed_hash(self.0.bytes(), &input[..len]).into()
    }
}
