use super::super::calendar::{Days, Unit, shift};

/// "The week before" reaches so far back.
const BEFORE_DAYS: i64 = 7;

/// What the words in front make of an expression: "early May", "the end of May", "the second week of May", "before 3 May".
/// `before` has the nearest word first.
pub(super) fn qualified(before: [&str; 3], days: Days) -> Option<Days> {
    if before[0] == "before" {
        return Some(Days { first: shift(days.first, -BEFORE_DAYS, Unit::Day)?, last: days.last });
    }
    if days.first.first_of_month() != days.first || days.first.last_of_month() != days.last {
        return Some(days);
    }
    let (from, to) = match before {
        ["early", ..] | ["of", "beginning" | "start", _] => (1, 10),
        ["mid", ..] | ["of", "middle", _] => (11, 20),
        ["late", ..] | ["of", "end", _] => (21, 31),
        ["of", "half", "first"] => (1, 15),
        ["of", "half", "second"] => (16, 31),
        ["of", "week", "first"] => (1, 7),
        ["of", "week", "second"] => (8, 14),
        ["of", "week", "third"] => (15, 21),
        ["of", "week", "fourth" | "last"] => (22, 31),
        _ => return Some(days),
    };
    let at = |day: i64| Some(shift(days.first, day - 1, Unit::Day)?.min(days.last));
    Some(Days { first: at(from)?, last: at(to)? })
}
