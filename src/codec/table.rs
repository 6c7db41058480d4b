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
    /// User hash + chunk number -> wrapped chunk key.
    Keys = 1,
    /// User hash + row -> sealed record.
    Records = 2,
    /// User hash + row, or pack -> sealed vector, or vectors.
    Vectors = 3,
    /// User hash + block -> sealed facts and quantised vectors of 256 rows.
    Blocks = 4,
    /// User hash + row -> sealed facts of a row that changed since its block was built.
    Rows = 5,
    /// User hash + row, or block -> sealed term lists.
    Terms = 6,
    /// User hash + keyed id or text -> sealed time.
    Tombstones = 7,
    /// User hash + sequence -> sealed change.
    Log = 8,
    /// Facts of the shard itself: `last_seq`, format.
    Meta = 9,
    /// User hash + sequence -> sealed trace of a recall.
    Traces = 10,
    /// In a snapshot's file of rows: user hash + snapshot + number -> sealed record and vector.
    SnapshotRows = 11,
    /// In a snapshot's file of keys: user hash + snapshot -> the keys of the user's rows.
    SnapshotKeys = 12,
}

impl Table {
    /// Every table of a shard, in the order of the codes.
    pub(crate) const ALL: [Self; 11] = [
        Self::Users,
        Self::Keys,
        Self::Records,
        Self::Vectors,
        Self::Blocks,
        Self::Rows,
        Self::Terms,
        Self::Tombstones,
        Self::Log,
        Self::Meta,
        Self::Traces,
    ];

    /// The tables that hold values of users, which go with the user.
    pub(crate) const OF_USERS: [Self; 9] = [
        Self::Keys,
        Self::Records,
        Self::Vectors,
        Self::Blocks,
        Self::Rows,
        Self::Terms,
        Self::Tombstones,
        Self::Log,
        Self::Traces,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Keys => "keys",
            Self::Records => "records",
            Self::Vectors => "vectors",
            Self::Blocks => "blocks",
            Self::Rows => "rows",
            Self::Terms => "terms",
            Self::Tombstones => "tombstones",
            Self::Log => "log",
            Self::Meta => "meta",
            Self::Traces => "traces",
            Self::SnapshotRows => "snapshot rows",
            Self::SnapshotKeys => "snapshot keys",
        }
    }

    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// Which digest counts a value. A record or a pack of closed rows is counted by none: it is bound by the version
    /// in its block instead, so that a load need not read it.
    pub(crate) fn digest(self, key: &[u8], closed_rows: u64) -> Option<Digested> {
        let number = number_of(key);
        match self {
            Self::Keys | Self::Blocks | Self::Rows | Self::Tombstones => Some(Digested::Load),
            Self::Records => number.is_none_or(|row| row >= closed_rows).then_some(Digested::Load),
            Self::Vectors => number.is_none_or(|number| number < PACKED).then_some(Digested::Load),
            Self::Terms => Some(Digested::Terms),
            Self::Log | Self::Traces => Some(Digested::Log),
            Self::Users | Self::Meta | Self::SnapshotRows | Self::SnapshotKeys => None,
        }
    }
}

/// Which of a user's digests counts a value: each is checked when all of its values are first read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digested {
    /// When the user is loaded.
    Load = 0,
    /// When the log or a trace is read.
    Log = 1,
    /// When words are searched.
    Terms = 2,
}

/// Set in the numbers of values that hold many rows, where table `vectors` or `terms` holds single rows too.
pub(crate) const PACKED: u64 = 1 << 32;

/// The key of a numbered value: a row, a chunk, a sequence number. Big-endian, so that order is numeric.
pub(crate) fn numbered(user: UserHash, number: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(&user.0);
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The key of a hashed value: a tombstone.
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
