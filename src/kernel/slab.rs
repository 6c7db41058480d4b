//! One allocation for many blocks, so that a scan runs on in address order and over few pages.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

use zeroize::Zeroize;

/// Every piece begins on a cache line and is whole lines long.
pub(crate) const LINE: usize = 64;
/// From this size on memory comes from the system, in huge pages where it has them.
const HUGE: usize = 2 << 20;

/// Zeroed memory that pieces are cut from; it lives as long as its last piece.
struct Memory {
    at: NonNull<u8>,
    len: usize,
    mapped: bool,
}

// SAFETY: the memory is plain bytes, and each byte belongs to at most one piece.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared `Memory` gives no access to its bytes.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(len: usize) -> Self {
        match map(len) {
            Some(at) => Self { at, len, mapped: true },
            None => Self { at: allocate(len), len, mapped: false },
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `len` bytes that were zeroed at first, and nothing points into them any more.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) };
        // The pieces are whole lines, so this is all of it; a scan's rows can be turned back into text.
        bytemuck::pod_align_to_mut::<u8, u64>(bytes).1.zeroize();
        if self.mapped {
            unmap(self.at, self.len);
        } else if let Some(layout) = layout(self.len) {
            // SAFETY: allocated by `allocate` with this layout, and nothing points into it any more.
            unsafe { dealloc(self.at.as_ptr(), layout) };
        }
    }
}

/// None for no bytes, and for more than there can be.
fn layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len, LINE).ok().filter(|layout| layout.size() > 0)
}

fn allocate(len: usize) -> NonNull<u8> {
    let Some(layout) = layout(len) else { return NonNull::<[u64; 8]>::dangling().cast() };
    // SAFETY: the layout has a size.
    let at = unsafe { alloc_zeroed(layout) };
    NonNull::new(at).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(all(target_os = "linux", not(miri)))]
fn map(len: usize) -> Option<NonNull<u8>> {
    if len < HUGE {
        return None;
    }
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping touches no other memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping was made above; a refusal only means ordinary pages.
    unsafe { libc::madvise(start, len, libc::MADV_HUGEPAGE) };
    NonNull::new(start.cast())
}

#[cfg(all(target_os = "linux", not(miri)))]
fn unmap(at: NonNull<u8>, len: usize) {
    // SAFETY: mapped by `map` with this length, and nothing points into it any more.
    unsafe { libc::munmap(at.as_ptr().cast(), len) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn map(_len: usize) -> Option<NonNull<u8>> {
    None
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn unmap(_at: NonNull<u8>, _len: usize) {}

/// Memory to cut pieces from, front to back.
pub(crate) struct Slab {
    memory: Arc<Memory>,
    used: usize,
}

impl Slab {
    /// Room for pieces of `len` bytes together.
    pub(crate) fn new(len: usize) -> Self {
        Self { memory: Arc::new(Memory::new(len.next_multiple_of(LINE))), used: 0 }
    }

    /// Whether the next `len` bytes would need new memory.
    pub(crate) fn is_short_of(&self, len: usize) -> bool {
        len.next_multiple_of(LINE) > self.memory.len - self.used
    }

    /// The next `len` bytes, rounded up to whole lines, all zero; from new memory where the room is used up.
    pub(crate) fn cut(&mut self, len: usize) -> Piece {
        if self.is_short_of(len) {
            *self = Self::new(len);
        }
        let len = len.next_multiple_of(LINE);
        // SAFETY: `used` is at most the length of the memory.
        let at = unsafe { self.memory.at.add(self.used) };
        self.used += len;
        Piece { at, len, _memory: Arc::clone(&self.memory) }
    }
}

/// Some bytes of a slab, for their owner alone.
pub(crate) struct Piece {
    at: NonNull<u8>,
    len: usize,
    _memory: Arc<Memory>,
}

// SAFETY: the bytes belong to this piece alone.
unsafe impl Send for Piece {}
// SAFETY: a shared piece is only read.
unsafe impl Sync for Piece {}

impl Piece {
    /// The bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes that are in memory which this piece keeps; no other piece has them.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }

    /// The bytes, to change.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and this piece is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}
