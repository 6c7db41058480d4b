//! What the whole formula finds on the labelled sets, by brute force.

mod data;

use data::{Conversation, Question, Set};

use crate::index::lexical::Bm25;
use crate::memory::{Sensitivity, Timestamp};
use crate::policy::relevance::{Legs, Shares, add_context};
use crate::text::Language;

#[derive(Clone, Copy)]
struct Settings {
    shares: Shares,
    words: Bm25,
    characters: Bm25,
    lambda: f64,
    floor: f64,
}

impl Settings {
    const DEFAULT: Self = Self {
        shares: Shares::DEFAULT,
        words: Bm25::WORDS,
        characters: Bm25::CHARACTERS,
        lambda: 0.005,
        floor: 0.9,
    };

    fn bm25(&self, language: Language) -> Bm25 {
        if language.is_unspaced() { self.characters } else { self.words }
    }
}

/// Row numbers, best first.
fn ranked(settings: &Settings, of: &Conversation, question: &Question) -> Vec<usize> {
    let shares = &settings.shares;
    let bm25 = settings.bm25(question.words.language);
    let lexical = of.lexical.score(&question.words.terms, Sensitivity::Personal, bm25);
    let mut context = vec![0.0; of.memories.len()];
    let base = |row: u32| Some(shares.base(question.dense[row as usize], lexical.get(row)));
    add_context(shares, &of.layout, base, |row, sum| context[row as usize] = sum);
    let scores: Vec<f64> = (0..of.memories.len())
        .map(|row| {
            let memory = &of.memories[row];
            let legs = Legs {
                dense: question.dense[row],
                lexical: lexical.get(row as u32),
                speaker: f64::from(u8::from(question.speaker[row])),
                ..Legs::default()
            };
            let z = if memory.is_turn { shares.turn_divisor() } else { 1.0 };
            let relevance = (shares.direct(&legs) + context[row]).max(0.0) / z;
            let days = Timestamp::from_micros(question.now).days_since(Timestamp::from_micros(memory.time)).max(0.0);
            relevance * (settings.floor + (1.0 - settings.floor) * libm::exp(-settings.lambda * days))
        })
        .collect();
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    rows.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    rows
}

fn recall(of: &Conversation, question: &Question, rows: &[usize], k: usize) -> f64 {
    let found = rows.iter().take(k).filter(|row| question.evidence.contains(&of.memories[**row].id)).count();
    found as f64 / question.evidence.len() as f64
}

/// Mean recall@5 and @10 over the questions that pass a filter, and how many do.
fn figures(settings: &Settings, set: &Set, filter: impl Fn(&Question) -> bool) -> (f64, f64, usize) {
    let (mut five, mut ten, mut count) = (0.0, 0.0, 0);
    for of in &set.conversations {
        for question in of.questions.iter().filter(|question| filter(question)) {
            let rows = ranked(settings, of, question);
            five += recall(of, question, &rows, 5);
            ten += recall(of, question, &rows, 10);
            count += 1;
        }
    }
    (five / f64::from(count), ten / f64::from(count), count as usize)
}

fn line(name: &str, settings: &Settings, sets: &[Set]) -> String {
    let mut line = format!("{name:<34}");
    for set in sets {
        let (five, ten, _) = figures(settings, set, |_| true);
        line += &format!(" | {five:.4} {ten:.4}");
    }
    line
}

#[test]
#[ignore = "prints a table"]
fn sweep() {
    let Some(sets) = data::load() else { return println!("skipped: the labelled sets are not here") };
    let names: Vec<_> = sets.iter().map(|set| set.name).collect();
    println!("{names:?}");
    let d = Settings::DEFAULT;
    println!("{}", line("default", &d, &sets));
    let no = Shares { near: 0.0, session: 0.0, speaker: 0.0, time: 0.0, ..d.shares };
    println!("{}", line("words alone", &Settings { shares: Shares { dense: 0.0, ..no }, ..d }, &sets));
    println!("{}", line("dense alone", &Settings { shares: Shares { lexical: 0.0, ..no }, ..d }, &sets));
    println!("{}", line("no context", &Settings { shares: no, ..d }, &sets));
    println!("{}", line("no decay", &Settings { floor: 1.0, ..d }, &sets));
    for dense in [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0] {
        println!("{}", line(&format!("dense {dense}"), &Settings { shares: Shares { dense, ..d.shares }, ..d }, &sets));
    }
    for near in [0.1, 0.15, 0.2, 0.25, 0.3, 0.4] {
        for session in [0.0, 0.2, 0.3, 0.4, 0.6, 0.8] {
            println!("{}", line(&format!("near {near} session {session}"), &Settings { shares: Shares { near, session, ..d.shares }, ..d }, &sets));
        }
    }
    for speaker in [0.0, 0.05, 0.1, 0.15, 0.2, 0.3] {
        println!("{}", line(&format!("speaker {speaker}"), &Settings { shares: Shares { speaker, ..d.shares }, ..d }, &sets));
    }
    for k1 in [0.5, 0.7, 0.9, 1.2, 1.5, 2.0] {
        for b in [0.2, 0.3, 0.4, 0.55, 0.75] {
            let bm = Bm25 { k1, b };
            println!("{}", line(&format!("k1 {k1} b {b}"), &Settings { words: bm, characters: bm, ..d }, &sets));
        }
    }
}
