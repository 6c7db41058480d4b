//! What exact answers say about approximate ones.

/// Every so many questions one is answered exactly as well; of the early ones more, and all of the first.
const EVERY: u32 = 128;
const EARLY: u32 = 512;
const EVERY_EARLY: u32 = 16;
const FIRST: u32 = 8;
/// Hits that a correction of what is said waits for, more or less.
const PRIOR: f64 = 30.0;
/// Hits after which the older ones count half.
const MEMORY: f64 = 2000.0;
/// Deviations that margins are widened by, and how often at most.
const WIDER: f64 = 0.5;
const WIDER_MAX: f64 = 4.0;
/// Standard errors that the recall may be under the target.
const DOUBT: f64 = 2.0;

/// Questions that were also answered exactly: what was said of them, and what was true.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Watch {
    asked: u32,
    hits: f64,
    wanted: f64,
    said: f64,
    found: f64,
    wider: f64,
}

impl Watch {
    /// Questions so far, and what was learnt of those that were answered exactly.
    pub(super) fn to_stored(self) -> (u32, [f64; 5]) {
        (self.asked, [self.hits, self.wanted, self.said, self.found, self.wider])
    }

    pub(super) fn from_stored(asked: u32, [hits, wanted, said, found, wider]: [f64; 5]) -> Self {
        Self { asked, hits, wanted, said, found, wider: wider.clamp(0.0, WIDER_MAX) }
    }

    /// Counts a question; says whether it is one to be answered exactly as well.
    pub(super) fn is_due(&mut self) -> bool {
        self.asked = self.asked.wrapping_add(1);
        let every = if self.asked <= EARLY { EVERY_EARLY } else { EVERY };
        self.asked.is_multiple_of(every) || self.asked <= FIRST
    }

    /// Learns of a question with `hits` true hits, of which some were found; returns whether answers have been
    /// worse than was wanted. Margins are wider from then on.
    pub(super) fn tell(&mut self, target: f64, said: f64, hits: usize, found: usize) -> bool {
        let hits = hits as f64;
        self.hits += hits;
        self.wanted += target * hits;
        self.said += said * hits;
        self.found += found as f64;
        let doubt = DOUBT * (self.wanted * (1.0 - self.wanted / self.hits.max(1.0))).max(1.0).sqrt();
        if self.found < self.wanted - doubt && self.wider < WIDER_MAX {
            *self = Self { asked: self.asked, wider: self.wider + WIDER, ..Self::default() };
            return true;
        }
        if self.hits > MEMORY {
            let half = |x: &mut f64| *x /= 2.0;
            [&mut self.hits, &mut self.wanted, &mut self.said, &mut self.found].into_iter().for_each(half);
        }
        false
    }

    /// Deviations to add to every margin.
    pub(super) fn wider(&self) -> f64 {
        self.wider
    }

    /// What is said, corrected by what was true.
    pub(super) fn correct(&self, said: f64) -> f64 {
        (said + (self.found - self.said) / (self.hits + PRIOR)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_answers_widen_margins_and_good_ones_do_not() {
        let mut watch = Watch::default();
        assert!((0..400).all(|_| !watch.tell(0.95, 0.96, 10, 10)));
        assert_eq!(watch.wider(), 0.0);
        let worse = (0..400).filter(|_| watch.tell(0.95, 0.96, 10, 6)).count();
        assert!(worse > 0 && watch.wider() > 0.0 && watch.wider() <= WIDER_MAX);
    }

    #[test]
    fn what_is_said_comes_nearer_to_what_is_true() {
        let mut watch = Watch::default();
        assert_eq!(watch.correct(0.97), 0.97);
        assert!((0..200).all(|_| !watch.tell(0.9, 0.97, 10, 9)));
        let said = watch.correct(0.97);
        assert!((0.9..0.92).contains(&said), "{said}");
        assert_eq!(watch.correct(0.0), 0.0);
    }

    #[test]
    fn few_of_many_questions_are_checked() {
        let mut watch = Watch::default();
        let checked = (0..100_000).filter(|_| watch.is_due()).count();
        assert!((800..850).contains(&checked), "{checked}");
    }
}
