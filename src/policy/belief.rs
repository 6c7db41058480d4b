//! What confirmation, contradiction and use do to a memory.

use crate::memory::{Evidence, Memory, Status, Timestamp};

/// The share of the missing confidence that a confirmation adds.
const CONFIRM_GAIN: f32 = 0.5;
/// What a contradiction leaves of the confidence.
const CONTRADICT_FACTOR: f32 = 0.5;

/// The user agreed to it.
pub(crate) fn confirm(memory: &mut Memory, now: Timestamp) {
    memory.confirmed_count = memory.confirmed_count.saturating_add(1);
    memory.last_confirmed_at = Some(now);
    memory.confidence += (1.0 - memory.confidence) * CONFIRM_GAIN;
    if memory.evidence > Evidence::Confirmed {
        memory.evidence = Evidence::Confirmed;
    }
    if memory.status == Status::Candidate {
        memory.status = Status::Active;
    }
}

/// Something spoke against it.
pub(crate) fn contradict(memory: &mut Memory) {
    memory.contradicted_count = memory.contradicted_count.saturating_add(1);
    memory.confidence *= CONTRADICT_FACTOR;
}

/// It went into an answer.
pub(crate) fn used(memory: &mut Memory, now: Timestamp) {
    memory.used_count = memory.used_count.saturating_add(1);
    memory.last_used_at = Some(memory.last_used_at.map_or(now, |before| before.max(now)));
    memory.version = memory.version.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryId, NewMemory};

    #[test]
    fn confirmation_lifts_and_contradiction_lowers_within_bounds() {
        let now = Timestamp::from_micros(5);
        let new = NewMemory::fact("x").inferred().confidence(0.5).candidate();
        let mut memory = new.admit(MemoryId::from_u128(1), now).unwrap();
        confirm(&mut memory, now);
        assert_eq!((memory.confidence, memory.evidence, memory.status), (0.75, Evidence::Confirmed, Status::Active));
        (0..100).for_each(|_| confirm(&mut memory, now));
        assert!(memory.confidence <= 1.0);
        (0..2000).for_each(|_| contradict(&mut memory));
        assert!(memory.confidence >= 0.0);
        assert_eq!(memory.contradicted_count, 2000);
    }
}
