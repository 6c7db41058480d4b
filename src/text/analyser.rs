//! From a text to its terms.
//!
//! Normal form NFKC. Words end where UAX 29 ends them, and also at `_`, `.`, `:` and `'`; what such joiners hold
//! together is a term as a whole beside its parts, so that versions, dates, addresses, paths and identifiers are found
//! either way. English words are stemmed, stop words left out. Scripts without spaces give characters and pairs.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::script::{Class, class_of};
use super::stems::Stems;
use super::word::{Sink, emit_piece, emit_word};

/// Calls `emit` with every term of a text, in order. Cost: linear in the text.
pub(super) fn for_each_term(text: &str, stems: &mut Stems, emit: impl FnMut(&str)) {
    let sink = &mut Sink { emit, stems };
    let text = normal_form(text);
    for_each_run(&text, |class, run| match class {
        Class::Unspaced => emit_characters(run, sink),
        _ => emit_chunk(run, sink),
    });
}

fn normal_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let text = match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfkc().collect()),
    };
    if text.contains(is_ignorable) { Cow::Owned(text.replace(is_ignorable, "").nfkc().collect()) } else { text }
}

/// Characters that change how others look, not what they say.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// What joins parts to a whole when no space stands beside it.
fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '.' | '/' | ':' | '@' | '-' | '#' | '+' | '\\' | '&' | '=' | '?' | '%' | '~')
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
}

fn for_each_run(text: &str, mut visit: impl FnMut(Class, &str)) {
    let (mut start, mut current) = (0, Class::Other);
    for (at, c) in text.char_indices() {
        let class = match class_of(c) {
            Class::Other if is_joiner(c) || is_apostrophe(c) => Class::Spaced,
            class => class,
        };
        if class != current {
            if current != Class::Other {
                visit(current, &text[start..at]);
            }
            (start, current) = (at, class);
        }
    }
    if current != Class::Other {
        visit(current, &text[start..]);
    }
}

/// Each character, and each pair of neighbours.
fn emit_characters(run: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    let mut before = None;
    for (at, grapheme) in run.grapheme_indices(true) {
        let end = at + grapheme.len();
        (sink.emit)(grapheme);
        if let Some(start) = before.replace(at) {
            (sink.emit)(&run[start..end]);
        }
    }
}

fn emit_chunk(chunk: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    if chunk.bytes().all(|b| b.is_ascii_lowercase()) {
        // Most words by far, and nothing of what follows says anything else of them.
        return emit_piece(chunk, sink);
    }
    let whole = chunk.trim_matches(|c| is_joiner(c) || is_apostrophe(c));
    emit_sharp_or_plus(chunk, whole, sink);
    let mut rest = whole;
    while let Some(at) = break_in(rest) {
        emit_compound(rest[..at].trim_end_matches(is_joiner), sink);
        rest = rest[at..].trim_start_matches(is_joiner);
    }
    emit_compound(rest, sink);
}

/// Where a run of joiners stands that joins nothing, such as an ellipsis.
fn break_in(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find(is_joiner).map(|at| at + from) {
        let length = text[at..].len() - text[at..].trim_start_matches(is_joiner).len();
        if length > 1 && !matches!(&text[at..at + length], "::" | "://" | "//" | "/?") {
            return Some(at);
        }
        from = at + length;
    }
    None
}

/// The whole, what dots hold together in it (versions, hosts, file names), and its words.
fn emit_compound(text: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    if text.contains(is_joiner) {
        (sink.emit)(&fold(text));
        text.split(|c| is_joiner(c) && c != '.').for_each(|part| emit_dotted(part, text, sink));
    } else if !text.is_empty() {
        emit_word(text, sink);
    }
}

fn emit_dotted(part: &str, whole: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    let part = part.trim_matches('.');
    if part.contains('.') {
        if part.len() < whole.len() {
            (sink.emit)(&fold(part));
        }
        let bare = part.trim_start_matches(['v', 'V']);
        if bare.len() < part.len() && bare.starts_with(|c: char| c.is_ascii_digit()) {
            (sink.emit)(&fold(bare));
        }
    }
    part.split('.').for_each(|word| emit_word(word, sink));
}

/// `C++`, `C#` and their like, which lose their names without the signs.
fn emit_sharp_or_plus(chunk: &str, whole: &str, sink: &mut Sink<'_, impl FnMut(&str)>) {
    let short = !whole.is_empty() && whole.len() <= 2 && whole.bytes().all(|b| b.is_ascii_alphabetic());
    let name = chunk.trim_start_matches(is_joiner).trim_end_matches(['.', ':', '?', '-', '/']);
    if short && matches!(name.strip_prefix(whole), Some("++" | "#")) {
        (sink.emit)(&fold(name));
    }
}

/// Lower case; Latin letters without their accents.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
        return if lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) };
    }
    let mut latin = false;
    let plain = text.chars().flat_map(char::to_lowercase).nfkd().filter(|c| {
        let accent = matches!(c, '\u{300}'..='\u{36f}');
        latin = if accent { latin } else { c.is_ascii_alphabetic() };
        !(accent && latin)
    });
    Cow::Owned(plain.nfkc().collect())
}
