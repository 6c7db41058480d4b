use super::data::{Conversation, Question, Set};
use crate::index::lexical::Bm25;
use crate::memory::{Sensitivity, Timestamp};
use crate::policy::relevance::{Legs, Shares, add_context};
use crate::text::Language;
use crate::text::time::time_match;

/// Everything that a sweep may turn.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) shares: Shares,
    pub(super) words: Bm25,
    pub(super) characters: Bm25,
    pub(super) lambda: f64,
    pub(super) floor: f64,
}

impl Settings {
    pub(super) const DEFAULT: Self =
        Self { shares: Shares::DEFAULT, words: Bm25::WORDS, characters: Bm25::CHARACTERS, lambda: 0.005, floor: 0.9 };

    pub(super) fn shares(self, change: impl Fn(&mut Shares)) -> Self {
        let mut shares = self.shares;
        change(&mut shares);
        Self { shares, ..self }
    }

    pub(super) fn words_alone(self) -> Self {
        self.shares(|s| *s = Shares { dense: 0.0, time: 0.0, speaker: 0.0, near: 0.0, session: 0.0, ..*s })
    }

    pub(super) fn dense_alone(self) -> Self {
        self.shares(|s| *s = Shares { words: 0.0, time: 0.0, speaker: 0.0, near: 0.0, session: 0.0, ..*s })
    }

    fn bm25(&self, language: Language) -> Bm25 {
        if language.is_unspaced() { self.characters } else { self.words }
    }

    fn retention(&self, now: i64, time: i64) -> f64 {
        let days = Timestamp::from_micros(now).days_since(Timestamp::from_micros(time)).max(0.0);
        self.floor + (1.0 - self.floor) * libm::exp(-self.lambda * days)
    }
}

/// Row numbers, best first.
fn ranked(settings: &Settings, of: &Conversation, question: &Question) -> Vec<usize> {
    let shares = &settings.shares;
    let bm25 = settings.bm25(question.words.language);
    let lexical = of.lexical.score(&question.words.terms, Sensitivity::Personal, bm25);
    let mut context = vec![0.0; of.memories.len()];
    let base = |row: usize| shares.base(question.dense[row], lexical.get(row as u32));
    let bases: Vec<f64> = (0..of.memories.len()).map(base).collect();
    add_context(shares, &of.layout, &bases, &mut context);
    let score = |row: usize| {
        let memory = &of.memories[row];
        let legs = Legs {
            dense: question.dense[row],
            lexical: lexical.get(row as u32),
            scene: 0.0,
            time: time_match(&question.times, memory.time, &memory.told),
            speaker: f64::from(u8::from(question.speaker[row])),
        };
        let z = if memory.is_turn { shares.turn_divisor() } else { 1.0 };
        (shares.direct(&legs) + context[row]).max(0.0) / z * settings.retention(question.now, memory.time)
    };
    let scores: Vec<f64> = (0..of.memories.len()).map(score).collect();
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    rows.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    rows
}

fn recall(of: &Conversation, question: &Question, rows: &[usize], k: usize) -> f64 {
    let found = rows.iter().take(k).filter(|row| question.evidence.contains(&of.memories[**row].id)).count();
    found as f64 / question.evidence.len() as f64
}

/// Mean recall@5 and @10 over the questions that pass a filter, and how many do.
pub(super) fn figures(settings: &Settings, set: &Set, filter: impl Fn(&Question) -> bool) -> (f64, f64, u32) {
    let (mut five, mut ten, mut count) = (0.0, 0.0, 0);
    for of in &set.conversations {
        for question in of.questions.iter().filter(|question| filter(question)) {
            let rows = ranked(settings, of, question);
            five += recall(of, question, &rows, 5);
            ten += recall(of, question, &rows, 10);
            count += 1;
        }
    }
    (five / f64::from(count), ten / f64::from(count), count)
}

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

/// Whether a question holds a month name with a day or a year beside it.
pub(super) fn names_date(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |at: usize| words.get(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).is_some_and(|b| number(b) || words[b] == "of" && b > 0 && number(b - 1));
        MONTHS.contains(word) && (number(at + 1) || before)
    })
}
