use crate::embed::{EmbedError, Embedder, Purpose};
use crate::memory::{Calibration, Space};
use crate::text::{Language, language_of};

/// 5 % and 99.9 % quantiles of the cosines between two random turns of one conversation, over two million pairs from ten
/// English conversations (`LoCoMo`, REALTALK): what 0 and 1 of the dense part mean.
const UNRELATED: f64 = 0.05;
const SAME: f64 = 0.81;

/// The built-in embedder: English, 128 numbers, no download and no configuration.
///
/// It adds up one row of a table for each piece of a word, so it knows that "sofa" is near "couch", and nothing of the
/// order of words. Beside the search for words it does the work of the language model it was made from
/// (all-MiniLM-L6-v2); alone it is weaker at paraphrase.
///
/// A text that is not in Latin letters for the most part, or holds no word that the table knows, has no vector.
///
/// Cost: some microseconds for a sentence. Needs the feature `builtin-embedder`, which is on by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinEmbedder;

impl BuiltinEmbedder {
    /// The embedder.
    pub fn new() -> Self {
        Self
    }
}

impl Embedder for BuiltinEmbedder {
    fn space(&self) -> Space {
        Space {
            model: mnemic_embed::MODEL.to_owned(),
            dims: mnemic_embed::DIMS,
            languages: vec!["en".to_owned()],
            calibration: Calibration { lo: UNRELATED, hi: SAME, version: 0 },
            mean: None,
        }
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        Ok(texts.iter().map(|text| embed(text)).collect())
    }
}

fn embed(text: &str) -> Option<Vec<f32>> {
    if is_foreign(text) { None } else { mnemic_embed::embed(text).map(Vec::from) }
}

/// Whether a text is in none of the space's languages. One of digits alone, or in another language of Latin letters,
/// passes: names and numbers in it are worth finding.
fn is_foreign(text: &str) -> bool {
    match language_of(text) {
        Language::English => false,
        Language::Chinese | Language::Japanese | Language::Korean => true,
        Language::Other => {
            let letters = text.chars().filter(|c| c.is_alphabetic());
            let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|c| is_latin(*c));
            other.len() > latin.len()
        }
    }
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii() || matches!(u32::from(letter), 0xc0..=0x24f | 0x1e00..=0x1eff | 0xff21..=0xff5a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embeds(text: &str) -> bool {
        embed(text).is_some()
    }

    #[test]
    fn only_its_language_has_vectors() {
        for text in ["prefers window seats", "größere Wälder wünschen wir", "2023-05-07", "我 said I love window seats"]
        {
            assert!(embeds(text), "{text}");
        }
        for text in ["", "我喜欢靠窗的座位", "我用Rust写引擎", "Куда я ездил с Anna летом?", "...", "🎉"]
        {
            assert!(!embeds(text), "{text}");
        }
    }

    #[test]
    fn a_batch_keeps_its_order_and_its_space() {
        let embedder = BuiltinEmbedder::new();
        let vectors = embedder.embed(&["tea", "茶", "coffee"], Purpose::Memory).unwrap();
        let has: Vec<bool> = vectors.iter().map(Option::is_some).collect();
        assert_eq!(has, [true, false, true]);
        let space = embedder.space();
        assert!(vectors.iter().flatten().all(|vector| vector.len() == space.dims()));
        assert_eq!((space.model(), space.languages.join(" ")), ("mnemic-static-en-128-1", "en".to_owned()));
        Calibration::new(UNRELATED, SAME).unwrap();
    }
}
