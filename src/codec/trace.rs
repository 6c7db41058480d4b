//! What one recall used, as it is kept: the memories, the parts of their scores, how the query was asked.

use std::collections::BTreeSet;

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;

const VERSION: u8 = 1;
/// Numbers that make up a score, in the order of [`StoredHit::parts`].
pub(crate) const PARTS: usize = 10;
/// Bytes of a hit.
const HIT_BYTES: usize = 16 + 4 + PARTS * 8;

/// A recall as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredTrace {
    /// When it was asked, by the store's clock.
    pub(crate) at: i64,
    /// The query's own clock.
    pub(crate) query_at: i64,
    /// The time that it asked of, if it did.
    pub(crate) as_of: Option<i64>,
    /// Whether the answer was a prompt block.
    pub(crate) context: bool,
    /// Code of the level that it saw.
    pub(crate) level: u8,
    pub(crate) limit: u64,
    /// The commit that was searched.
    pub(crate) version: u64,
    /// The filter in words; empty without one, or once a memory was taken out.
    pub(crate) filter: String,
    pub(crate) hits: Vec<StoredHit>,
    /// Hits that were forgotten since.
    pub(crate) forgotten: u32,
}

/// A memory that an answer used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredHit {
    pub(crate) id: [u8; 16],
    pub(crate) version: u32,
    /// Score, cosine, words, scene, time, speaker, context, relevance, retention, weight.
    pub(crate) parts: [f64; PARTS],
}

impl StoredTrace {
    /// Takes memories out, and the filter with them, for it may name what they said; whether there were any.
    pub(crate) fn purge(&mut self, gone: &BTreeSet<[u8; 16]>) -> bool {
        let before = self.hits.len();
        self.hits.retain(|hit| !gone.contains(&hit.id));
        let taken = before - self.hits.len();
        if taken > 0 {
            self.filter.clear();
            self.forgotten = self.forgotten.saturating_add(taken as u32);
        }
        taken > 0
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(64 + self.filter.len() + self.hits.len() * HIT_BYTES);
        out.u8(VERSION).i64(self.at).i64(self.query_at);
        out.u8(u8::from(self.as_of.is_some())).i64(self.as_of.unwrap_or(0));
        out.u8(u8::from(self.context)).u8(self.level).u64(self.limit).u64(self.version);
        out.block(self.filter.as_bytes()).u32(self.forgotten).u32(self.hits.len() as u32);
        for hit in &self.hits {
            out.raw(&hit.id).u32(hit.version);
            hit.parts.iter().for_each(|part| _ = out.f64(*part));
        }
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "trace");
        input.version(VERSION)?;
        let (at, query_at) = (input.i64()?, input.i64()?);
        let (has_as_of, as_of) = (input.u8()? != 0, input.i64()?);
        let (context, level) = (input.u8()? != 0, input.u8()?);
        let (limit, version) = (input.u64()?, input.u64()?);
        let (filter, forgotten) = (input.text()?, input.u32()?);
        let count = input.count(HIT_BYTES)?;
        let hits = (0..count).map(|_| take_hit(&mut input)).collect::<Result<_>>()?;
        input.end()?;
        let as_of = has_as_of.then_some(as_of);
        Ok(Self { at, query_at, as_of, context, level, limit, version, filter, hits, forgotten })
    }
}

fn take_hit(input: &mut Reader<'_>) -> Result<StoredHit> {
    let (id, version) = (input.array()?, input.u32()?);
    let mut parts = [0.0; PARTS];
    for part in &mut parts {
        *part = input.f64()?;
    }
    Ok(StoredHit { id, version, parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> StoredTrace {
        let hit = |n: u8| StoredHit { id: [n; 16], version: u32::from(n), parts: [f64::from(n) / 7.0; PARTS] };
        StoredTrace {
            at: -1,
            query_at: i64::MAX,
            as_of: Some(4),
            context: true,
            level: 2,
            limit: 10,
            version: 77,
            filter: "kind = note".into(),
            hits: vec![hit(1), hit(2)],
            forgotten: 3,
        }
    }

    #[test]
    fn a_trace_comes_back_and_damage_never_panics() {
        let bytes = trace().encode();
        assert_eq!(StoredTrace::decode(&bytes).unwrap(), trace());
        for cut in 0..bytes.len() {
            assert!(StoredTrace::decode(&bytes[..cut]).is_err());
        }
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x81;
            let _ = StoredTrace::decode(&bad);
        }
    }
}
