//! What is read from the texts of callers.

use std::fmt::Display;
use std::str::FromStr;

use super::{exact, stable, text};
use crate::codec::receipt::Receipt;
use crate::codec::terms;
use crate::error::{Error, Result};
use crate::index::lexical::to_stored;
use crate::memory::limits::TEXT_BYTES_MAX;
use crate::memory::{Kind, MemoryId, Sensitivity, SnapshotId, StatusKind, Timestamp};
use crate::text::render::one_line;
use crate::text::time::{question_times, time_expressions};
use crate::text::{Likeness, QueryWords, TermList, estimate_tokens};

/// Reads a text and shows what it read.
type Reader = fn(&[u8]) -> Result<Vec<u8>>;

/// Instants from which expressions of time are read: today, a leap day, and the ends of the calendar and of time.
const NOWS: [i64; 7] = [
    1_767_225_600_000_000,
    1_709_164_800_000_000,
    0,
    -377_705_116_800_000_000,
    253_402_207_200_999_999,
    i64::MIN,
    i64::MAX,
];

/// A text that a memory may have; none for any other bytes.
fn memory_text(bytes: &[u8]) -> Option<&str> {
    text(bytes).ok().filter(|text| text.len() <= TEXT_BYTES_MAX)
}

/// Ids, times, receipts and names: what is read is shown, and what is shown is read.
pub(super) fn names(bytes: &[u8]) -> Result<bool> {
    let readers: [Reader; 7] = [
        again::<MemoryId>,
        again::<SnapshotId>,
        again::<Timestamp>,
        again::<Receipt>,
        again::<Kind>,
        again::<Sensitivity>,
        again::<StatusKind>,
    ];
    let mut taken = false;
    for reader in readers {
        taken |= stable(bytes, reader)?;
    }
    Ok(taken)
}

fn again<T: FromStr<Err = Error> + Display>(bytes: &[u8]) -> Result<Vec<u8>> {
    Ok(text(bytes)?.parse::<T>()?.to_string().into_bytes())
}

/// Every text of a memory gives terms that can be stored and read back, and that a question of the same words has.
pub(super) fn words(bytes: &[u8]) -> Result<bool> {
    let Some(text) = memory_text(bytes) else { return Ok(false) };
    let list = TermList::of(text);
    if !exact(&terms::encode(&to_stored(&list, &[])), |bytes| Ok(terms::encode(&terms::decode(bytes)?)))? {
        return Err(Error::corrupt("the terms of a text are not read back"));
    }
    let question = QueryWords::of(text);
    let is_in = |term| list.counts.binary_search_by_key(&term, |counted| counted.term).is_ok();
    if question.terms.is_empty() != list.counts.is_empty() || !question.terms.iter().all(|asked| is_in(asked.term)) {
        return Err(Error::corrupt("a text does not have the words of the same question"));
    }
    let alike = Likeness::of(text);
    if ![0.0, 1.0].contains(&alike.with(&alike)) || estimate_tokens(text) > text.len() {
        return Err(Error::corrupt("a text is not like itself, or longer in tokens than in bytes"));
    }
    question.mentions(text.get(..text.len() / 2).unwrap_or(text));
    Ok(true)
}

/// Every expression of time is a stretch of time, from whatever instant it is read.
pub(super) fn times(bytes: &[u8]) -> Result<bool> {
    let Some(text) = memory_text(bytes) else { return Ok(false) };
    let mut taken = false;
    for now in NOWS {
        for told in time_expressions(text, now).into_iter().chain(question_times(text, now)) {
            taken = true;
            let (from, to) = told.interval.reaches();
            let meets = told.interval.meets(now);
            let is_whole = told.interval.from <= told.interval.to && from <= told.interval.from;
            if !is_whole || told.interval.to > to || !(0.0..=1.0).contains(&meets) || told.text.is_empty() {
                return Err(Error::corrupt(format!("at {now}: {:?} is no stretch of time", told.interval)));
            }
        }
    }
    Ok(taken)
}

/// Whatever a memory says, it is one line of a prompt and opens no tag.
pub(super) fn prompt_line(bytes: &[u8]) -> Result<bool> {
    let Some(text) = memory_text(bytes) else { return Ok(false) };
    let line = one_line(text);
    let bare: String = line.split_whitespace().flat_map(str::chars).flat_map(char::to_lowercase).collect();
    let opens = ["<memories", "</memories", "<|"].iter().any(|tag| bare.contains(tag));
    if opens || line.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(Error::corrupt("a memory can leave its line"));
    }
    if one_line(&line) == line { Ok(true) } else { Err(Error::corrupt("a line of a prompt is not one of itself")) }
}
