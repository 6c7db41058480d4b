use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

/// What stands where text was left out.
const ELLIPSIS: &str = "\u{2026}";
/// Longer clusters are cut all the same.
const CLUSTER_BYTES_MAX: usize = 128;

/// The beginning of a text, of at most `max` characters as people count them, the ellipsis among them.
///
/// Cost: linear in what is returned; a text that fits is borrowed.
pub(crate) fn preview(text: &str, max: usize) -> Cow<'_, str> {
    let limit = head(text, max.saturating_add(1).saturating_mul(CLUSTER_BYTES_MAX)).len();
    let mut clusters = text[..limit].grapheme_indices(true);
    if limit == text.len() && clusters.clone().nth(max).is_none() {
        return Cow::Borrowed(text);
    }
    let Some(room) = max.checked_sub(1) else { return Cow::Borrowed("") };
    let end = clusters.nth(room).map_or(limit, |(at, _)| at);
    Cow::Owned([text[..end].trim_end(), ELLIPSIS].concat())
}

/// The beginning of a text, of at most so many bytes.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_parts_what_people_see_as_one() {
        assert_eq!(preview("seat", 4), "seat");
        assert_eq!(preview("seats", 4), "sea\u{2026}");
        assert_eq!(preview("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}\u{2026}");
        assert_eq!(preview("靠窗座位", 3), "靠窗\u{2026}");
        assert_eq!(preview("👩\u{200d}👩\u{200d}👧👍🏽👍", 2), "👩\u{200d}👩\u{200d}👧\u{2026}");
        assert_eq!(preview("a bc", 3), "a\u{2026}");
        assert_eq!((preview("abc", 0), preview("abc", 1), preview("", 0)), ("".into(), "\u{2026}".into(), "".into()));
    }

    #[test]
    fn one_endless_cluster_is_cut() {
        let text = format!("a{}", "\u{301}".repeat(10_000));
        assert!(preview(&text, 3).len() < 1_000);
    }

    proptest::proptest! {
        #[test]
        fn a_preview_is_short_and_a_beginning(text in "\\PC{0,80}", max in 0usize..20) {
            let cut = preview(&text, max);
            proptest::prop_assert!(cut.graphemes(true).count() <= max);
            proptest::prop_assert!(text.starts_with(cut.trim_end_matches(ELLIPSIS)) || cut == text);
        }
    }
}
