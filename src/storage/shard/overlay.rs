use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use redb::StorageBackend;

use crate::world::{File, retry_interrupted};

const PAGE_BYTES: u64 = 4096;
/// Longer reads past the end are refused also where they could be answered: a damaged page may ask for gigabytes.
const PAST_END_MAX: usize = 1 << 20;

/// What a read past the end of the file is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PastEnd {
    /// An error, after which redb refuses the whole file.
    Error,
    /// Zeros, which no page begins with: what lies elsewhere can still be read.
    Zeros,
}

/// A file that is only read: what is written to it stays in memory.
#[derive(Debug)]
pub(super) struct Overlay {
    file: Arc<dyn File>,
    past_end: PastEnd,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    len: u64,
    /// How far the file's own bytes count.
    of_file: u64,
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Overlay {
    pub(super) fn new(file: Arc<dyn File>, past_end: PastEnd) -> io::Result<Self> {
        let len = retry_interrupted(|| file.len())?;
        Ok(Self { file, past_end, state: Mutex::new(State { len, of_file: len, pages: BTreeMap::new() }) })
    }

    fn page<'s>(&self, state: &'s mut State, number: u64) -> io::Result<&'s mut [u8]> {
        if !state.pages.contains_key(&number) {
            let mut page = vec![0; PAGE_BYTES as usize].into_boxed_slice();
            self.read_file(state.of_file, number * PAGE_BYTES, &mut page)?;
            state.pages.insert(number, page);
        }
        state.pages.get_mut(&number).map(|page| &mut **page).ok_or_else(|| io::ErrorKind::Other.into())
    }

    /// The file's bytes, and zeros behind them.
    fn read_file(&self, of_file: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = of_file.saturating_sub(offset).min(out.len() as u64) as usize;
        let (bytes, rest) = out.split_at_mut(there);
        rest.fill(0);
        if bytes.is_empty() { Ok(()) } else { retry_interrupted(|| self.file.read_at(offset, bytes)) }
    }
}

/// The pages that a range touches, and the part of each.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let end = offset + len as u64;
    (offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES)).map(move |page| {
        let first = page * PAGE_BYTES;
        (page, offset.max(first) as usize - first as usize..(end.min(first + PAGE_BYTES) - first) as usize)
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state.lock();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > state.len) {
            if self.past_end == PastEnd::Error || out.len() > PAST_END_MAX {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            out.fill(0);
            return Ok(());
        }
        self.read_file(state.of_file, offset, out)?;
        for (page, part) in parts(offset, out.len()) {
            let at = (page * PAGE_BYTES + part.start as u64 - offset) as usize;
            if let Some(held) = state.pages.get(&page)
                && let (Some(to), Some(from)) = (out.get_mut(at..at + part.len()), held.get(part))
            {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.state.lock();
        if len < state.len {
            state.pages.split_off(&len.div_ceil(PAGE_BYTES));
            if let Some(last) = state.pages.get_mut(&(len / PAGE_BYTES)) {
                last.iter_mut().skip((len % PAGE_BYTES) as usize).for_each(|byte| *byte = 0);
            }
        }
        (state.len, state.of_file) = (len, state.of_file.min(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let state = &mut *self.state.lock();
        for (page, part) in parts(offset, data.len()) {
            let at = (page * PAGE_BYTES + part.start as u64 - offset) as usize;
            let held = self.page(state, page)?;
            if let (Some(to), Some(from)) = (held.get_mut(part.clone()), data.get(at..at + part.len())) {
                to.copy_from_slice(from);
            }
        }
        state.len = state.len.max(offset + data.len() as u64);
        Ok(())
    }
}
