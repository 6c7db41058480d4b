//! Stems of English words, each common one found once for many texts.

use rust_stemmers::{Algorithm, Stemmer};
use zeroize::Zeroize;

/// Longer words are kept as they are.
const STEMMED_BYTES_MAX: usize = 40;
/// Longer words are stemmed each time.
const KEPT_BYTES_MAX: usize = 15;
/// How many are kept; a power of two.
const KEPT: usize = 512;

/// A word and its stem, each with its length at the end.
type Entry = [[u8; KEPT_BYTES_MAX + 1]; 2];

/// A stemmer that remembers the words it met last, until it is dropped; then they are wiped.
pub(crate) struct Stems {
    stemmer: Stemmer,
    kept: Vec<Entry>,
}

impl Default for Stems {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), kept: Vec::new() }
    }
}

impl Drop for Stems {
    fn drop(&mut self) {
        self.kept.zeroize();
    }
}

impl Stems {
    /// One that pays where many texts follow each other.
    pub(crate) fn for_many() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), kept: vec![Entry::default(); KEPT] }
    }

    /// Hands over the Snowball stem of a word of lower-case ASCII letters.
    pub(super) fn with_stem(&mut self, word: &str, take: impl FnOnce(&str)) {
        // No rule of the stemmer begins with one of these ends, nor with so short a word.
        let plain = word.ends_with(['a', 'b', 'f', 'h', 'j', 'k', 'o', 'p', 'q', 'u', 'v', 'w', 'x', 'z']);
        if plain || !(3..=STEMMED_BYTES_MAX).contains(&word.len()) {
            return take(word);
        }
        let Some(name) = packed(word).filter(|_| !self.kept.is_empty()) else {
            return take(&self.stemmer.stem(word));
        };
        let place = place(&name);
        if self.kept[place][0] == name
            && let Some(stem) = unpacked(&self.kept[place][1])
        {
            return take(stem);
        }
        let stem = self.stemmer.stem(word);
        if let Some(stem) = packed(&stem) {
            self.kept[place] = [name, stem];
        }
        take(&stem);
    }
}

fn packed(word: &str) -> Option<[u8; KEPT_BYTES_MAX + 1]> {
    let mut out = [0; KEPT_BYTES_MAX + 1];
    out.get_mut(..word.len()).filter(|_| word.len() <= KEPT_BYTES_MAX)?.copy_from_slice(word.as_bytes());
    out[KEPT_BYTES_MAX] = word.len() as u8;
    Some(out)
}

fn unpacked(packed: &[u8; KEPT_BYTES_MAX + 1]) -> Option<&str> {
    std::str::from_utf8(packed.get(..usize::from(packed[KEPT_BYTES_MAX]))?).ok()
}

fn place(name: &[u8; KEPT_BYTES_MAX + 1]) -> usize {
    let mixed = u128::from_le_bytes(*name).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    (mixed >> 96) as usize & (KEPT - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_way_to_a_stem_is_the_long_one(words in proptest::collection::vec("[a-z]{1,9}([a-z]|h|k|o|w|ing|ed|ies|ation|y|ational)", 1..40)) {
            let (mut many, mut one) = (Stems::for_many(), Stems::default());
            for word in words.iter().chain(&words) {
                let expected = Stemmer::create(Algorithm::English).stem(word);
                many.with_stem(word, |stem| assert_eq!(stem, expected));
                one.with_stem(word, |stem| assert_eq!(stem, expected));
            }
        }
    }
}
