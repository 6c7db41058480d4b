//! An attacker with the master key and every byte of the directory: carves every sealed frame, and tries every key
//! that can still be derived. Snapshots are part of the directory.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::codec::frame::{self, Frame};
use crate::codec::log_entry::LogEntry;
use crate::codec::snapshot::{decode_row, decode_section, frame_key};
use crate::codec::{Table, UserHash, record};
use crate::engine::head::ChunkKey;
use crate::memory::Memory;
use crate::seal::{Key, Keyring, MasterKey, Place, Sealer, UserKeys};
use crate::world::testing::{RecordingFs, TestWorld};
use crate::world::{FileSystem, read_to_vec};

/// Epochs that the attacker tries for each key.
const EPOCHS: u64 = 8;
const GENERATIONS: u32 = 4;

/// Everything that can be read of a store: the texts of all records, in rows or in the log, current or left over.
pub(super) fn recover(fs: &RecordingFs, store: &Path, store_id: [u8; 16], master: &MasterKey) -> Loot {
    let world = TestWorld::with_fs(99, fs.clone()).world();
    let keyring = Keyring::open(&world, store, store_id, master).unwrap();
    let sealer = Sealer { suite: keyring.suite(), store_id };
    let mut attack = Attack {
        sealer,
        users: HashMap::new(),
        chunks: HashMap::new(),
        copied: HashMap::new(),
        texts: BTreeSet::new(),
        from_snapshots: BTreeSet::new(),
    };
    attack.take_user_keys(&keyring);
    let files = all_files(fs, store);
    let frames: Vec<_> = files.iter().flat_map(|bytes| carve_all(bytes)).collect();
    frames
        .iter()
        .filter(|(table, ..)| *table == Table::Keys)
        .for_each(|(_, key, frame)| attack.take_chunk_key(key, frame));
    frames
        .iter()
        .filter(|(table, ..)| *table == Table::SnapshotKeys)
        .for_each(|(_, key, frame)| attack.take_copied_keys(key, frame));
    frames.iter().for_each(|(table, key, frame)| attack.read(*table, key, frame));
    Loot { texts: attack.texts, from_snapshots: attack.from_snapshots }
}

/// What the attacker read.
pub(super) struct Loot {
    /// In rows, in the log or in snapshots.
    pub(super) texts: BTreeSet<String>,
    /// In snapshots.
    pub(super) from_snapshots: BTreeSet<String>,
}

struct Attack {
    sealer: Sealer,
    users: HashMap<UserHash, Vec<UserKeys>>,
    chunks: HashMap<UserHash, Vec<ChunkKey>>,
    /// Keys of copied rows, by the key of their frames.
    copied: HashMap<Vec<u8>, Vec<Key>>,
    texts: BTreeSet<String>,
    from_snapshots: BTreeSet<String>,
}

impl Attack {
    /// Both copies of every slot, whatever they say of their state.
    fn take_user_keys(&mut self, keyring: &Keyring) {
        for number in 0.. {
            let Ok(copies) = keyring.read_slot(number) else { break };
            for slot in [copies.a, copies.b].into_iter().flatten() {
                if let Ok(keys) = keyring.keys_of(&slot) {
                    self.users.entry(slot.user).or_default().push(keys);
                }
            }
        }
    }

    fn take_chunk_key(&mut self, key: &[u8], frame: &Frame<'_>) {
        let user = user_of(key);
        let keys: Vec<Key> = self.users.get(&user).into_iter().flatten().map(|keys| keys.user.clone()).collect();
        for seal in keys {
            if let Some(chunk) =
                self.open_any(&seal, Table::Keys, user, key, frame).and_then(|b| ChunkKey::decode(&b).ok())
            {
                self.chunks.entry(user).or_default().push(chunk);
            }
        }
    }

    fn take_copied_keys(&mut self, key: &[u8], frame: &Frame<'_>) {
        let user = user_of(key);
        let keys: Vec<Key> = self.users.get(&user).into_iter().flatten().map(UserKeys::snapshots).collect();
        for seal in keys {
            let opened = self.open_any(&seal, Table::SnapshotKeys, user, key, frame);
            let Some(section) = opened.and_then(|plain| decode_section(&plain).ok()) else { continue };
            let snapshot = key[16..32].try_into().unwrap();
            for row in section.rows {
                let of = frame_key(user, snapshot, u64::from(row.number)).to_vec();
                self.copied.entry(of).or_default().push(Key::new(*row.key));
            }
        }
    }

    fn read(&mut self, table: Table, key: &[u8], frame: &Frame<'_>) {
        let user = user_of(key);
        if table == Table::SnapshotRows {
            let keys = self.copied.get(key).cloned().unwrap_or_default();
            let plain = keys.iter().find_map(|seal| self.open_any(seal, table, user, key, frame));
            let memory = plain.and_then(|plain| record::decode(decode_row(&plain).ok()?.0).ok());
            self.from_snapshots.extend(memory.iter().map(|memory| memory.text().to_owned()));
            self.take(memory);
            return;
        }
        let chunks = self.chunks.get(&user).cloned().unwrap_or_default();
        let plain = chunks.iter().find_map(|chunk| self.open_any(&chunk.key, table, user, key, frame));
        match (table, plain) {
            (Table::Records, Some(plain)) => self.take(record::decode(&plain).ok()),
            (Table::Log, Some(plain)) => {
                for change in LogEntry::decode(&plain).into_iter().flat_map(|entry| entry.rows) {
                    self.take(change.before.and_then(|image| record::decode(&image).ok()));
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, memory: Option<Memory>) {
        self.texts.extend(memory.map(|memory| memory.text().to_owned()));
    }

    /// Opens a frame under a key, whatever generation and epoch it was sealed in.
    fn open_any(&self, seal: &Key, table: Table, user: UserHash, key: &[u8], frame: &Frame<'_>) -> Option<Vec<u8>> {
        (0..GENERATIONS).flat_map(|g| (0..EPOCHS).map(move |e| (g, e))).find_map(|(generation, epoch)| {
            let place = Place { user, generation, table, key, epoch };
            self.sealer.open_frame(seal, &place, frame).ok().map(|plain| plain.to_vec())
        })
    }
}

fn user_of(key: &[u8]) -> UserHash {
    UserHash(key.get(..16).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default())
}

fn carve_all(bytes: &[u8]) -> Vec<(Table, &[u8], Frame<'_>)> {
    let starts = bytes.windows(3).enumerate().filter(|(_, window)| *window == b"MNF").map(|(at, _)| at);
    starts.filter_map(|at| frame::carve(&bytes[at..])).collect()
}

fn all_files(fs: &RecordingFs, dir: &Path) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for name in fs.list(dir).unwrap() {
        let path = dir.join(name);
        if fs.metadata(&path).unwrap().is_dir {
            files.extend(all_files(fs, &path));
        } else {
            files.push(read_to_vec(fs, &path, usize::MAX).unwrap().unwrap());
        }
    }
    files
}
