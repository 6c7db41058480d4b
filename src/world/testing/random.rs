//! Seeded randomness.

use parking_lot::Mutex;

use crate::error::Result;
use crate::world::Random;

/// A small generator: one seed, one sequence. Not fit for keys.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 for bound 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True `part` times of `whole`.
    pub fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }
}

/// [`SplitMix64`] behind the library's door. Not fit for keys.
#[derive(Debug)]
pub struct SeededRandom(Mutex<SplitMix64>);

impl SeededRandom {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(SplitMix64::new(seed)))
    }
}

impl Random for SeededRandom {
    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        let mut generator = self.0.lock();
        for chunk in buffer.chunks_mut(8) {
            let bytes = generator.next_u64().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
        Ok(())
    }
}
