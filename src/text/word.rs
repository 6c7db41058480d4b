//! From one word to its terms.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::analyser::{fold, is_apostrophe};
use super::stop_words::is_stop_word;

/// Longer words are kept as they are.
const STEMMED_BYTES_MAX: usize = 40;

/// Emits the terms of a word: letters, digits, marks and apostrophes.
pub(super) fn emit_word(word: &str, emit: &mut impl FnMut(&str)) {
    let word = word.trim_matches(is_apostrophe);
    match word.find(is_apostrophe) {
        None => emit_plain(word, emit),
        Some(at) => {
            let rest = word[at..].trim_start_matches(is_apostrophe);
            emit_contraction(&word[..at], rest, emit);
        }
    }
}

fn emit_contraction(base: &str, rest: &str, emit: &mut impl FnMut(&str)) {
    match fold(rest).as_ref() {
        "s" | "m" | "re" | "ve" | "ll" | "d" => emit_plain(base, emit),
        "t" if base.ends_with(['n', 'N']) => {}
        _ => {
            emit_piece(&[base, rest].concat().replace(is_apostrophe, ""), emit);
            rest.split(is_apostrophe)
                .filter(|part| part.chars().nth(1).is_some())
                .for_each(|part| emit_plain(part, emit));
        }
    }
}

fn emit_plain(word: &str, emit: &mut impl FnMut(&str)) {
    if word.is_empty() {
        return;
    }
    let mut rest = word;
    let mut end = piece_end(rest);
    if end == rest.len() {
        return emit_piece(word, emit);
    }
    if is_ordinal(&rest[..end], &rest[end..]) {
        return emit_piece(&rest[..end], emit);
    }
    emit_piece(word, emit);
    loop {
        emit_piece(&rest[..end], emit);
        rest = &rest[end..];
        if rest.is_empty() {
            return;
        }
        end = piece_end(rest);
    }
}

fn is_ordinal(number: &str, suffix: &str) -> bool {
    number.bytes().all(|b| b.is_ascii_digit())
        && ["st", "nd", "rd", "th"].iter().any(|s| suffix.eq_ignore_ascii_case(s))
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Lower,
    Upper,
    Digit,
    Mark,
}

fn shape(c: char) -> Shape {
    match c {
        _ if c.is_numeric() => Shape::Digit,
        _ if c.is_uppercase() => Shape::Upper,
        _ if c.is_alphabetic() => Shape::Lower,
        _ => Shape::Mark,
    }
}

/// Where the first piece of a word ends: before a digit after a letter and the reverse, and at the humps of camelCase
/// (`HTTPServer` is `HTTP` and `Server`).
fn piece_end(word: &str) -> usize {
    let mut before: Option<(Shape, usize)> = None;
    let mut capitals = 0;
    for (at, c) in word.char_indices() {
        let now = shape(c);
        match (before.map(|(shape, _)| shape), now) {
            (Some(Shape::Digit), Shape::Lower | Shape::Upper)
            | (Some(Shape::Lower | Shape::Upper), Shape::Digit)
            | (Some(Shape::Lower), Shape::Upper) => return at,
            (Some(Shape::Upper), Shape::Lower) if capitals > 1 => return before.map_or(at, |(_, start)| start),
            _ => {}
        }
        if now != Shape::Mark {
            capitals = if now == Shape::Upper { capitals + 1 } else { 0 };
            before = Some((now, at));
        }
    }
    word.len()
}

fn emit_piece(piece: &str, emit: &mut impl FnMut(&str)) {
    let term = fold(piece);
    if term.is_empty() || is_stop_word(&term) {
        return;
    }
    match term.as_bytes() {
        [b'0', digit] if digit.is_ascii_digit() => emit(&term[1..]),
        bytes if bytes.len() > STEMMED_BYTES_MAX || !bytes.iter().all(u8::is_ascii_lowercase) => emit(&term),
        _ => emit(&stem(&term)),
    }
}

/// The Snowball stem of an English word of ASCII letters.
fn stem(word: &str) -> Cow<'_, str> {
    // No rule of the stemmer begins with one of these ends, nor with so short a word.
    if word.len() < 3 || word.ends_with(['a', 'b', 'f', 'h', 'j', 'k', 'o', 'p', 'q', 'u', 'v', 'w', 'x', 'z']) {
        return Cow::Borrowed(word);
    }
    Stemmer::create(Algorithm::English).stem(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_short_way_to_a_stem_is_the_long_one(word in "[a-z]{1,9}([a-z]|h|k|o|w|ing|ed|ies|ation)") {
            proptest::prop_assert_eq!(stem(&word), Stemmer::create(Algorithm::English).stem(&word));
        }
    }
}
