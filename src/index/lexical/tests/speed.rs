use crate::index::lexical::{Bm25, Lexical, Standing};
use crate::memory::Sensitivity;
use crate::text::time::time_expressions;
use crate::text::{Language, QueryWords, TermList, estimate_tokens, preview};
use crate::world::World;

const ROWS: usize = 10_000;
const TOPICS: [&str; 16] = [
    "window seats",
    "the jazz concert",
    "Paris",
    "coffee with Ann",
    "a new job",
    "the dog's vet visit",
    "flight KL1234",
    "the museum",
    "a cooking class",
    "running shoes",
    "her sister",
    "the deadline",
    "yoga",
    "a book club",
    "camping",
    "taxes",
];

fn text(row: usize) -> String {
    let topic = |step: usize| TOPICS[row / step % TOPICS.len()];
    format!(
        "Caroline: I was thinking about {} and {}, number {row}; maybe {} next week?",
        topic(1),
        topic(7),
        topic(31)
    )
}

fn micros(world: &World, mut work: impl FnMut()) -> f64 {
    let start = world.monotonic_micros();
    work();
    (world.monotonic_micros() - start) as f64
}

#[test]
#[ignore = "prints timings; meant for --release"]
fn speed_of_odd_texts() {
    let world = World::system();
    for part in [
        "a.",
        "a1",
        "aB",
        "'",
        "a'",
        "..",
        "1-",
        "1-a ",
        "a_",
        "ก",
        "靠",
        "\u{1f1e6}",
        "\u{301}",
        "in may ",
        "十",
        "9",
        "v.1",
    ] {
        let text = part.repeat((64 << 10) / part.len());
        let words = micros(&world, || drop(std::hint::black_box(TermList::of(&text))));
        let times = micros(&world, || drop(std::hint::black_box(time_expressions(&text, 0))));
        let other = micros(&world, || drop(std::hint::black_box((preview(&text, 1_000), estimate_tokens(&text)))));
        println!("{part:?}: terms {words} us, times {times} us, preview and tokens {other} us");
    }
}

#[test]
#[ignore = "prints timings; meant for --release"]
fn speed() {
    let world = World::system();
    let texts: Vec<_> = (0..ROWS).map(text).collect();
    let mut lists = Vec::new();
    let took = micros(&world, || lists = texts.iter().map(|text| TermList::of(text)).collect());
    println!("analysis: {:.0} texts/s of {} bytes", ROWS as f64 / took * 1e6, texts[0].len());
    let chinese = "我上司的单位是深圳华银金融服务中心。";
    let took = micros(&world, || (0..ROWS).for_each(|_| drop(std::hint::black_box(TermList::of(chinese)))));
    println!("analysis: {:.0} texts/s of {} bytes of Chinese", ROWS as f64 / took * 1e6, chinese.len());
    let mut index = Lexical::default();
    let standing = Standing { level: Sensitivity::Personal, active: true };
    let took = micros(&world, || (0..).zip(&lists).for_each(|(row, list)| index.insert(row, list, standing)));
    println!("insert: {:.2} us a row, {} bytes a row", took / ROWS as f64, index.bytes() / ROWS);
    for query in
        ["which museum did Ann like?", "What did Caroline say about the jazz concert next week?", "number 4711"]
    {
        let words = QueryWords::of(query);
        let bm25 = Bm25::of(Language::English);
        let mut found = 0;
        let took = micros(&world, || {
            for _ in 0..1_000 {
                let scores = std::hint::black_box(index.score(&words.terms, Sensitivity::Personal, bm25));
                found = scores.as_slice().iter().filter(|value| **value > 0.0).count();
            }
        });
        println!("score: {:.1} us, {found} rows: {query}", took / 1_000.0);
    }
}
