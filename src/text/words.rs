use unicode_segmentation::UnicodeSegmentation;

/// Whether a character belongs to a script that is written without spaces.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3134f)
}

/// The words of a canonical text (UAX 29); a run of CJK characters is one of them.
pub(crate) fn words(canonical: &str) -> impl Iterator<Item = &str> {
    canonical
        .split_word_bound_indices()
        .filter(|(_, word)| word.chars().any(char::is_alphanumeric))
        .map(|(_, word)| word)
}
