//! Bytes that begin on a cache line.

use bytemuck::{Pod, Zeroable};
use zeroize::Zeroize;

const LINE: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

// SAFETY: a plain array of bytes, for which zero is a value.
unsafe impl Zeroable for Line {}
// SAFETY: 64 bytes at an alignment of 64 leave no padding, and every bit pattern is a value.
unsafe impl Pod for Line {}

/// A buffer of whole 64-byte lines, aligned to 64.
#[derive(Default, Clone)]
pub(crate) struct AlignedBytes {
    lines: Vec<Line>,
}

impl Drop for AlignedBytes {
    fn drop(&mut self) {
        bytemuck::cast_slice_mut::<Line, u64>(&mut self.lines).zeroize();
    }
}

impl AlignedBytes {
    /// `len` zero bytes, rounded up to whole lines.
    pub(crate) fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([0; LINE]); len.div_ceil(LINE)] }
    }

    /// The bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }

    /// The bytes, to change.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
