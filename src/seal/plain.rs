use std::fmt;
use std::ops::Deref;

use zeroize::Zeroize;

/// The bytes of an opened value: zeroed when dropped, never shown.
pub(crate) struct Plain(Vec<u8>);

impl Plain {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Plain {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Plain {
    /// By whole words where it can: byte by byte it would cost as much as the opening.
    fn drop(&mut self) {
        let (head, words, tail) = bytemuck::pod_align_to_mut::<u8, u64>(&mut self.0);
        head.zeroize();
        words.zeroize();
        tail.zeroize();
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plain({} bytes)", self.0.len())
    }
}
