//! A small static English text embedder: a table of token vectors and plain functions.
//!
//! A text becomes word pieces as BERT makes them, the pieces become rows of a table of 128 columns, and the sum of the
//! rows, at unit length, is the text's vector. The table approximates the sentence embeddings of
//! `sentence-transformers/all-MiniLM-L6-v2`; the file `NOTICE` says under which licences. It has no word order and no
//! language but English: what it does not know it leaves out.
//!
//! ```
//! let seat = mnemic_embed::embed("She likes to sit by the window").unwrap();
//! let dot = |text| mnemic_embed::embed(text).unwrap().iter().zip(seat).map(|(a, b)| a * b).sum::<f32>();
//! assert!(dot("prefers window seats") > dot("plays jazz on Fridays"));
//! assert_eq!(mnemic_embed::embed("我喜欢喝茶"), None);
//! ```
#![forbid(unsafe_code)]

mod basic;
mod table;
mod unicode;
mod vocabulary;

/// Numbers in a vector.
pub const DIMS: usize = 128;

/// The name of the table. Vectors of two names are never to be compared.
pub const MODEL: &str = "mnemic-static-en-128-1";

/// The vector of a text, of unit length; `None` where the text holds no word of Latin letters or digits that the table
/// knows.
///
/// The same text gives the same bits on every CPU.
///
/// Cost: some microseconds for a sentence, linear in the text. The first call also builds the vocabulary, in some
/// milliseconds; [`warm_up`] takes that ahead.
pub fn embed(text: &str) -> Option<[f32; DIMS]> {
    let Tokens { ids, understood } = Tokens::of(text);
    if understood { table::unit_sum(&ids) } else { None }
}

/// The known tokens of a text, as line numbers of the vocabulary counted from 0, in order.
pub fn token_ids(text: &str) -> Vec<u16> {
    Tokens::of(text).ids
}

struct Tokens {
    ids: Vec<u16>,
    /// The vocabulary has some hundred characters of other scripts, which alone say nothing to an English model.
    understood: bool,
}

impl Tokens {
    fn of(text: &str) -> Self {
        let vocabulary = vocabulary::get();
        let mut tokens = Self { ids: Vec::with_capacity(text.len() / 4 + 4), understood: false };
        basic::for_each_word(text, |word| {
            let before = tokens.ids.len();
            vocabulary.push_pieces(word, &mut tokens.ids);
            tokens.understood |= tokens.ids.len() > before && word.bytes().any(|b| b.is_ascii_alphanumeric());
        });
        tokens
    }
}

/// Builds the vocabulary, unless it is there.
pub fn warm_up() {
    vocabulary::get();
}
