//! The tokens, and how a word breaks up into them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

const LINES: &str = include_str!("../data/vocab.txt");
/// What a token that continues a word begins with.
const CONTINUES: &str = "##";
/// Longer words are unknown.
const WORD_CHARS_MAX: usize = 100;

type Pieces = HashMap<&'static str, u16, BuildHasherDefault<Fnv>>;

/// The tokens by their text.
pub(crate) struct Vocabulary {
    beginnings: Pieces,
    continuations: Pieces,
    longest: usize,
}

/// The vocabulary, built by the first call.
pub(crate) fn get() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(Vocabulary::read)
}

impl Vocabulary {
    fn read() -> Self {
        let mut all = Self { beginnings: Pieces::default(), continuations: Pieces::default(), longest: 0 };
        for (token, id) in LINES.lines().zip(0..) {
            let (piece, pieces) = match token.strip_prefix(CONTINUES) {
                Some(piece) if !piece.is_empty() => (piece, &mut all.continuations),
                _ => (token, &mut all.beginnings),
            };
            pieces.insert(piece, id);
            all.longest = all.longest.max(piece.len());
        }
        all
    }

    /// Adds the pieces of a word: the longest that begins it, then the longest that continues it, to its end. A word
    /// that cannot be told whole is left out.
    pub(crate) fn push_pieces(&self, word: &str, ids: &mut Vec<u16>) {
        if word.len() > WORD_CHARS_MAX && word.chars().nth(WORD_CHARS_MAX).is_some() {
            return;
        }
        let begin = ids.len();
        let (mut rest, mut pieces) = (word, &self.beginnings);
        while !rest.is_empty() {
            let Some((piece, id)) = self.longest_in(pieces, rest) else { return ids.truncate(begin) };
            ids.push(id);
            rest = &rest[piece.len()..];
            pieces = &self.continuations;
        }
    }

    fn longest_in<'a>(&self, pieces: &Pieces, rest: &'a str) -> Option<(&'a str, u16)> {
        let ends = (1..=rest.len().min(self.longest)).rev().filter(|end| rest.is_char_boundary(*end));
        ends.map(|end| &rest[..end]).find_map(|piece| Some((piece, *pieces.get(piece)?)))
    }
}

/// FNV-1a (Fowler, Noll, Vo): fast for short keys, and these come from no attacker.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    /// FNV's low bits are weak, and the table looks at both ends.
    fn finish(&self) -> u64 {
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_one_token() {
        let all = get();
        assert_eq!(LINES.lines().count(), 30_522);
        assert_eq!(all.beginnings.len() + all.continuations.len(), 30_522);
        assert!(all.longest < 64);
    }
}
