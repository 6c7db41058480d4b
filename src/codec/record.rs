//! A memory record on disk: a version byte, then an archive of exactly that version's struct.
//!
//! rkyv validates that bytes are safe to read, not that they are right: that is the seal's part. Old bytes read as a
//! newer struct would validate and give garbage, hence the version byte and the frozen structs.

mod v1;

use crate::error::{Error, Result};
use crate::memory::Memory;

pub(crate) use v1::{ArchivedRecordV1, micros};

const VERSION: u8 = 1;

pub(crate) fn encode(memory: &Memory) -> Result<Vec<u8>> {
    let archive = rkyv::to_bytes::<rkyv::rancor::Error>(&v1::RecordV1::from(memory))
        .map_err(|error| Error::unsupported("record: cannot be archived").with_source(error))?;
    let mut out = Vec::with_capacity(1 + archive.len());
    out.push(VERSION);
    out.extend_from_slice(&archive);
    Ok(out)
}

/// A record in place, validated but not copied.
pub(crate) fn view(bytes: &[u8]) -> Result<&ArchivedRecordV1> {
    match bytes.split_first() {
        Some((&VERSION, archive)) => rkyv::access::<ArchivedRecordV1, rkyv::rancor::Error>(archive)
            .map_err(|_| Error::corrupt("record: malformed")),
        Some((0, _)) | None => Err(Error::corrupt("record: malformed")),
        Some((version, _)) => Err(Error::newer(format!("record: version {version}"))),
    }
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Memory> {
    view(bytes)?.to_memory()
}

#[cfg(test)]
mod tests;
