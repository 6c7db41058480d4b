use jiff::civil::Weekday;

use super::super::calendar::{Season, Unit};

const MONTHS: [&str; 12] = [
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
];
pub(super) fn month_of(word: &str) -> Option<i8> {
    if !(3..=9).contains(&word.len()) {
        return None;
    }
    let short = if word == "sept" { "sep" } else { word };
    let at = MONTHS.iter().position(|month| *month == word || short.len() == 3 && month.starts_with(short))?;
    Some(at as i8 + 1)
}

pub(super) fn weekday_of(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "mondays" | "mon" => Weekday::Monday,
        "tuesday" | "tuesdays" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wednesdays" | "wed" => Weekday::Wednesday,
        "thursday" | "thursdays" | "thu" | "thurs" => Weekday::Thursday,
        "friday" | "fridays" | "fri" => Weekday::Friday,
        "saturday" | "saturdays" | "sat" => Weekday::Saturday,
        "sunday" | "sundays" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

pub(super) fn season_of(word: &str) -> Option<Season> {
    Some(match word {
        "spring" => Season::Spring,
        "summer" => Season::Summer,
        "autumn" | "fall" => Season::Autumn,
        "winter" => Season::Winter,
        _ => return None,
    })
}

pub(super) fn unit_of(word: &str) -> Option<Unit> {
    Some(match word {
        "hour" | "hours" | "minute" | "minutes" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "weekend" | "weekends" => Unit::Weekend,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

/// A count in digits or words; vague ones have their usual meaning.
pub(super) fn number_of(word: &str) -> Option<i64> {
    Some(match word {
        "zero" => 0,
        "a" | "an" | "one" => 1,
        "couple" | "two" => 2,
        "few" | "several" | "some" | "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        _ => return word.parse().ok().filter(|number| (0..10_000).contains(number)),
    })
}
