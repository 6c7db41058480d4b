//! File contents in shared 4 KiB pages: a copy costs nothing until one side writes.

use std::sync::Arc;

const PAGE: usize = 4096;
/// Longer files are refused; a test that makes one has gone wrong.
const LEN_MAX: u64 = 1 << 36;

type Page = [u8; PAGE];

/// Bytes with holes that read as zeros.
#[derive(Debug, Clone, Default)]
pub(super) struct PagedBytes {
    len: u64,
    pages: Arc<Vec<Option<Arc<Page>>>>,
}

impl PagedBytes {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn fits(len: u64) -> bool {
        len <= LEN_MAX
    }

    /// Bytes on the disk: holes take none.
    pub(super) fn allocated(&self) -> u64 {
        (self.pages.iter().flatten().count() * PAGE) as u64
    }

    /// How many bytes a write would newly take on the disk.
    pub(super) fn growth(&self, offset: u64, len: usize) -> u64 {
        let missing = |piece: &Piece| self.pages.get(piece.page).is_none_or(Option::is_none);
        (pieces(offset, len, PAGE).filter(missing).count() * PAGE) as u64
    }

    pub(super) fn set_len(&mut self, len: u64) {
        let pages = Arc::make_mut(&mut self.pages);
        pages.resize(len.div_ceil(PAGE as u64) as usize, None);
        let used = (len % PAGE as u64) as usize;
        if len < self.len
            && used > 0
            && let Some(Some(last)) = pages.last_mut()
        {
            Arc::make_mut(last)[used..].fill(0);
        }
        self.len = len;
    }

    /// Whether the range lies inside; fills `buffer` if so.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.len) {
            return false;
        }
        for piece in pieces(offset, buffer.len(), PAGE) {
            let target = &mut buffer[piece.at..piece.at + piece.len];
            match self.pages.get(piece.page) {
                Some(Some(page)) => target.copy_from_slice(&page[piece.start..piece.start + piece.len]),
                _ => target.fill(0),
            }
        }
        true
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if end > self.len {
            self.set_len(end);
        }
        let pages = Arc::make_mut(&mut self.pages);
        for piece in pieces(offset, bytes.len(), PAGE) {
            let page = pages[piece.page].get_or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(page)[piece.start..piece.start + piece.len]
                .copy_from_slice(&bytes[piece.at..piece.at + piece.len]);
        }
    }
}

/// A part of a range that lies in one aligned block.
pub(super) struct Piece {
    /// The block's number.
    page: usize,
    /// Where in the block it begins.
    start: usize,
    /// Where in the range it begins.
    pub(super) at: usize,
    pub(super) len: usize,
}

/// Cuts `offset..offset + len` at multiples of `block`.
pub(super) fn pieces(offset: u64, len: usize, block: usize) -> impl Iterator<Item = Piece> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let position = offset + at as u64;
        let start = (position % block as u64) as usize;
        let piece = Piece { page: (position / block as u64) as usize, start, at, len: (block - start).min(len - at) };
        at += piece.len;
        (piece.len > 0).then_some(piece)
    })
}
