//! "yesterday", "last week", "on 7 May 2023", "two months ago".

mod lexicon;
mod qualifier;

use jiff::civil::Date;

use self::lexicon::{month_of, number_of, season_of, unit_of, weekday_of};
use super::Found;
use super::calendar::{self, Days, Unit, day, relative, shift};

struct Token<'a> {
    start: usize,
    text: &'a str,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// How many words an expression takes, and what it means.
type Match = Option<(usize, Days)>;

pub(super) fn find(lower: &str, today: Date) -> Vec<Found> {
    let tokens = tokens(lower);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let before = [1, 2, 3].map(|back| at.checked_sub(back).map_or("", |at| tokens[at].text));
        let words = Words { tokens: &tokens[at..], before: before[0], today };
        if let Some((length, days)) = words.matched() {
            let days = qualifier::qualified(before, days).unwrap_or(days);
            let last = (at + length).min(tokens.len()) - 1;
            found.push(Found { start: tokens[at].start, end: tokens[last].end(), days, today });
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

/// Whether an expression names a month or a year.
pub(super) fn is_calendar(expression: &str) -> bool {
    tokens(expression).iter().any(|token| {
        month_of(token.text).is_some() || year_number(token.text).is_some() || token.text.contains(['-', '/', '.'])
    })
}

/// A date in digits, such as 31.12.2023.
const DATE_BYTES_MAX: usize = 10;

/// Words and numbers of ASCII; a date in digits stays whole.
fn tokens(lower: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = lower;
    while let Some(skip) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let word = &rest[skip..];
        let plain = word.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let text = date_token(word).unwrap_or(&word[..plain]);
        tokens.push(Token { start: lower.len() - word.len(), text });
        rest = &word[text.len()..];
    }
    tokens
}

fn date_token(word: &str) -> Option<&str> {
    let joins = |b: u8| matches!(b, b'-' | b'/' | b'.');
    let length = word.bytes().take(DATE_BYTES_MAX + 1).take_while(|b| b.is_ascii_digit() || joins(*b)).count();
    let text = word[..length].trim_end_matches(['-', '/', '.']);
    let ends = !word[text.len()..].starts_with(|c: char| c.is_ascii_alphanumeric());
    (ends && text.len() <= DATE_BYTES_MAX && text.bytes().any(joins)).then_some(text)
}

struct Words<'a> {
    tokens: &'a [Token<'a>],
    before: &'a str,
    today: Date,
}

impl Words<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn matched(&self) -> Match {
        if self.word(0).starts_with(|c: char| c.is_ascii_digit()) {
            return self
                .numeric_date()
                .or_else(|| self.day_then_month())
                .or_else(|| self.ago())
                .or_else(|| self.year());
        }
        self.month_first()
            .or_else(|| self.ago())
            .or_else(|| self.span_until_now())
            .or_else(|| self.relative())
            .or_else(|| self.named_day())
            .or_else(|| self.season())
            .or_else(|| self.weekday())
    }

    /// 2023-05-07, 2023/5/7, 5/7/2023, 31/12/2023, 31.12.2023, 2023-05.
    fn numeric_date(&self) -> Match {
        let word = self.word(0);
        let parts: Vec<i16> = word.split(['-', '/', '.']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let days = match parts[..] {
            [d, m, y] if y >= 1000 && word.contains('.') => calendar::date(self.today, small(m)?, small(d)?, Some(y)),
            [y, m, d] if y >= 1000 => calendar::date(self.today, small(m)?, small(d)?, Some(y)),
            [m, d, y] if y >= 1000 && m <= 12 => calendar::date(self.today, small(m)?, small(d)?, Some(y)),
            [d, m, y] if y >= 1000 => calendar::date(self.today, small(m)?, small(d)?, Some(y)),
            [y, m] if (1900..2100).contains(&y) && !word.contains('.') => {
                calendar::month(self.today, small(m)?, Some(y))
            }
            _ => None,
        };
        Some((1, days?))
    }

    /// 7 May, 7th of May 2023.
    fn day_then_month(&self) -> Match {
        let dom = day_number(self.word(0))?;
        let of = usize::from(self.word(1) == "of");
        let month = month_of(self.word(1 + of))?;
        let (year, taken) = self.year_at(2 + of);
        Some((2 + of + taken, calendar::date(self.today, month, dom, year)?))
    }

    /// May 7, May 7th 2023, May 2023, in May.
    fn month_first(&self) -> Match {
        let month = month_of(self.word(0))?;
        if let Some(dom) = day_number(self.word(1)) {
            let (year, taken) = self.year_at(2);
            return Some((2 + taken, calendar::date(self.today, month, dom, year)?));
        }
        let of = usize::from(self.word(1) == "of");
        if let Some(year) = year_number(self.word(1 + of)) {
            return Some((2 + of, calendar::month(self.today, month, Some(year))?));
        }
        // "may" and "march" are verbs, and "mar" and "sun" parts of names, unless a preposition says otherwise.
        let sure = self.word(0).len() > 5 || matches!(self.word(0), "april" | "june" | "july");
        let said = matches!(self.before, "in" | "since" | "during" | "of" | "early" | "late" | "mid" | "until" | "by");
        (sure || said).then_some((1, calendar::month(self.today, month, None)?))
    }

    /// 3 days ago, a couple of weeks ago, two months earlier.
    fn ago(&self) -> Match {
        let (number, taken) = self.number_at(0)?;
        let unit = unit_of(self.word(taken))?;
        matches!(self.word(taken + 1), "ago" | "earlier" | "back" | "before").then_some(())?;
        Some((taken + 2, relative(self.today, -number, unit)?))
    }

    /// the past two weeks, the last 3 days, in recent months.
    fn span_until_now(&self) -> Match {
        matches!(self.word(0), "past" | "last" | "recent" | "previous").then_some(())?;
        let (number, taken) = self.number_at(1).unwrap_or((if self.word(0) == "recent" { 3 } else { 0 }, 0));
        let unit = unit_of(self.word(1 + taken)).filter(|_| number > 0)?;
        Some((2 + taken, day(shift(self.today, -number, unit)?).to(self.today)))
    }

    /// last week, this month, next year, last Friday, last May, last summer, last night.
    fn relative(&self) -> Match {
        let steps = match self.word(0) {
            "last" | "previous" | "past" => -1,
            "this" | "current" => 0,
            "next" | "coming" => 1,
            _ => return None,
        };
        let what = self.word(1);
        let days = if let Some(unit) = unit_of(what) {
            relative(self.today, steps, unit)
        } else if let Some(weekday) = weekday_of(what) {
            calendar::weekday(self.today, weekday, (steps >= 0).then_some(steps))
        } else if let Some(month) = month_of(what) {
            let before = if steps < 0 { shift(self.today.first_of_month(), -1, Unit::Day)? } else { self.today };
            calendar::month(before, month, (steps == 0).then_some(self.today.year()))
        } else if let Some(season) = season_of(what) {
            match steps {
                -1 => calendar::latest_season(self.today, season, true),
                _ => calendar::season(season, self.today.year() + steps as i16),
            }
        } else {
            match (what, steps) {
                ("night", -1) => relative(self.today, -1, Unit::Day),
                ("morning" | "afternoon" | "evening", 0) => Some(day(self.today)),
                _ => None,
            }
        };
        Some((2, days?))
    }

    fn named_day(&self) -> Match {
        let (length, steps) = match (self.word(0), self.word(1), self.word(2)) {
            ("day", "before", "yesterday") => (3, -2),
            ("day", "after", "tomorrow") => (3, 2),
            ("yesterday", ..) => (1, -1),
            ("today" | "tonight", ..) => (1, 0),
            ("tomorrow", ..) => (1, 1),
            ("other", "day", _) => return Some((2, day(shift(self.today, -7, Unit::Day)?).to(self.today))),
            _ => return None,
        };
        Some((length, day(shift(self.today, steps, Unit::Day)?)))
    }

    /// summer 2022, winter of 2021, in the summer.
    fn season(&self) -> Match {
        let season = season_of(self.word(0))?;
        let of = usize::from(self.word(1) == "of");
        if let Some(year) = year_number(self.word(1 + of)) {
            return Some((2 + of, calendar::season(season, year)?));
        }
        // "spring" and "fall" are verbs as well.
        matches!(self.before, "the" | "in" | "during").then_some(())?;
        Some((1, calendar::latest_season(self.today, season, false)?))
    }

    fn weekday(&self) -> Match {
        let weekday = weekday_of(self.word(0)).filter(|_| self.word(0).len() > 3)?;
        Some((1, calendar::weekday(self.today, weekday, None)?))
    }

    fn year(&self) -> Match {
        let year = year_number(self.word(0))?;
        matches!(self.before, "in" | "since" | "during" | "of" | "from" | "year" | "until" | "by" | "early" | "late")
            .then_some((1, calendar::year(year)?))
    }

    fn year_at(&self, at: usize) -> (Option<i16>, usize) {
        let year = year_number(self.word(at));
        (year, usize::from(year.is_some()))
    }

    /// A number in digits or words: "3", "three", "a", "a couple of", "a few", "several".
    fn number_at(&self, at: usize) -> Option<(i64, usize)> {
        let article = usize::from(matches!((self.word(at), self.word(at + 1)), ("a", "couple" | "few")));
        let number = number_of(self.word(at + article))?;
        let of = usize::from(self.word(at + article + 1) == "of");
        Some((number, 1 + article + of))
    }
}

fn small(number: i16) -> Option<i8> {
    i8::try_from(number).ok()
}

/// 7, 7th.
fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th").then_some(())?;
    digits.parse().ok().filter(|dom| (1..=31).contains(dom) && digits.len() <= 2)
}

fn year_number(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (1900..2100).contains(year) && word.len() == 4)
}
