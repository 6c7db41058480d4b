use crate::embed::{EmbedError, Embedder, Purpose};
use crate::memory::{Calibration, Space};
use crate::text::{canonical, is_cjk, words};

const DIMS: usize = 1024;
/// English words that say nothing of a topic.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "did", "do", "does", "for", "from", "had", "has", "have",
    "he", "her", "his", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "she", "should", "so",
    "than", "that", "the", "their", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who",
    "why", "will", "with", "would", "you", "your",
];
const MODEL: &str = "mnemic-hashed-ngrams-1";

/// An embedder without a model: words, their three-letter pieces, CJK characters and pairs, hashed into 1,024 numbers.
///
/// It finds texts that share words or parts of words, in any language. It knows nothing of meaning: use it for tests,
/// demonstrations and as a last resort.
///
/// Cost: about a microsecond a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedNgrams;

impl HashedNgrams {
    /// The embedder.
    pub fn new() -> Self {
        Self
    }
}

impl Embedder for HashedNgrams {
    fn space(&self) -> Space {
        Space {
            model: MODEL.to_owned(),
            dims: DIMS,
            languages: Vec::new(),
            calibration: Calibration { lo: 0.0, hi: 0.8, version: 0 },
            mean: None,
        }
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        Ok(texts.iter().map(|text| Some(embed(text))).collect())
    }
}

fn embed(text: &str) -> Vec<f32> {
    let text = canonical(text);
    let mut vector = vec![0.0; DIMS];
    for word in words(&text) {
        if word.chars().all(is_cjk) {
            add_cjk(word, &mut vector);
        } else if STOP_WORDS.binary_search(&word).is_err() {
            add_word(word, &mut vector);
        }
    }
    if vector.iter().all(|x| *x == 0.0) {
        vector[0] = 1.0;
    }
    vector
}

fn add_word(word: &str, vector: &mut [f32]) {
    add(word, 1.0, vector);
    let padded: Vec<char> = std::iter::once('^').chain(word.chars()).chain(['$']).collect();
    for gram in padded.windows(3) {
        add(&gram.iter().collect::<String>(), 0.6, vector);
    }
}

fn add_cjk(run: &str, vector: &mut [f32]) {
    let chars: Vec<char> = run.chars().collect();
    chars.iter().for_each(|c| add(&c.to_string(), 1.0, vector));
    chars.windows(2).for_each(|pair| add(&pair.iter().collect::<String>(), 1.5, vector));
}

/// Adds a feature to the place and with the sign that its hash gives.
fn add(feature: &str, weight: f32, vector: &mut [f32]) {
    let hash = fnv1a(feature.as_bytes());
    let sign = if hash >> 63 == 0 { weight } else { -weight };
    vector[(hash >> 32) as usize % DIMS] += sign;
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), finished with a multiply so that high bits depend on all input.
fn fnv1a(bytes: &[u8]) -> u64 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let (a, b) = (embed(a), embed(b));
        let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
    }

    #[test]
    fn shared_words_bring_texts_together_in_both_languages() {
        assert!(
            cosine("prefers window seats", "which seat by the window") > cosine("prefers window seats", "likes jazz")
        );
        assert!(cosine("我喜欢靠窗的座位", "靠窗座位") > cosine("我喜欢靠窗的座位", "他住在上海"));
        assert!(STOP_WORDS.is_sorted());
        assert!(cosine("...", "!!!") > 0.99, "texts without words have one vector, not none");
    }
}
