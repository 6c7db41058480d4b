//! Cutting the log: entries that are too old go, and what stays beside them gets a new key.

use std::ops::ControlFlow;

use crate::codec::log_entry::LogEntry;
use crate::codec::table::number_of;
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::engine::head::{self, Found, Head, Repair, log_chunk};
use crate::engine::recall::ATTEMPTS;
use crate::engine::user_writer::UserWriter;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Timestamp;
use crate::storage::ReadView;

/// Chunks of one commit.
const CHUNKS_MAX: usize = 16;

impl Core {
    /// Removes the entries of a user's log before `begins`, some chunks to a commit; how many there were.
    pub(crate) fn trim_log(&self, user: UserHash, begins: Timestamp) -> Result<u64> {
        let mut trimmed = 0;
        let mut is_due = self.is_log_due(user, begins)?;
        while is_due {
            let (count, more) = self
                .write(user, true, move |transaction| transaction.with_user(user, |writer| writer.trim_log(begins)))?;
            trimmed += count;
            is_due = more;
        }
        Ok(trimmed)
    }

    fn is_log_due(&self, user: UserHash, begins: Timestamp) -> Result<bool> {
        let look = || -> Result<bool> {
            let view = self.read(user)?;
            let Found::Live(head) = head::load(self, &view, user, Repair::No)? else { return Ok(false) };
            Ok(!self.log_chunks(&head, &view, begins, 1)?.is_empty())
        };
        // A memory may be forgotten between view and key, which then are not of the same time.
        let mut looked = look();
        for _ in 1..ATTEMPTS {
            match &looked {
                Err(error) if error.kind() == ErrorKind::Corrupt => looked = look(),
                _ => break,
            }
        }
        looked
    }

    /// The oldest chunks of the log, up to the first one that has nothing to trim.
    fn log_chunks(&self, head: &Head, view: &ReadView, begins: Timestamp, most: usize) -> Result<Vec<LogChunk>> {
        let mut chunks: Vec<LogChunk> = Vec::new();
        view.scan_from(Table::Log, &head.user.0, |key, bytes| {
            if !key.starts_with(&head.user.0) {
                return Ok(ControlFlow::Break(()));
            }
            let seq = number_of(key).ok_or_else(|| Error::corrupt("log: malformed key"))?;
            let number = log_chunk(seq);
            if chunks.last().is_none_or(|last| last.number != number) {
                if chunks.len() == most || chunks.last().is_some_and(|last| !last.is_due(begins)) {
                    return Ok(ControlFlow::Break(()));
                }
                chunks.push(LogChunk { number, entries: Vec::new() });
            }
            let chunk = head.chunk_key(self, view, number)?;
            let entry = LogEntry::decode(&head.open_value(self, Table::Log, key, &chunk, bytes)?)?;
            if let Some(last) = chunks.last_mut() {
                last.entries.push((seq, entry));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        chunks.retain(|chunk| chunk.is_due(begins));
        Ok(chunks)
    }
}

/// The entries that share a key.
struct LogChunk {
    number: u64,
    entries: Vec<(u64, LogEntry)>,
}

impl LogChunk {
    fn is_due(&self, begins: Timestamp) -> bool {
        self.entries.iter().any(|(_, entry)| entry.at < begins)
    }
}

impl UserWriter<'_, '_> {
    /// Trims some chunks; how many entries went, and whether there may be more.
    fn trim_log(&mut self, begins: Timestamp) -> Result<(u64, bool)> {
        let core = self.transaction.core;
        let chunks = core.log_chunks(self.head(), &self.transaction.view, begins, CHUNKS_MAX)?;
        let more = chunks.len() == CHUNKS_MAX;
        // Readers of the commit before go on with the keys that they have.
        self.head_mut().chunks = std::sync::Arc::default();
        let mut trimmed = 0;
        for chunk in chunks {
            trimmed += self.trim_chunk(chunk, begins)?;
        }
        Ok((trimmed, more))
    }

    fn trim_chunk(&mut self, chunk: LogChunk, begins: Timestamp) -> Result<u64> {
        let (old, kept): (Vec<_>, Vec<_>) = chunk.entries.into_iter().partition(|(_, entry)| entry.at < begins);
        for (seq, entry) in &old {
            sabotage!(35, {
                let key = crate::codec::table::numbered(self.user, *seq);
                self.transaction.job.remove(Table::Log, &key);
                continue;
            });
            self.remove_value(Table::Log, *seq)?;
            let facts = self.facts();
            facts.log_images = facts.log_images.saturating_sub(entry.images());
        }
        // The key must go with what it sealed: else a later forgetting would leave it what was trimmed.
        if kept.is_empty() && chunk.number != log_chunk(self.head().facts.next_log) {
            self.remove_value(Table::Keys, chunk.number)?;
        } else {
            self.new_chunk_key(chunk.number)?;
            kept.iter().try_for_each(|(seq, entry)| self.rewrite_log(*seq, entry))?;
        }
        Ok(old.len() as u64)
    }
}
