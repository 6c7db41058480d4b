//! A line of an export: one memory with all that is known of it, and its vector.

mod read;
mod write;

use crate::codec::json::Json;
use crate::error::{Error, Result};
use crate::memory::Memory;

/// What the last line of an export begins with.
pub(crate) const MANIFEST_BEGIN: &str = "{\"mnemic\":\"export\",";
/// Longest line: a memory at all of its limits, with every character escaped, and the largest vector.
pub(crate) const LINE_BYTES_MAX: usize = 2 << 20;
const FORMAT: u32 = 1;

/// A memory on its way out or in. Its `space` is not set: the model's name stands for it.
pub(crate) struct Line {
    pub(crate) memory: Memory,
    /// Model and dimensions of the space that has looked at it.
    pub(crate) model: Option<(String, usize)>,
    pub(crate) vector: Option<Vec<f32>>,
}

impl Line {
    pub(crate) fn encode(&self) -> String {
        let mut out = String::new();
        write::line(self).write(&mut out);
        out
    }

    /// Reads a line, in the one form that [`encode`](Self::encode) writes.
    pub(crate) fn decode(text: &str) -> Result<Self> {
        let line = read::line(Json::parse(text)?)?;
        if line.encode() != text {
            return Err(Error::invalid("export: a line is not in the form of an export"));
        }
        Ok(line)
    }
}

/// What an export says of itself, in its last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) store: [u8; 16],
    pub(crate) user: [u8; 16],
    pub(crate) generation: u32,
    /// A commit that was durable before: what was forgotten by a later one must not come back.
    pub(crate) as_of: u64,
    pub(crate) memories: u64,
    pub(crate) exported_at: i64,
    /// BLAKE3 of all lines before, with their ends.
    pub(crate) hash: [u8; 32],
}

impl Manifest {
    /// The line up to its tag.
    pub(crate) fn body(&self) -> String {
        format!(
            "{MANIFEST_BEGIN}\"format\":{FORMAT},\"store\":\"{}\",\"user\":\"{}\",\"generation\":{},\"as_of\":{},\
             \"memories\":{},\"exported_at\":{},\"blake3\":\"{}\",\"tag\":\"",
            hex(&self.store),
            hex(&self.user),
            self.generation,
            self.as_of,
            self.memories,
            self.exported_at,
            hex(&self.hash)
        )
    }

    pub(crate) fn encode(&self, tag: &[u8; 32]) -> String {
        format!("{}{}\"}}", self.body(), hex(tag))
    }

    /// Reads a manifest and its tag.
    pub(crate) fn decode(text: &str) -> Result<(Self, [u8; 32])> {
        let mut fields = read::Fields::of(Json::parse(text)?)?;
        if fields.must::<String>("mnemic")? != "export" {
            return Err(Error::invalid("export: the last line is no manifest"));
        }
        let format: u32 = fields.number("format")?;
        if format != FORMAT {
            let says =
                format!("export of format {format}; this version reads format {FORMAT}, a newer mnemic is needed");
            return Err(Error::unsupported(says));
        }
        let manifest = Self {
            store: fields.bytes("store")?,
            user: fields.bytes("user")?,
            generation: fields.number("generation")?,
            as_of: fields.number("as_of")?,
            memories: fields.number("memories")?,
            exported_at: fields.number("exported_at")?,
            hash: fields.bytes("blake3")?,
        };
        let tag = fields.bytes("tag")?;
        if manifest.encode(&tag) != text {
            return Err(Error::invalid("export: the manifest is not in the form of an export"));
        }
        Ok((manifest, tag))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests;
