use std::path::Path;

use mnemic::world::testing::RecordingFs;
use mnemic::world::{FileSystem, OpenMode};

use crate::check::{Check, Say};
use crate::work::PATH;

/// The unit in which disks and redb lose things.
pub(super) const PAGE_BYTES: usize = 4096;
/// No value of a torture store is longer.
const BODY_MAX: usize = 1 << 20;

/// A file of the store.
pub(crate) fn read(fs: &RecordingFs, file: &str) -> Check<Vec<u8>> {
    let path = Path::new(PATH).join(file);
    let open = match fs.open(&path, OpenMode::Read) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.say(file)?,
    };
    let mut bytes = vec![0; open.len().say(file)? as usize];
    open.read_at(0, &mut bytes).say(file)?;
    Ok(bytes)
}

/// Replaces a file of the store.
pub(crate) fn write(fs: &RecordingFs, file: &str, bytes: &[u8]) -> Check {
    let open = fs.open(&Path::new(PATH).join(file), OpenMode::Create).say(file)?;
    open.set_len(bytes.len() as u64).say(file)?;
    open.write_at(0, bytes).say(file)?;
    open.sync_all().say(file)
}

/// Removes a file of the store.
pub(super) fn remove(fs: &RecordingFs, file: &str) -> Check {
    fs.remove_file(&Path::new(PATH).join(file)).say(file)
}

/// A sealed value, found by its magic alone.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) at: usize,
    pub(crate) len: usize,
    pub(crate) table: u8,
    pub(crate) key: Vec<u8>,
    pub(crate) version: u64,
    pub(crate) nonce: [u8; 24],
}

impl Frame {
    /// Where it ends.
    pub(crate) fn end(&self) -> usize {
        self.at + self.len
    }
}

/// Every sealed value in some bytes, live or not.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Frame> {
    let starts = bytes.windows(4).enumerate().filter(|(_, magic)| *magic == b"MNF\x01").map(|(at, _)| at);
    starts.filter_map(|at| frame(bytes, at)).collect()
}

fn frame(bytes: &[u8], at: usize) -> Option<Frame> {
    let (table, key_len) = (*bytes.get(at + 4)?, usize::from(*bytes.get(at + 5)?));
    let key = bytes.get(at + 6..at + 6 + key_len)?.to_vec();
    let rest = bytes.get(at + 6 + key_len..)?;
    let version = u64::from_le_bytes(*rest.first_chunk()?);
    let nonce = *rest.get(8..)?.first_chunk()?;
    let body = u32::from_le_bytes(*rest.get(32..)?.first_chunk()?) as usize;
    let len = 6 + key_len + 36 + body;
    (table < 10 && key_len <= 64 && (16..BODY_MAX).contains(&body) && at + len <= bytes.len()).then_some(Frame {
        at,
        len,
        table,
        key,
        version,
        nonce,
    })
}
