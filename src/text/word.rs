//! From one word to its terms.

use super::analyser::{fold, is_apostrophe};
use super::stems::Stems;
use super::stop_words::is_stop_word;

/// Where terms go.
pub(super) struct Sink<'a, E> {
    pub(super) emit: E,
    pub(super) stems: &'a mut Stems,
}

/// Emits the terms of a word: letters, digits, marks and apostrophes.
pub(super) fn emit_word(word: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    let word = word.trim_matches(is_apostrophe);
    match word.find(is_apostrophe) {
        None => emit_plain(word, sink),
        Some(at) => {
            let rest = word[at..].trim_start_matches(is_apostrophe);
            emit_contraction(&word[..at], rest, sink);
        }
    }
}

fn emit_contraction(base: &str, rest: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    match fold(rest).as_ref() {
        "s" | "m" | "re" | "ve" | "ll" | "d" => emit_plain(base, sink),
        "t" if base.ends_with(['n', 'N']) => {}
        _ => {
            emit_piece(&[base, rest].concat().replace(is_apostrophe, ""), sink);
            rest.split(is_apostrophe)
                .filter(|part| part.chars().nth(1).is_some())
                .for_each(|part| emit_plain(part, sink));
        }
    }
}

fn emit_plain(word: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    if word.is_empty() {
        return;
    }
    let mut rest = word;
    let mut end = piece_end(rest);
    if end == rest.len() {
        return emit_piece(word, sink);
    }
    if is_ordinal(&rest[..end], &rest[end..]) {
        return emit_piece(&rest[..end], sink);
    }
    emit_piece(word, sink);
    loop {
        emit_piece(&rest[..end], sink);
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

pub(super) fn emit_piece(piece: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    let term = fold(piece);
    if term.is_empty() || is_stop_word(&term) {
        return;
    }
    match term.as_bytes() {
        [b'0', digit] if digit.is_ascii_digit() => (sink.emit)(&term[1..]),
        bytes if !bytes.iter().all(u8::is_ascii_lowercase) => (sink.emit)(&term),
        _ => sink.stems.with_stem(&term, &mut sink.emit),
    }
}
