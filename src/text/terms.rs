//! The terms of a text: what the words index stores of it.

use super::analyser;
use super::stems::Stems;

/// Which analyser made a term list, kept with it.
pub(crate) const TOKENIZER_ID: u16 = 1;
/// The version of that analyser: another one means to index again.
pub(crate) const TOKENIZER_VERSION: u16 = 1;

/// Both as one number.
pub(crate) const ANALYSER: u32 = (TOKENIZER_ID as u32) << 16 | TOKENIZER_VERSION as u32;

/// The hash of a term.
pub(crate) type TermHash = u64;

/// A term and how often a text holds it, at most 255 times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermCount {
    pub(crate) term: TermHash,
    pub(crate) count: u8,
}

/// The terms of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TermList {
    /// By term, ascending, each once.
    pub(crate) counts: Vec<TermCount>,
    /// How many terms the text has, repetitions counted: BM25's field length.
    pub(crate) length: u32,
}

impl TermList {
    /// Analyses a text. Cost: one pass and a sort of its terms.
    pub(crate) fn of(text: &str) -> Self {
        Self::with(text, &mut Stems::default())
    }

    /// The same, with a stemmer that serves many texts.
    pub(crate) fn with(text: &str, stems: &mut Stems) -> Self {
        let mut hashes = Vec::with_capacity(text.len() / 3);
        analyser::for_each_term(text, stems, |term| hashes.push(hash(term)));
        Self::of_hashes(hashes)
    }

    fn of_hashes(mut hashes: Vec<TermHash>) -> Self {
        let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        hashes.sort_unstable();
        let counts = hashes
            .chunk_by(|a, b| a == b)
            .map(|same| TermCount { term: same[0], count: u8::try_from(same.len()).unwrap_or(u8::MAX) })
            .collect();
        Self { counts, length }
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), finished so that every bit depends on all input.
pub(crate) fn hash(term: &str) -> TermHash {
    let hash = term
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sorted_and_saturate() {
        let list = TermList::of(&"window ".repeat(300));
        assert_eq!(list, TermList { counts: vec![TermCount { term: hash("window"), count: 255 }], length: 300 });
        let list = TermList::of("seat window seat");
        assert!(list.counts.is_sorted() && list.counts.len() == 2 && list.length == 3);
        assert_eq!(TermList::of(" ... "), TermList::default());
    }
}
