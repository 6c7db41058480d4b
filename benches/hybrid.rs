//! What words, moment, speaker and conversation cost on top of meaning.
//!
//! `cargo bench --bench hybrid`; one user of 10,000 memories, equal weights, so that no bound rules a row out.

mod common;

use common::data::{self, DIMS, Random};
use common::in_turns;
use mnemic::memory::{NewMemory, Timestamp};
use mnemic::{Curve, Query, Store, User};

const ROWS: usize = 10_000;
/// Ranks of the words of a text, those that say nothing left out.
const RANKS: (f64, f64) = (50.0, 8_000.0);
const QUERIES: usize = 32;
/// Turns of a conversation.
const TURNS: usize = 25;

/// A word by its rank, the nth as often as 1/n (Zipf).
fn word(random: &mut Random) -> String {
    let rank = RANKS.0 * (RANKS.1 / RANKS.0).powf(random.unit());
    let mut number = rank as usize * 7919 % 1_000_003;
    let mut word = String::new();
    for _ in 0..3 {
        word.push(char::from(b"bcdfgklmnprstvz"[number % 15]));
        word.push(char::from(b"aeiou"[number / 15 % 5]));
        number /= 75;
    }
    word
}

fn text(random: &mut Random, words: usize) -> String {
    (0..words).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn fill(store: &Store, name: &str, vectors: &[Vec<f32>], turns: bool) -> User {
    let user = store.user(name).expect("a user");
    let mut random = Random(3);
    let all: Vec<NewMemory> = vectors
        .iter()
        .enumerate()
        .map(|(n, vector)| {
            let text = text(&mut random, 20);
            let memory = if turns {
                let speaker = if n % 2 == 0 { "Ada" } else { "Bob" };
                NewMemory::episode(text).turn(format!("s{}", n / TURNS), (n % TURNS) as u32).speaker(speaker)
            } else {
                NewMemory::note(text)
            };
            let age_days = 365.0 * random.unit().powi(2);
            memory.created_at(Timestamp::from_micros(data::NOW).plus_days(-age_days)).vector(vector.clone())
        })
        .collect();
    for batch in all.chunks(1000) {
        user.remember_all(batch.iter().cloned()).expect("stored");
    }
    user
}

fn ask(user: &User, queries: &[Query]) {
    for query in queries {
        std::hint::black_box(user.recall_ids(query).expect("hits"));
    }
}

fn main() {
    let vectors = data::clustered(ROWS, QUERIES);
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::builder(dir.path().join("store")).cache_bytes(1 << 30).open().expect("a store");
    let (mut random, now) = (Random(5), Timestamp::from_micros(data::NOW));
    let abouts: Vec<String> = (0..QUERIES).map(|_| text(&mut random, 4)).collect();
    let ask_for = |moment: &str| -> Vec<Query> {
        let texts = abouts.iter().map(|about| Query::text(format!("What did Ada say about {about}{moment}?")).at(now));
        texts.zip(&vectors.queries).map(|(query, vector)| query.with_vector(vector.clone())).collect()
    };
    let dense: Vec<Query> =
        vectors.queries.iter().map(|v| Query::vector(v.clone()).curve(Curve::None).at(now)).collect();
    let (hybrid, dated) = (ask_for(""), ask_for(" last week"));
    println!("\n{ROWS} rows x {DIMS}, {QUERIES} queries, ids and scores, microseconds a query\n");
    println!("| memories | dense, nothing pruned | all legs | / dense | with a moment named | / dense |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, turns) in [("notes", false), ("turns of conversations", true)] {
        let user = fill(&store, name, &vectors.rows, turns);
        let [d, h, m] =
            in_turns(9, [&mut || ask(&user, &dense), &mut || ask(&user, &hybrid), &mut || ask(&user, &dated)]);
        let each = |time: f64| time * 1e6 / QUERIES as f64;
        println!("| {name} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} |", each(d), each(h), h / d, each(m), m / d);
    }
    let mut criterion = common::criterion();
    for name in ["notes", "turns of conversations"] {
        let user = store.user(name).expect("a user");
        let mut next = (0..QUERIES).cycle();
        criterion.bench_function(&format!("hybrid recall of {name}"), |bench| {
            bench.iter(|| user.recall_ids(&hybrid[next.next().unwrap_or(0)]));
        });
    }
}
