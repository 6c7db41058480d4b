//! BERT's basic tokenisation, uncased: from a text to words, single signs and single ideographs.

use unicode_normalization::UnicodeNormalization;

use crate::unicode::{INVISIBLE, NONSPACING, PUNCTUATION};

/// Calls `visit` with every word of a text, in lower case and without accents.
pub(crate) fn for_each_word(text: &str, visit: impl FnMut(&str)) {
    let words = Words { word: String::new(), visit };
    if text.is_ascii() {
        let visible = text.bytes().filter(|b| !b.is_ascii_control() || is_blank(char::from(*b)));
        words.read(visible.map(|b| char::from(b.to_ascii_lowercase())));
    } else {
        let plain = text.chars().filter(|c| !is_dropped(*c)).nfd().filter(|c| !is_in(*c, &NONSPACING));
        words.read(plain.flat_map(char::to_lowercase));
    }
}

struct Words<V> {
    word: String,
    visit: V,
}

impl<V: FnMut(&str)> Words<V> {
    fn read(mut self, chars: impl Iterator<Item = char>) {
        for c in chars {
            if is_blank(c) {
                self.end_word();
            } else if stands_alone(c) {
                self.end_word();
                (self.visit)(c.encode_utf8(&mut [0; 4]));
            } else {
                self.word.push(c);
            }
        }
        self.end_word();
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            (self.visit)(&self.word);
            self.word.clear();
        }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

/// Control and format characters other than white space, and what stands for broken text.
fn is_dropped(c: char) -> bool {
    !is_blank(c) && (c == '\u{fffd}' || c.is_control() || is_in(c, &INVISIBLE))
}

fn stands_alone(c: char) -> bool {
    c.is_ascii_punctuation() || is_ideograph(c) || is_in(c, &PUNCTUATION)
}

/// The blocks that BERT calls Chinese.
fn is_ideograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xf900..=0xfaff
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0x2f800..=0x2fa1f
    )
}

/// Whether a character lies in one of the stretches that begin and end at these codes, by turns.
fn is_in(c: char, bounds: &[u32]) -> bool {
    !c.is_ascii() && bounds.partition_point(|bound| *bound <= u32::from(c)) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_plain_and_signs_stand_alone() {
        assert_eq!(words("Hello, World!"), ["hello", ",", "world", "!"]);
        assert_eq!(words(" Caf\u{e9} na\u{ef}ve\u{2026} "), ["cafe", "naive", "\u{2026}"]);
        assert_eq!(words("I'm 3\u{a0}km\taway"), ["i", "'", "m", "3", "km", "away"]);
        assert_eq!(words("用Rust写"), ["用", "rust", "写"]);
        assert_eq!(words("zero\u{200b}width \u{fffd}\u{0}\u{7f}"), ["zerowidth"]);
        assert_eq!(words("a\u{1}b"), words("a\u{1}b\u{ad}"), "both ways drop control characters");
        assert_eq!(words(" \r\n"), Vec::<String>::new());
    }

    #[test]
    fn the_stretches_ascend() {
        for bounds in [&PUNCTUATION[..], &NONSPACING, &INVISIBLE] {
            assert!(bounds.is_sorted_by(|a, b| a < b) && bounds.len().is_multiple_of(2));
        }
        assert!(is_in('\u{2026}', &PUNCTUATION) && !is_in('\u{e9}', &PUNCTUATION) && is_in('\u{301}', &NONSPACING));
    }
}
