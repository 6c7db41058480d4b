//! Analysing texts again when the analyser has changed. Until that is done, their terms are made anew at each load.

use crate::codec::head::BLOCK_ROWS;
use crate::codec::table::PACKED;
use crate::codec::{Table, UserHash, terms};
use crate::engine::core::Core;
use crate::engine::head::row_chunk;
use crate::engine::remember::terms_of;
use crate::engine::user_writer::{Before, UserWriter};
use crate::engine::words::parse;
use crate::error::Result;
use crate::text::{ANALYSER, Stems};

/// Blocks that one commit takes on.
const BLOCKS_A_COMMIT: u32 = 32;

impl Core {
    /// Stores the terms of a user's texts anew where another analyser made them; of how many memories. What a crash or an
    /// error leaves undone, the next call does.
    pub(crate) fn reindex(&self, user: UserHash) -> Result<u64> {
        let (mut done, mut from) = (0, Some(0));
        while let Some(first) = from {
            if self.head(user)?.is_none_or(|head| head.facts.analyser == ANALYSER) {
                break;
            }
            let step = self.write(user, false, move |transaction| {
                transaction.with_user(user, |writer| writer.reindex(first, &mut Stems::for_many()))
            })?;
            done += step.0;
            from = step.1;
        }
        Ok(done)
    }
}

impl UserWriter<'_, '_> {
    /// Some blocks from `first` on, then the tail; returns where to go on.
    fn reindex(&mut self, first: u32, stems: &mut Stems) -> Result<(u64, Option<u32>)> {
        let (closed, next_row) = (self.head().facts.closed_blocks, self.head().facts.next_row);
        let end = first.saturating_add(BLOCKS_A_COMMIT).min(closed);
        let mut done = 0;
        for block in first..end {
            done += self.reindex_block(block, stems)?;
            for row in block * BLOCK_ROWS..(block + 1) * BLOCK_ROWS {
                done += self.reindex_row(row, stems)?;
            }
        }
        if end < closed {
            return Ok((done, Some(end)));
        }
        for row in closed * BLOCK_ROWS..next_row {
            done += self.reindex_row(row, stems)?;
        }
        self.facts().analyser = ANALYSER;
        Ok((done, None))
    }

    /// The terms of a row that has a value of its own.
    fn reindex_row(&mut self, row: u32, stems: &mut Stems) -> Result<u64> {
        let Some(old) = self.value(Table::Terms, u64::from(row), row_chunk(row))? else { return Ok(0) };
        let Some(new) = self.new_terms(row, &old, stems)? else { return Ok(0) };
        self.put_terms(row, &new)?;
        Ok(1)
    }

    /// The list of a block.
    fn reindex_block(&mut self, block: u32, stems: &mut Stems) -> Result<u64> {
        let number = PACKED | u64::from(block);
        let Some(list) = self.value(Table::Terms, number, u64::from(block))? else { return Ok(0) };
        let (mut lists, mut done) = (Vec::new(), 0);
        for (row, old) in terms::decode_lists(&list)? {
            let new = self.new_terms(row, old, stems)?;
            done += u64::from(new.is_some());
            lists.push((row, new.unwrap_or_else(|| old.to_vec())));
        }
        if done > 0 {
            self.put_value(
                Table::Terms,
                number,
                u64::from(block),
                &terms::encode_lists(lists.iter().map(|(row, list)| (*row, list.as_slice()))),
                Before::Perhaps,
            )?;
        }
        Ok(done)
    }

    /// `None` where the analyser is the same, or the memory is gone.
    fn new_terms(&self, row: u32, old: &[u8], stems: &mut Stems) -> Result<Option<Vec<u8>>> {
        if parse(old)?.is_some() {
            return Ok(None);
        }
        Ok(self.record(row)?.map(|memory| terms_of(&memory, stems)))
    }
}
