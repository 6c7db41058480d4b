//! English words that say nothing about what a text is about.

/// Sorted, lower case, without apostrophes.
const ENGLISH: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "arent",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "cant",
    "could",
    "couldnt",
    "d",
    "did",
    "didnt",
    "do",
    "does",
    "doesnt",
    "doing",
    "done",
    "dont",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadnt",
    "has",
    "hasnt",
    "have",
    "havent",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "isnt",
    "it",
    "its",
    "itself",
    "ive",
    "just",
    "ll",
    "m",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "she",
    "should",
    "shouldnt",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "thats",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "ve",
    "very",
    "was",
    "wasnt",
    "we",
    "were",
    "werent",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "wont",
    "would",
    "wouldnt",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Chinese particles, pronouns and question words. They stay in the index, for a question that holds nothing else.
const CHINESE: &[&str] = &["什", "什么", "个", "么", "了", "你", "吗", "呢", "在", "我", "是", "的", "那", "那个"];

/// Whether a term of a question asks rather than names.
pub(super) fn is_question_term(term: &str) -> bool {
    CHINESE.contains(&term)
}

/// Where the words of each letter begin in the list, and where the last end.
const LETTERS: [u8; 27] = letters();

const fn letters() -> [u8; 27] {
    let mut starts = [0; 27];
    let mut at = 0;
    while at < ENGLISH.len() {
        let letter = (ENGLISH[at].as_bytes()[0] - b'a') as usize;
        at += 1;
        starts[letter + 1] = at as u8;
    }
    let mut letter = 1;
    while letter < starts.len() {
        if starts[letter] < starts[letter - 1] {
            starts[letter] = starts[letter - 1];
        }
        letter += 1;
    }
    starts
}

/// Whether a lower-case word is one.
pub(crate) fn is_stop_word(word: &str) -> bool {
    let Some(letter) = word.bytes().next().and_then(|first| first.checked_sub(b'a')).filter(|at| *at < 26) else {
        return false;
    };
    let (from, to) = (LETTERS[usize::from(letter)], LETTERS[usize::from(letter) + 1]);
    word.len() <= 10 && ENGLISH[usize::from(from)..usize::from(to)].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_short_words_only() {
        assert!(ENGLISH.is_sorted());
        assert!(ENGLISH.iter().all(|word| is_stop_word(word)));
        assert!(!is_stop_word("seat"));
    }
}
