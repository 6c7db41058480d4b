//! Questions that name a date: a month with a day or a year.

const MONTHS: [&str; 23] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
];

/// Whether a text holds the name of a month beside a number: "7 May", "7th of May", "May 7", "May 2023", 5月7日.
pub(crate) fn names_date(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |at: usize| words.get(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let english = words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).is_some_and(|b| number(b) || words[b] == "of" && b > 0 && number(b - 1));
        MONTHS.contains(word) && (number(at + 1) || before)
    });
    english || names_chinese_date(&lower)
}

fn names_chinese_date(text: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c);
    text.match_indices('月').any(|(at, month)| {
        let (before, after) = (&text[..at], &text[at + month.len()..]);
        let year = before.trim_end_matches(is_number).ends_with('年');
        let day = after.trim_start_matches(is_number);
        before.ends_with(is_number) && (year || day.len() < after.len() && day.starts_with(['日', '号']))
    })
}

#[cfg(test)]
mod tests {
    use super::names_date;

    #[test]
    fn a_month_needs_a_day_or_a_year() {
        for text in ["on 7 May", "the 7th of May", "May 2023?", "Dec 3rd", "5月7日的会", "2023年5月", "十月三号"]
        {
            assert!(names_date(text), "{text}");
        }
        for text in ["May I ask?", "in December", "march with 3 friends to", "上个月", "5月", "3个月前"] {
            assert!(!names_date(text), "{text}");
        }
    }
}
