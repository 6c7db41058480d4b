use super::analyser::is_apostrophe;
use super::script::language_of;
use super::stop_words::is_stop_word;
use super::terms::{TermCount, TermList};

/// What two texts are at most where one says what the other does not, however many of their words are the same.
const OTHER_MATTER_MAX: f64 = 0.5;
/// English words that turn a sentence round; contractions of "not" are told by their end.
const NEGATIONS: [&str; 8] = ["cannot", "neither", "never", "no", "none", "nor", "not", "without"];
/// Chinese characters that do.
const CHINESE_NEGATIONS: [char; 7] = ['不', '没', '別', '别', '无', '未', '非'];

/// A text as it is compared with others, to tell what says the same in other words.
#[derive(Debug, Clone)]
pub(crate) struct Likeness {
    counts: Vec<TermCount>,
    length: u64,
    is_unspaced: bool,
    /// What changes the matter and hardly the words: numbers, negations, question marks. Sorted.
    signs: Vec<String>,
}

impl Likeness {
    /// Cost: one analysis of the text.
    pub(crate) fn of(text: &str) -> Self {
        let counts = TermList::of(text).counts;
        Self {
            length: counts.iter().map(|term| u64::from(term.count)).sum(),
            counts,
            is_unspaced: language_of(text).is_unspaced(),
            signs: signs(text),
        }
    }

    /// How much of this text the other repeats: the part of their terms that they have in common (Dice), 0 to 1.
    ///
    /// A word that only this text has makes another matter of it, since "prefers window seats" and "prefers aisle seats"
    /// differ in no more; in scripts without spaces one word is several terms, and the part tells.
    pub(crate) fn with(&self, other: &Self) -> f64 {
        let common = self.common(other);
        let both = self.length + other.length;
        let share = if both == 0 { 0.0 } else { (2 * common) as f64 / both as f64 };
        let adds_words = common < self.length && !(self.is_unspaced && other.is_unspaced);
        if adds_words || self.signs != other.signs { share.min(OTHER_MATTER_MAX) } else { share }
    }

    fn common(&self, other: &Self) -> u64 {
        let (mut common, mut rest) = (0, other.counts.as_slice());
        for term in &self.counts {
            rest = &rest[rest.partition_point(|other| other.term < term.term)..];
            if let Some(same) = rest.first().filter(|other| other.term == term.term) {
                common += u64::from(term.count.min(same.count));
            }
        }
        common
    }
}

fn signs(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let numbers = text.split(|c: char| !c.is_numeric()).filter(|run| !run.is_empty()).map(str::to_owned);
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_apostrophe(c));
    let negations = words.map(|word| word.replace(is_apostrophe, "")).filter(|word| is_negation(word));
    let characters = text.chars().filter(|c| CHINESE_NEGATIONS.contains(c));
    let question = text.contains(['?', '\u{ff1f}']).then(|| "?".to_owned());
    let mut signs: Vec<String> = numbers.collect();
    signs.extend(negations.map(|_| "not".to_owned()).chain(characters.map(|_| "not".to_owned())).chain(question));
    signs.sort_unstable();
    signs
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("nt") && is_stop_word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> f64 {
        Likeness::of(a).with(&Likeness::of(b))
    }

    #[test]
    fn the_same_words_are_alike() {
        assert_eq!(alike("Prefers window seats", "She preferred the window seat!"), 1.0);
        assert_eq!(alike("我喜欢靠窗的座位", "我喜欢靠窗的座位。"), 1.0);
        assert!(alike("我的上司在上海工作呢", "我的上司在上海工作") > 0.9);
        assert_eq!((alike("", ""), alike("...", "tea")), (0.0, 0.0));
    }

    #[test]
    fn what_changes_the_matter_counts_more_than_the_words() {
        for (text, other) in [
            ("Ann prefers window seats on trains", "Ann prefers aisle seats on trains"),
            ("The dentist is on May 3 at noon in town", "The dentist is on May 4 at noon in town"),
            ("Likes green tea", "Doesn't like green tea"),
            ("Likes green tea", "Never likes green tea"),
            ("Do you like green tea?", "I like green tea"),
            ("我喜欢喝绿茶", "我不喜欢喝绿茶"),
        ] {
            assert!(alike(text, other) <= 0.5 && alike(other, text) <= 0.5, "{text}");
        }
        let (short, long) = ("Prefers window seats", "Prefers window seats on trains");
        assert!(alike(short, long) > 0.8, "the longer says all of it");
        assert!(alike(long, short) <= 0.5, "the shorter does not");
    }
}
