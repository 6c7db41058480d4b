//! "昨天", "上周三", "2023年5月7日", "三天前", "去年夏天".

mod lexicon;

use jiff::civil::Date;

use self::lexicon::{leading, number, season, unit, weekday};
use super::Found;
use super::calendar::{self, Days, Unit, day, relative, shift};

/// What is left after an expression, and what it means.
type Match<'a> = Option<(&'a str, Days)>;

pub(super) fn find(text: &str, today: Date) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match matched(rest, today) {
            Some((after, days)) => {
                found.push(Found { start: text.len() - rest.len(), end: text.len() - after.len(), days, today });
                rest = after;
            }
            // A number is read from its first digit or not at all.
            None if first.is_ascii_digit() => rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => rest = &rest[first.len_utf8()..],
        }
    }
    found
}

/// Whether an expression names a month or a year.
pub(super) fn is_calendar(expression: &str) -> bool {
    let names = expression.contains(['月', '年']) && number(expression).is_some();
    names && !expression.ends_with('前')
}

fn matched(text: &str, today: Date) -> Match<'_> {
    let first = text.chars().next().filter(|c| c.is_ascii_digit() || !c.is_ascii())?;
    if first.is_ascii_digit() || number(text).is_some() {
        return year_first(text, today).or_else(|| month_first(text, today)).or_else(|| ago(text, today));
    }
    named_day(text, today)
        .or_else(|| named_year(text, today))
        .or_else(|| named_month(text, today))
        .or_else(|| named_week(text, today))
        .or_else(|| recent(text, today))
        .or_else(|| ago(text, today))
}

/// 2023年, 2023年5月, 2023年5月7日, 2023年夏天.
fn year_first(text: &str, today: Date) -> Match<'_> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|at| matches!(at, 2 | 4))?;
    let year: i16 = text[..digits].parse().ok()?;
    let year = if digits == 2 { 2000 + year } else { year };
    within_year(text[digits..].trim_start().strip_prefix('年')?, today, year)
}

fn within_year(rest: &str, today: Date, year: i16) -> Match<'_> {
    if let Some((after, season)) = season(rest.strip_prefix('的').unwrap_or(rest)) {
        return Some((after, calendar::season(season, year)?));
    }
    match month_and_day(rest.trim_start(), today, Some(year)) {
        Some(found) => Some(found),
        None => Some((rest, calendar::year(year)?)),
    }
}

fn month_first(text: &str, today: Date) -> Match<'_> {
    month_and_day(text, today, None)
}

/// 5月, 5月份, 五月七日, 5月7号; not 5月前 or 5个月.
fn month_and_day(text: &str, today: Date, year: Option<i16>) -> Match<'_> {
    let (rest, month) = number(text)?;
    let rest = rest.trim_start().strip_prefix('月')?;
    let month = i8::try_from(month).ok()?;
    if let Some((after, dom)) = number(rest.trim_start()) {
        let after = after.trim_start();
        if let Some(after) = after.strip_prefix('日').or_else(|| after.strip_prefix('号')) {
            return Some((after, calendar::date(today, month, i8::try_from(dom).ok()?, year)?));
        }
    }
    let rest = rest.strip_prefix('份').unwrap_or(rest);
    Some((rest, calendar::month(today, month, year)?))
}

/// 三天前, 两个月之前, 半年前, 几天前, 3周以前.
fn ago(text: &str, today: Date) -> Match<'_> {
    let (rest, count) = if let Some(rest) = text.strip_prefix('半') {
        let rest = rest.strip_prefix('年')?;
        return before(rest).and_then(|rest| Some((rest, relative(today, -6, Unit::Month)?)));
    } else {
        number(text).or_else(|| Some((text.strip_prefix('几')?, 3)))?
    };
    let (rest, unit) = unit(rest.trim_start())?;
    Some((before(rest)?, relative(today, -count, unit)?))
}

fn before(rest: &str) -> Option<&str> {
    leading(rest, &[("之前", ()), ("以前", ()), ("前", ())]).map(|(rest, ())| rest)
}

fn named_day(text: &str, today: Date) -> Match<'_> {
    const DAYS: [(&str, i64); 15] = [
        ("大前天", -3),
        ("前天", -2),
        ("前晚", -2),
        ("昨天", -1),
        ("昨日", -1),
        ("昨晚", -1),
        ("昨夜", -1),
        ("今天", 0),
        ("今日", 0),
        ("今晚", 0),
        ("今早", 0),
        ("明天", 1),
        ("明日", 1),
        ("大后天", 3),
        ("后天", 2),
    ];
    let (rest, steps) = leading(text, &DAYS)?;
    Some((rest, day(shift(today, steps, Unit::Day)?)))
}

/// 去年, 去年5月, 去年夏天.
fn named_year(text: &str, today: Date) -> Match<'_> {
    const YEARS: [(&str, i16); 5] = [("大前年", -3), ("前年", -2), ("去年", -1), ("今年", 0), ("明年", 1)];
    let (rest, steps) = leading(text, &YEARS)?;
    within_year(rest, today, today.year() + steps)
}

/// 上个月, 本月, 上个月5号.
fn named_month(text: &str, today: Date) -> Match<'_> {
    const MONTHS: [(&str, i64); 8] = [
        ("上上个月", -2),
        ("上个月", -1),
        ("上月", -1),
        ("这个月", 0),
        ("本月", 0),
        ("当月", 0),
        ("下个月", 1),
        ("下月", 1),
    ];
    let (rest, steps) = leading(text, &MONTHS)?;
    let days = relative(today, steps, Unit::Month)?;
    if let Some((after, dom)) = number(rest)
        && let Some(after) = after.strip_prefix('号').or_else(|| after.strip_prefix('日'))
    {
        let first = days.first;
        return Some((after, calendar::date(today, first.month(), i8::try_from(dom).ok()?, Some(first.year()))?));
    }
    Some((rest, days))
}

/// 上周, 上个星期, 本周三, 周末, 星期五.
fn named_week(text: &str, today: Date) -> Match<'_> {
    const STEPS: [(&str, i64); 9] = [
        ("上上个", -2),
        ("上上", -2),
        ("上个", -1),
        ("上", -1),
        ("这个", 0),
        ("这", 0),
        ("本", 0),
        ("下个", 1),
        ("下", 1),
    ];
    let named = leading(text, &STEPS);
    let (rest, steps) = named.map_or((text, None), |(rest, steps)| (rest, Some(steps)));
    let (rest, ()) = leading(rest, &[("星期", ()), ("礼拜", ()), ("周", ())])?;
    if let Some(rest) = rest.strip_prefix('末') {
        return Some((rest, relative(today, steps.unwrap_or(0), Unit::Weekend)?));
    }
    match (weekday(rest), steps) {
        (Some((rest, weekday)), _) => Some((rest, calendar::weekday(today, weekday, steps)?)),
        (None, Some(steps)) => Some((rest, relative(today, steps, Unit::Week)?)),
        (None, None) => None,
    }
}

/// 最近三天, 过去两周, 最近几个月, 前几天.
fn recent(text: &str, today: Date) -> Match<'_> {
    let (rest, ()) = leading(text, &[("最近", ()), ("过去", ()), ("近", ()), ("前", ()), ("这", ())])?;
    let rest = rest.strip_prefix('的').unwrap_or(rest);
    let (rest, count) = number(rest).or_else(|| Some((rest.strip_prefix('几')?, 5)))?;
    let (rest, unit) = unit(rest)?;
    Some((rest, day(shift(today, -count, unit)?).to(today)))
}
