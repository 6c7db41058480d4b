use jiff::civil::Weekday;

use super::super::calendar::{Season, Unit};

/// Numbers of more digits are not counts.
const DIGITS_MAX: usize = 4;

/// The first of some prefixes that a text has, and what it stands for.
pub(super) fn leading<'a, T: Copy>(text: &'a str, prefixes: &[(&str, T)]) -> Option<(&'a str, T)> {
    prefixes.iter().find_map(|(prefix, value)| Some((text.strip_prefix(prefix)?, *value)))
}

/// A number at the start of a text, in digits or in characters up to 99.
pub(super) fn number(text: &str) -> Option<(&str, i64)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if digits > 0 {
        return (digits <= DIGITS_MAX).then(|| Some((&text[digits..], text[..digits].parse().ok()?)))?;
    }
    let (tens, rest) = match digit(text) {
        Some((rest, tens)) => match rest.strip_prefix('十') {
            Some(rest) => (tens, rest),
            None => return Some((rest, tens)),
        },
        None => (1, text.strip_prefix('十')?),
    };
    let (rest, ones) = digit(rest).unwrap_or((rest, 0));
    Some((rest, tens * 10 + ones))
}

fn digit(text: &str) -> Option<(&str, i64)> {
    const DIGITS: [(&str, i64); 10] =
        [("一", 1), ("二", 2), ("两", 2), ("三", 3), ("四", 4), ("五", 5), ("六", 6), ("七", 7), ("八", 8), ("九", 9)];
    leading(text, &DIGITS)
}

pub(super) fn unit(text: &str) -> Option<(&str, Unit)> {
    const UNITS: [(&str, Unit); 12] = [
        ("个小时", Unit::Hour),
        ("小时", Unit::Hour),
        ("分钟", Unit::Hour),
        ("天", Unit::Day),
        ("日", Unit::Day),
        ("周", Unit::Week),
        ("个星期", Unit::Week),
        ("星期", Unit::Week),
        ("个礼拜", Unit::Week),
        ("个月", Unit::Month),
        ("月", Unit::Month),
        ("年", Unit::Year),
    ];
    leading(text, &UNITS)
}

pub(super) fn season(text: &str) -> Option<(&str, Season)> {
    const SEASONS: [(&str, Season); 8] = [
        ("春天", Season::Spring),
        ("春季", Season::Spring),
        ("夏天", Season::Summer),
        ("夏季", Season::Summer),
        ("秋天", Season::Autumn),
        ("秋季", Season::Autumn),
        ("冬天", Season::Winter),
        ("冬季", Season::Winter),
    ];
    leading(text, &SEASONS)
}

pub(super) fn weekday(text: &str) -> Option<(&str, Weekday)> {
    const WEEKDAYS: [(&str, Weekday); 8] = [
        ("一", Weekday::Monday),
        ("二", Weekday::Tuesday),
        ("三", Weekday::Wednesday),
        ("四", Weekday::Thursday),
        ("五", Weekday::Friday),
        ("六", Weekday::Saturday),
        ("日", Weekday::Sunday),
        ("天", Weekday::Sunday),
    ];
    leading(text, &WEEKDAYS)
}
