use super::terms::{TermCount, TermList};

/// What two texts with different numbers are at most: they tell of two things, however like their words are.
const OTHER_NUMBERS_MAX: f64 = 0.5;

/// A text as it is compared with others, to tell what says the same in other words.
#[derive(Debug, Clone)]
pub(crate) struct Likeness {
    counts: Vec<TermCount>,
    length: u64,
    /// The runs of digits, ascending.
    numbers: Vec<String>,
}

impl Likeness {
    /// Cost: one analysis of the text.
    pub(crate) fn of(text: &str) -> Self {
        let counts = TermList::of(text).counts;
        let runs = text.split(|c: char| !c.is_numeric()).filter(|run| !run.is_empty());
        let mut numbers: Vec<String> = runs.map(str::to_owned).collect();
        numbers.sort_unstable();
        Self { length: counts.iter().map(|term| u64::from(term.count)).sum(), counts, numbers }
    }

    /// The part of their terms that two texts have in common (Dice), 0 to 1.
    pub(crate) fn with(&self, other: &Self) -> f64 {
        let (mut common, mut rest) = (0_u64, other.counts.as_slice());
        for term in &self.counts {
            let skip = rest.partition_point(|other| other.term < term.term);
            rest = &rest[skip..];
            if let Some(same) = rest.first().filter(|other| other.term == term.term) {
                common += u64::from(term.count.min(same.count));
            }
        }
        let both = self.length + other.length;
        let share = if both == 0 { 0.0 } else { (2 * common) as f64 / both as f64 };
        if self.numbers == other.numbers { share } else { share.min(OTHER_NUMBERS_MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_alike_and_other_numbers_are_not() {
        let alike = |a: &str, b: &str| Likeness::of(a).with(&Likeness::of(b));
        assert_eq!(alike("Prefers window seats", "She preferred the window seat!"), 1.0);
        assert_eq!(alike("我喜欢靠窗的座位", "我喜欢靠窗的座位。"), 1.0);
        assert!(alike("Prefers window seats", "Prefers aisle seats") < 0.7);
        assert!(alike("The dentist is on May 3 at noon in town", "The dentist is on May 4 at noon in town") <= 0.5);
        assert_eq!((alike("", ""), alike("...", "tea")), (0.0, 0.0));
    }
}
