use mnemic::world::testing::SplitMix64;

use crate::work::pick;

/// A changed copy of an input; the seed decides the changes.
pub fn mutated(input: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = input.to_vec();
    mutate(&mut SplitMix64::new(seed), &mut bytes);
    bytes
}

/// Changes bytes as damage and malice do: cuts, swollen lengths, flips.
pub(crate) fn mutate(random: &mut SplitMix64, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(6) {
        let len = bytes.len().max(1) as u64;
        // Heads of files hold their lengths.
        let reach = if random.below(2) == 0 { len.min(256) } else { len };
        let at = random.below(reach) as usize;
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes
                .splice(at.min(bytes.len())..at.min(bytes.len()), (0..random.below(20)).map(|_| 0xff))
                .for_each(drop),
            2 if at + 4 <= bytes.len() => {
                let number = *pick(random, &[0u32, 1, 0x7fff_ffff, u32::MAX, 1 << 30, 4096]);
                bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
            3 if at + 8 <= bytes.len() => bytes[at..at + 8].fill(0xff),
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}
