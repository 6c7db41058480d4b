use super::script::{Class, class_of};

/// Letters of a word that one token holds, on the average of common tokenizers; longer words break up.
const LETTERS_PER_TOKEN: usize = 4;

/// About how many tokens of a language model a text takes.
///
/// A rule of thumb that leans to the high side: a Latin word is one token for each four letters begun, a character of a
/// script without spaces is one, and so are three digits and each sign. Cost: one pass.
pub(crate) fn estimate_tokens(text: &str) -> usize {
    let (mut tokens, mut run) = (0, 0_usize);
    for c in text.chars() {
        let weight = match class_of(c) {
            // A letter outside ASCII takes two bytes or more, and its words are rarer.
            Class::Spaced if c.is_ascii_alphabetic() => 3,
            Class::Spaced => 4,
            class => {
                tokens += run.div_ceil(3 * LETTERS_PER_TOKEN);
                run = 0;
                tokens += usize::from(class == Class::Unspaced || !c.is_whitespace());
                continue;
            }
        };
        run += weight;
    }
    tokens + run.div_ceil(3 * LETTERS_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_texts_are_near_what_tokenizers_say() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("Prefers window seats"), 6);
        assert_eq!(estimate_tokens("我喜欢靠窗的座位。"), 9);
        assert_eq!(estimate_tokens("2023-05-07"), 6);
    }

    #[test]
    fn more_text_never_takes_fewer_tokens() {
        let text = "I'd like a seat on flight KL1234，靠窗 🎉 größer";
        let counts: Vec<_> = text.char_indices().map(|(at, _)| estimate_tokens(&text[..at])).collect();
        assert!(counts.is_sorted());
    }
}
