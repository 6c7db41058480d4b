//! Term lists on their way to the disk and back.

use crate::codec::terms::StoredTerms;
use crate::text::time::Interval;
use crate::text::{TOKENIZER_ID, TOKENIZER_VERSION, TermCount, TermList};

/// What is stored of a memory's text: its terms and the times that it tells of.
pub(crate) fn to_stored(terms: &TermList, told: &[Interval]) -> StoredTerms {
    StoredTerms {
        tokenizer: TOKENIZER_ID,
        tokenizer_version: TOKENIZER_VERSION,
        length: terms.length,
        counts: terms.counts.iter().map(|counted| (counted.term, counted.count)).collect(),
        times: told.iter().map(|told| (told.from, told.to)).collect(),
    }
}

/// What was stored; none where another analyser made it, and the text must be analysed again.
pub(crate) fn from_stored(stored: &StoredTerms) -> Option<(TermList, Vec<Interval>)> {
    if (stored.tokenizer, stored.tokenizer_version) != (TOKENIZER_ID, TOKENIZER_VERSION) {
        return None;
    }
    let counts = stored.counts.iter().map(|&(term, count)| TermCount { term, count }).collect();
    let told = stored.times.iter().map(|&(from, to)| Interval { from, to }).collect();
    Some((TermList { counts, length: stored.length }, told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::terms::{decode, encode};

    #[test]
    fn terms_come_back_from_the_disk_unless_the_analyser_changed() {
        let (terms, told) = (TermList::of("a window seat, 靠窗"), vec![Interval { from: -1, to: 5 }]);
        let mut stored = decode(&encode(&to_stored(&terms, &told))).unwrap();
        assert_eq!(from_stored(&stored), Some((terms, told)));
        stored.tokenizer_version += 1;
        assert_eq!(from_stored(&stored), None);
    }
}
