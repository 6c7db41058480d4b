//! English words that say nothing about what a text is about.

/// Sorted, lower case, without apostrophes.
const ENGLISH: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "arent", "as", "at", "be", "because",
    "been", "before", "being", "both", "but", "by", "can", "cannot", "cant", "could", "couldnt", "d", "did", "didnt", "do",
    "does", "doesnt", "doing", "done", "dont", "during", "each", "few", "for", "from", "further", "had", "hadnt", "has",
    "hasnt", "have", "havent", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if",
    "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive", "just", "ll", "m", "me", "more", "most", "my", "myself",
    "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own",
    "re", "s", "same", "she", "should", "shouldnt", "so", "some", "such", "t", "than", "that", "thats", "the", "their",
    "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "ve", "very", "was", "wasnt", "we", "were", "werent", "what", "when", "where", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "wont", "would", "wouldnt", "you", "your", "yours", "yourself", "yourselves",
];

/// Whether a lower-case word is one.
pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= 10 && ENGLISH.binary_search(&word).is_ok()
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
