//! Blocks that were opened, side by side in few pages.

use crate::kernel::{Piece, Slab};

/// Room is taken for this many bytes at once, where so many are to come.
const ROOM_BYTES: usize = 8 << 20;

/// A block that was opened and is parsed in place; zeroed when it is let go of.
pub(crate) struct OpenedBlock {
    pub(crate) number: u32,
    /// The commit that wrote it.
    pub(crate) version: u64,
    piece: Piece,
    len: usize,
}

impl OpenedBlock {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.piece.as_slice()[..self.len]
    }
}

/// Opened blocks, and the room for more.
pub(crate) struct OpenedBlocks {
    blocks: Vec<OpenedBlock>,
    room: Slab,
}

impl Default for OpenedBlocks {
    fn default() -> Self {
        Self { blocks: Vec::new(), room: Slab::new(0) }
    }
}

impl OpenedBlocks {
    /// A block of `len` bytes, written by `open`; about `more` of its kind are to follow.
    pub(crate) fn add<E>(
        &mut self,
        (number, version): (u32, u64),
        len: usize,
        more: u64,
        open: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.room.is_short_of(len) {
            let wanted = len.saturating_mul(usize::try_from(more).unwrap_or(usize::MAX).saturating_add(1));
            self.room = Slab::new(wanted.min(ROOM_BYTES.max(len)));
        }
        let mut piece = self.room.cut(len);
        open(&mut piece.as_mut_slice()[..len])?;
        self.blocks.push(OpenedBlock { number, version, piece, len });
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &OpenedBlock> {
        self.blocks.iter()
    }

    /// Lets go of all of them.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
