//! From sealed lists of terms to the words of a user.

use std::collections::BTreeMap;

use crate::codec::head::Digest;
use crate::codec::table::{Digested, PACKED, number_of};
use crate::codec::{Table, terms};
use crate::engine::core::Core;
use crate::engine::head::{self, Head, row_chunk};
use crate::engine::remember::terms_of;
use crate::engine::user_index::UserIndex;
use crate::engine::words::{Words, parse};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::ReadView;
use crate::text::{Stems, TermList};

/// Stored lists of terms by row.
type Lists = BTreeMap<u32, Vec<u8>>;

impl Core {
    /// The words of a held user; `None` where the shard is ahead of the index.
    pub(crate) fn words<'a>(&self, head: &Head, index: &'a UserIndex) -> Result<Option<&'a Words>> {
        if let Some(words) = index.words.get() {
            return Ok(Some(words));
        }
        let view = self.read(head.user)?;
        if head::version_in(&view, head.user)? != Some(head.version) {
            return Ok(None);
        }
        let built = self.build_words(head, &view, index)?;
        Ok(Some(index.words.get_or_init(|| built)))
    }

    fn build_words(&self, head: &Head, view: &ReadView, index: &UserIndex) -> Result<Words> {
        let (mut words, mut stems) = (Words::default(), Stems::for_many());
        let stored = self.stored_terms(head, view, &mut words)?;
        for facts in index.arena.iter() {
            let parsed = match stored.get(&facts.row) {
                Some(bytes) => match parse(bytes) {
                    // In a form that only a newer version reads: as good as another analyser's.
                    Err(error) if error.kind() == ErrorKind::Unsupported => None,
                    other => other?,
                },
                None => Some((TermList::default(), Vec::new())),
            };
            let (list, told) = match parsed {
                Some(parsed) => parsed,
                // Of another analyser: made anew from the text.
                None => match self.record_of(head, view, facts.row)? {
                    Some(memory) => parse(&terms_of(&memory, &mut stems))?.unwrap_or_default(),
                    None => continue,
                },
            };
            words.insert(facts, &list, told);
            words.join(facts, index.attributes(facts.row));
        }
        Ok(words)
    }

    /// Every list of terms by its row: a value of its own counts before the one in its block's list.
    fn stored_terms(&self, head: &Head, view: &ReadView, words: &mut Words) -> Result<Lists> {
        let (mut sum, mut own, mut packed) = (Digest::default(), Lists::new(), Lists::new());
        view.scan_user(Table::Terms, head.user, |key, bytes| {
            let taken = head.term(Table::Terms, key, bytes).and_then(|term| {
                sum.add(&term);
                self.take_terms(head, view, key, bytes, (&mut own, &mut packed))
            });
            match taken {
                Err(error) if error.is_of_a_value() => {
                    words.damaged.push(error.message().to_owned());
                    Ok(())
                }
                other => other,
            }
        })?;
        if sum != head.facts.digests[Digested::Terms as usize] && words.damaged.is_empty() {
            return Err(Error::corrupt(format!("terms of {}: values are missing, extra or stale", head.user)));
        }
        packed.append(&mut own);
        Ok(packed)
    }

    fn take_terms(
        &self,
        head: &Head,
        view: &ReadView,
        key: &[u8],
        bytes: &[u8],
        (own, packed): (&mut Lists, &mut Lists),
    ) -> Result<()> {
        let number = number_of(key).ok_or_else(|| Error::corrupt("terms: malformed key"))?;
        let is_list = number >= PACKED;
        let chunk = if is_list { number & (PACKED - 1) } else { row_chunk(number as u32) };
        let chunk = head.chunk_key(self, view, chunk)?;
        let plain = head.open_value(self, Table::Terms, key, &chunk, bytes)?;
        if is_list {
            packed.extend(terms::decode_lists(&plain)?.into_iter().map(|(row, terms)| (row, terms.to_vec())));
        } else {
            own.insert(number as u32, plain.to_vec());
        }
        Ok(())
    }
}
