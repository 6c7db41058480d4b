//! The tokenisation against a slow, obvious twin, and what every vector keeps.

use std::collections::HashMap;

use mnemic_embed::{DIMS, embed, token_ids};
use proptest::prelude::*;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

const VOCABULARY: &str = include_str!("../data/vocab.txt");

/// BERT's tokenisation step by step, as its paper's code does it, for texts whose marks are all accents.
struct Twin(HashMap<&'static str, u16>);

impl Twin {
    fn new() -> Self {
        Self(VOCABULARY.lines().zip(0..).collect())
    }

    fn ids(&self, text: &str) -> Vec<u16> {
        let plain: String = text.nfd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase();
        let mut spaced = String::new();
        for c in plain.chars() {
            let ideograph = ('\u{4e00}'..='\u{9fff}').contains(&c);
            if ideograph || c.is_ascii_punctuation() || "“”‘’…—–，。！？、¿¡".contains(c) {
                spaced.extend([' ', c, ' ']);
            } else {
                spaced.push(c);
            }
        }
        spaced.split_whitespace().flat_map(|word| self.pieces(word)).collect()
    }

    fn pieces(&self, word: &str) -> Vec<u16> {
        let chars: Vec<char> = word.chars().collect();
        let (mut start, mut ids) = (0, Vec::new());
        while start < chars.len() && chars.len() <= 100 {
            let piece = |end: usize| {
                let text: String = chars[start..end].iter().collect();
                let text = if start == 0 { text } else { format!("##{text}") };
                self.0.get(text.as_str()).map(|id| (end, *id))
            };
            match (start + 1..=chars.len()).rev().find_map(piece) {
                Some((end, id)) => {
                    ids.push(id);
                    start = end;
                }
                None => return Vec::new(),
            }
        }
        ids
    }
}

const TEXTS: [&str; 36] = [
    "",
    " ",
    "Prefers window seats on trains.",
    "Caroline: I went to a LGBTQ support group yesterday and it was so powerful.",
    "I've been meaning to ask: what's your favourite Dostoyevsky novel?",
    "unaffable embeddings, tokenization; hyperparameterisation!",
    "Café Münchner Straße naïve façade coöperate Ångström",
    "İstanbul'da DİYARBAKIR ŞİŞLİ",
    "e-mail: ada.lovelace@example.org (v1.2.3-rc1)",
    "#hashtag $5.99 50% off & more ~ ^_^ |pipe| `code` <tag> {x} [y] \\z",
    "2023-05-07T08:30:00Z, at 8:30 p.m.",
    "“Quoted” — he said… ‘really’?",
    "用Rust写了一个引擎",
    "我喜欢靠窗的座位。",
    "先週どこへ行きましたか",
    "Куда я ездил летом?",
    "αβγ δεζ ΑΒΓ",
    "¿Dónde está la biblioteca? ¡Aquí!",
    "🎉🎉 party time 🎉",
    "wow🎉wow",
    "snake_case camelCase SCREAMING_CASE kebab-case",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "don't can't won't y'all o'clock rock'n'roll",
    "3rd 21st 100th 1,000,000 3.14159",
    "a\tb\nc\r\nd\u{a0}e\u{3000}f",
    "...!!!???",
    "[CLS] [SEP] [UNK] [MASK] [PAD] [unused0]",
    "##ing ##ed",
    "x",
    "ﬁnance ﬂow ½ ² ™",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "C++ C# F# .NET node.js",
    "http://www.example.com/path?query=1&other=2#frag",
    "Tom & Jerry's \"big\" adventure",
    "ÀÉÎÕÜ àéîõü ÇçÑñ",
    "Zürich–Genève, 3h",
];

#[test]
fn known_texts_are_read_as_the_twin_reads_them() {
    let twin = Twin::new();
    for text in TEXTS {
        assert_eq!(token_ids(text), twin.ids(text), "{text}");
    }
}

#[test]
fn known_words_have_known_tokens() {
    let tokens: Vec<&str> = VOCABULARY.lines().collect();
    for (text, expected) in [
        ("unaffable", "una ##ffa ##ble"),
        ("Embeddings!", "em ##bed ##ding ##s !"),
        ("I'm", "i ' m"),
        ("Straße", "st ##raße"),
        ("[MASK]", "[ mask ]"),
        ("🎉", ""),
    ] {
        let found: Vec<&str> = token_ids(text).into_iter().map(|id| tokens[usize::from(id)]).collect();
        assert_eq!(found.join(" "), expected);
    }
}

#[test]
fn what_the_table_does_not_know_has_no_vector() {
    for text in ["", " \n", "我喜欢喝茶", "🎉", "...", "Куда", "\u{0}"] {
        assert_eq!(embed(text), None, "{text:?}");
    }
    assert_eq!(embed("tea 🎉"), embed("Tea"), "unknown tokens are left out");
}

/// FNV-1a over the bits of many vectors: they may differ on no CPU and in no build.
#[test]
fn the_bits_are_the_same_everywhere() {
    let bits = TEXTS.iter().filter_map(|text| embed(text)).flatten().flat_map(|x| x.to_bits().to_le_bytes());
    let hash =
        bits.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(hash, BITS, "{hash:#x}");
}

const BITS: u64 = 0x2550_d783_811a_b4af;

proptest! {
    #[test]
    fn any_text_has_a_unit_vector_or_none(text in "\\PC{0,60}|[a-z ]{1,60}|[\\u{0}-\\u{10ffff}]{0,60}") {
        let vector = embed(&text);
        prop_assert_eq!(vector, embed(&text));
        if let Some(vector) = vector {
            prop_assert_eq!(vector.len(), DIMS);
            let length: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            prop_assert!((length - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn plain_texts_are_read_as_the_twin_reads_them(text in "[a-zA-Z0-9 .,'#\\-éüñßøя好人🎉]{0,60}") {
        thread_local!(static TWIN: Twin = Twin::new());
        prop_assert_eq!(token_ids(&text), TWIN.with(|twin| twin.ids(&text)));
    }
}
