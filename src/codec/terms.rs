//! The stored terms of one memory: which analyser made them, each with its count, and the times its text tells of.

use crate::codec::bytes::{Reader, Writer};
use crate::codec::head::BLOCK_ROWS;
use crate::error::Result;
use crate::memory::limits::TEXT_BYTES_MAX;

const VERSION: u8 = 1;
/// A term and its count.
const TERM_BYTES: usize = 9;
/// A beginning and an end.
const TIME_BYTES: usize = 16;
/// A square of kana, three bytes, may give a dozen terms.
const TERMS_MAX: usize = 8 * TEXT_BYTES_MAX;

/// The terms of one memory, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StoredTerms {
    pub(crate) tokenizer: u16,
    pub(crate) tokenizer_version: u16,
    /// All terms of the text, repetitions counted.
    pub(crate) length: u32,
    /// Hash and count, by hash, ascending, each once; no count is 0.
    pub(crate) counts: Vec<(u64, u8)>,
    /// Beginnings and ends in microseconds.
    pub(crate) times: Vec<(i64, i64)>,
}

pub(crate) fn encode(terms: &StoredTerms) -> Vec<u8> {
    let bytes = 17 + terms.counts.len() * TERM_BYTES + terms.times.len() * TIME_BYTES;
    let mut out = Writer::with_capacity(bytes);
    out.u8(VERSION);
    out.raw(&terms.tokenizer.to_le_bytes()).raw(&terms.tokenizer_version.to_le_bytes());
    out.u32(terms.length).u32(terms.counts.len() as u32);
    for (term, count) in &terms.counts {
        out.u64(*term).u8(*count);
    }
    out.u32(terms.times.len() as u32);
    for (from, to) in &terms.times {
        out.i64(*from).i64(*to);
    }
    out.finish()
}

/// Reads what [`encode`] wrote.
///
/// # Errors
///
/// * `Unsupported`: a later version wrote it.
/// * `Corrupt`: anything else that [`encode`] does not write.
pub(crate) fn decode(bytes: &[u8]) -> Result<StoredTerms> {
    let mut input = Reader::new(bytes, "terms");
    input.version(VERSION)?;
    let tokenizer = u16::from_le_bytes(input.array()?);
    let tokenizer_version = u16::from_le_bytes(input.array()?);
    let length = input.u32()?;
    let counts = read_counts(&mut input, length)?;
    let times = read_times(&mut input)?;
    input.end()?;
    Ok(StoredTerms { tokenizer, tokenizer_version, length, counts, times })
}

/// The lists of a block: each row with its own, as [`encode`] wrote it.
pub(crate) fn encode_lists<'a>(lists: impl IntoIterator<Item = (u32, &'a [u8])>) -> Vec<u8> {
    let mut out = Writer::default();
    out.u8(VERSION);
    lists.into_iter().for_each(|(row, terms)| _ = out.u32(row).block(terms));
    out.finish()
}

/// Reads what [`encode_lists`] wrote.
pub(crate) fn decode_lists(bytes: &[u8]) -> Result<Vec<(u32, &[u8])>> {
    let mut input = Reader::new(bytes, "terms of a block");
    input.version(VERSION)?;
    let mut lists = Vec::new();
    while !input.rest().is_empty() && lists.len() < BLOCK_ROWS as usize {
        lists.push((input.u32()?, input.block()?));
    }
    input.end()?;
    Ok(lists)
}

fn read_counts(input: &mut Reader<'_>, length: u32) -> Result<Vec<(u64, u8)>> {
    let count = input.count(TERM_BYTES)?;
    if count > TERMS_MAX || length as usize > TERMS_MAX {
        return Err(input.corrupt());
    }
    let counts: Vec<_> = (0..count).map(|_| Ok((input.u64()?, input.u8()?))).collect::<Result<_>>()?;
    let ascending = counts.is_sorted_by(|(a, _), (b, _)| a < b);
    let sum: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
    if !ascending || counts.iter().any(|(_, count)| *count == 0) || sum > u64::from(length) {
        return Err(input.corrupt());
    }
    Ok(counts)
}

fn read_times(input: &mut Reader<'_>) -> Result<Vec<(i64, i64)>> {
    let count = input.count(TIME_BYTES)?;
    let times: Vec<_> = (0..count).map(|_| Ok((input.i64()?, input.i64()?))).collect::<Result<_>>()?;
    if times.iter().any(|(from, to)| from > to) { Err(input.corrupt()) } else { Ok(times) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn stored()(
            tokenizer: u16,
            tokenizer_version: u16,
            counts in proptest::collection::btree_map(any::<u64>(), 1u8.., 0..40),
            more in 0u32..100,
            times in proptest::collection::vec(any::<(i64, i64)>(), 0..4),
        ) -> StoredTerms {
            let counts: Vec<_> = counts.into_iter().collect();
            let length = more + counts.iter().map(|(_, count)| u32::from(*count)).sum::<u32>();
            let times = times.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
            StoredTerms { tokenizer, tokenizer_version, length, counts, times }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(terms in stored()) {
            prop_assert_eq!(decode(&encode(&terms)).unwrap(), terms);
        }

        #[test]
        fn a_cut_or_longer_list_is_refused(terms in stored(), cut in any::<prop::sample::Index>()) {
            let mut bytes = encode(&terms);
            prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
            bytes.push(0);
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, terms in stored(), at in any::<prop::sample::Index>(), to: u8) {
            let mut changed = encode(&terms);
            let index = at.index(changed.len());
            changed[index] = to;
            for bytes in [bytes, changed] {
                if let Ok(read) = decode(&bytes) {
                    prop_assert_eq!(encode(&read), bytes);
                }
            }
        }
    }

    #[test]
    fn disorder_and_later_versions_are_refused() {
        let terms = StoredTerms { length: 2, counts: vec![(2, 1), (1, 1)], ..StoredTerms::default() };
        assert!(decode(&encode(&terms)).is_err());
        let terms = StoredTerms { length: 1, counts: vec![(1, 2)], ..StoredTerms::default() };
        assert!(decode(&encode(&terms)).is_err());
        let mut bytes = encode(&StoredTerms::default());
        bytes[0] = 2;
        assert_eq!(decode(&bytes).unwrap_err().kind(), crate::error::ErrorKind::Unsupported);
    }
}
