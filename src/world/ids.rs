//! Monotonic `UUIDv7`.

use parking_lot::Mutex;

use super::random::Random;
use crate::error::{Error, Result};

const MILLIS_MAX: u64 = (1 << 48) - 1;
const TAIL_BITS: u32 = 74;
const TAIL_MAX: u128 = (1 << TAIL_BITS) - 1;
const RAND_B_MASK: u128 = (1 << 62) - 1;

/// Gives ids that only grow.
#[derive(Debug, Default)]
pub(super) struct IdSource {
    last: Mutex<Stamp>,
}

/// An id without its version and variant bits; ordered as the ids are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    millis: u64,
    tail: u128,
}

impl IdSource {
    pub(super) fn next(&self, now_micros: i64, random: &dyn Random) -> Result<[u8; 16]> {
        let mut noise = [0; 16];
        random.fill(&mut noise)?;
        let noise = u128::from_le_bytes(noise);
        let now = (now_micros.max(0) as u64 / 1000).min(MILLIS_MAX);
        let mut last = self.last.lock();
        let next = last.successor(now, noise).ok_or_else(|| Error::io("no ids are left: the clock is at its end"))?;
        *last = next;
        Ok(next.to_uuid())
    }
}

impl Stamp {
    /// The first stamp at `now`, or one after this stamp where `now` is not later than it.
    fn successor(self, now: u64, noise: u128) -> Option<Self> {
        if now > self.millis {
            return Some(Self::fresh(now, noise));
        }
        // A random step keeps ids of the same millisecond hard to guess from each other.
        let tail = self.tail + 1 + (noise & u128::from(u32::MAX));
        if tail <= TAIL_MAX {
            return Some(Self { millis: self.millis, tail });
        }
        (self.millis < MILLIS_MAX).then(|| Self::fresh(self.millis + 1, noise))
    }

    /// The top bit stays clear, so that a millisecond has room for 2^41 ids.
    fn fresh(millis: u64, noise: u128) -> Self {
        Self { millis, tail: noise & (TAIL_MAX >> 1) }
    }

    fn to_uuid(self) -> [u8; 16] {
        let rand_a = self.tail >> 62;
        let bits = u128::from(self.millis) << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | self.tail & RAND_B_MASK;
        bits.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;
    use crate::world::testing::SeededRandom;

    #[test]
    fn ids_grow_while_the_clock_jumps() {
        let (source, random) = (IdSource::default(), SeededRandom::new(1));
        let mut last = [0; 16];
        for step in 0..20_000_i64 {
            let now = 1_700_000_000_000_000 + (step * 7919) % 50_000 - step;
            let id = source.next(now, &random).unwrap();
            assert!(id > last, "step {step}");
            last = id;
        }
    }

    #[test]
    fn version_variant_and_time_stand_where_rfc_9562_puts_them() {
        let id = IdSource::default().next(0x0123_4567_89ab * 1000, &SeededRandom::new(2)).unwrap();
        assert_eq!(id[..6], [0x01, 0x23, 0x45, 0x67, 0x89, 0xab]);
        assert_eq!(id[6] >> 4, 7);
        assert_eq!(id[8] >> 6, 0b10);
    }

    #[test]
    fn a_full_tail_borrows_the_next_millisecond() {
        let full = Stamp { millis: 5, tail: TAIL_MAX };
        assert!(full.successor(3, 0).is_some_and(|next| next > full && next.millis == 6));
        let end = Stamp { millis: MILLIS_MAX, tail: TAIL_MAX };
        assert_eq!(end.successor(0, 0), None);
    }

    #[test]
    fn the_system_worlds_of_a_process_share_one_order() {
        let mut last = [0; 16];
        for _ in 0..1000 {
            let id = World::system().new_id().unwrap();
            assert!(id > last);
            last = id;
        }
    }

    #[test]
    fn extreme_clocks_give_ids() {
        for now in [i64::MIN, -1, 0, i64::MAX] {
            assert!(IdSource::default().next(now, &SeededRandom::new(3)).is_ok());
        }
    }
}
