use unicode_normalization::UnicodeNormalization;

/// The version of [`canonical`], kept with every hash of its output.
pub(crate) const CANON_VERSION: u8 = 1;

/// One form for texts that say the same letters: NFKC, lower case, white space collapsed.
pub(crate) fn canonical(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_the_same_letters_become_one() {
        let composed = canonical("Caf\u{e9}  Ａｄａ");
        assert_eq!(composed, "caf\u{e9} ada");
        assert_eq!(canonical("cafe\u{301}\tada "), composed);
        assert_eq!(canonical("喜欢　靠窗"), "喜欢 靠窗");
    }
}
