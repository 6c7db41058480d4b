//! Which script a character belongs to, and the language that the scripts of a text suggest.

use super::stop_words::is_stop_word;

/// How words of a script are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Letters, digits and marks of scripts that put spaces between words.
    Spaced,
    /// Scripts that put none: Han, kana, Hangul syllables (whose words carry their particles), Thai, Lao, Khmer,
    /// Burmese, Tibetan.
    Unspaced,
    /// Everything else.
    Other,
}

/// Letters and marks of those scripts, first and last code of each stretch, ascending.
const UNSPACED: [(u32, u32); 23] = [
    (0x0e01, 0x0e3a),
    (0x0e40, 0x0e4e),
    (0x0e81, 0x0ece),
    (0x0f40, 0x0fbc),
    (0x1000, 0x103f),
    (0x1050, 0x108f),
    (0x109a, 0x109d),
    (0x1100, 0x11ff),
    (0x1780, 0x17d3),
    (0x3005, 0x3007),
    (0x303b, 0x303b),
    (0x3041, 0x30fa),
    (0x30fc, 0x30ff),
    (0x3105, 0x318e),
    (0x31a0, 0x31bf),
    (0x31f0, 0x31ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xa960, 0xa97f),
    (0xaa60, 0xaa7f),
    (0xac00, 0xd7ff),
    (0xf900, 0xfaff),
    (0x1b000, 0x3ffff),
];

pub(crate) fn class_of(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Spaced } else { Class::Other };
    }
    let code = u32::from(c);
    let after = UNSPACED.partition_point(|(first, _)| *first <= code);
    match after.checked_sub(1).map(|at| UNSPACED[at]) {
        Some((_, last)) if code <= last => Class::Unspaced,
        _ if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) => Class::Spaced,
        _ => Class::Other,
    }
}

/// What language a text seems to be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    Chinese,
    Japanese,
    Korean,
    Other,
}

impl Language {
    #[cfg(test)]
    /// The BCP 47 tag; none for [`Other`](Self::Other).
    pub(crate) const fn tag(self) -> Option<&'static str> {
        match self {
            Self::English => Some("en"),
            Self::Chinese => Some("zh"),
            Self::Japanese => Some("ja"),
            Self::Korean => Some("ko"),
            Self::Other => None,
        }
    }

    /// Whether its terms are characters and pairs rather than words.
    pub(crate) const fn is_unspaced(self) -> bool {
        matches!(self, Self::Chinese | Self::Japanese | Self::Korean)
    }
}

/// A Han character says about as much as this many Latin letters.
const LETTERS_PER_HAN: usize = 3;
/// Latin text of this many words without one English stop word is not taken for English.
const WORDS_WITHOUT_STOP_WORD: usize = 8;

#[derive(Default)]
struct Counts {
    han: usize,
    kana: usize,
    hangul: usize,
    latin: usize,
    other: usize,
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        for c in text.chars() {
            let bin = match u32::from(c) {
                0x3040..=0x30ff | 0xff66..=0xff9f => &mut counts.kana,
                0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7af => &mut counts.hangul,
                0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff => &mut counts.han,
                0x41..=0x5a | 0x61..=0x7a | 0xc0..=0x24f | 0x1e00..=0x1eff | 0xff21..=0xff5a => &mut counts.latin,
                _ if c.is_alphabetic() => &mut counts.other,
                _ => continue,
            };
            *bin += 1;
        }
        counts
    }
}

/// The language that scripts and stop words suggest. Cost: one pass.
pub(crate) fn language_of(text: &str) -> Language {
    let Counts { han, kana, hangul, latin, other } = Counts::of(text);
    let east = (han + kana + hangul) * LETTERS_PER_HAN;
    if east == 0 && latin == 0 || other > east.max(latin) {
        return Language::Other;
    }
    if latin > east {
        return latin_language(text);
    }
    match () {
        () if hangul > han + kana => Language::Korean,
        () if kana * 10 > han + kana => Language::Japanese,
        () => Language::Chinese,
    }
}

fn latin_language(text: &str) -> Language {
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if is_stop_word(&word.to_lowercase()) {
            return Language::English;
        }
        words += 1;
    }
    if words < WORDS_WITHOUT_STOP_WORD && text.is_ascii() { Language::English } else { Language::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretches_ascend() {
        assert!(UNSPACED.is_sorted_by(|a, b| a.0 <= a.1 && a.1 < b.0));
        for (c, class) in [('靠', Class::Unspaced), ('ก', Class::Unspaced), ('é', Class::Spaced), ('，', Class::Other)]
        {
            assert_eq!(class_of(c), class, "{c}");
        }
    }

    #[test]
    fn scripts_tell_the_language() {
        for (text, language) in [
            ("Which seat did I book last week?", Language::English),
            ("prefers window seats", Language::English),
            ("我上周用Rust写了什么？", Language::Chinese),
            ("先週どこへ行きましたか", Language::Japanese),
            ("지난주에 어디 갔어요?", Language::Korean),
            ("Куда я ездил летом?", Language::Other),
            ("größere Wälder wünschen wir", Language::Other),
            ("", Language::Other),
            ("12 + 3", Language::Other),
        ] {
            assert_eq!(language_of(text), language, "{text}");
            assert_eq!(language.tag().is_none(), language == Language::Other);
        }
    }
}
