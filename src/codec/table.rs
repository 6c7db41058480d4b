//! The tables of a shard and the keys in them.

use std::fmt;

/// What every key of a user begins with: keyed BLAKE3 of the user id, 16 bytes, never rotated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserHash(pub(crate) [u8; 16]);

impl fmt::Debug for UserHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {self}")
    }
}

impl fmt::Display for UserHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A table of a shard. The code stands in every sealed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Table {
    /// User hash -> slot, generation, epoch, sealed head.
    Users = 0,
    /// User hash + keyed id -> sealed row number.
    Ids = 1,
    /// User hash + chunk number -> wrapped chunk key.
    Keys = 2,
    /// User hash + row -> sealed record.
    Records = 3,
    /// User hash + row -> sealed vector.
    Vectors = 4,
    /// User hash + keyed id or text -> sealed time.
    Tombstones = 5,
    /// User hash + sequence -> sealed change.
    Log = 6,
    /// Facts of the shard itself: `last_seq`, format.
    Meta = 7,
}

impl Table {
    /// Every table, in the order of the codes.
    pub(crate) const ALL: [Self; 8] =
        [Self::Users, Self::Ids, Self::Keys, Self::Records, Self::Vectors, Self::Tombstones, Self::Log, Self::Meta];

    /// The tables that hold values of users, which go with the user.
    pub(crate) const OF_USERS: [Self; 6] =
        [Self::Ids, Self::Keys, Self::Records, Self::Vectors, Self::Tombstones, Self::Log];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Ids => "ids",
            Self::Keys => "keys",
            Self::Records => "records",
            Self::Vectors => "vectors",
            Self::Tombstones => "tombstones",
            Self::Log => "log",
            Self::Meta => "meta",
        }
    }

    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// Which of the user's two digests counts its values: 0 is checked when the user is loaded, 1 at the first read.
    pub(crate) const fn digest(self) -> Option<usize> {
        match self {
            Self::Keys | Self::Records | Self::Vectors | Self::Tombstones => Some(0),
            Self::Ids | Self::Log => Some(1),
            Self::Users | Self::Meta => None,
        }
    }
}

/// The key of a numbered value: a row, a chunk, a sequence number. Big-endian, so that order is numeric.
pub(crate) fn numbered(user: UserHash, number: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(&user.0);
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The key of a hashed value: an id, a tombstone.
pub(crate) fn hashed(user: UserHash, hash: [u8; 16]) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&user.0);
    key[16..].copy_from_slice(&hash);
    key
}

/// The number of a numbered key.
pub(crate) fn number_of(key: &[u8]) -> Option<u64> {
    let number: [u8; 8] = key.get(16..24)?.try_into().ok()?;
    (key.len() == 24).then(|| u64::from_be_bytes(number))
}
