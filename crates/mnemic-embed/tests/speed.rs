//! How fast it is: `cargo test --release -p mnemic-embed --test speed -- --ignored --nocapture`.

use std::time::Instant;

const TEXTS: [&str; 4] = [
    "Caroline: I went to a LGBTQ support group yesterday and it was so powerful.",
    "Prefers window seats on trains, and aisle seats on flights over six hours",
    "Melanie: Wow, love that photo! What's the story behind your necklace? [photo: a woman with a necklace]",
    "Which restaurant did I book for our anniversary last year?",
];

#[test]
#[ignore = "a measurement"]
fn short_texts_a_second() {
    let begin = Instant::now();
    mnemic_embed::warm_up();
    println!("vocabulary: {:.2} ms", begin.elapsed().as_secs_f64() * 1e3);
    let (mut count, begin) = (0_u32, Instant::now());
    while begin.elapsed().as_secs_f64() < 2.0 {
        for _ in 0..1_000 {
            count += TEXTS.iter().filter_map(|text| mnemic_embed::embed(std::hint::black_box(text))).count() as u32;
        }
    }
    println!("{:.0} texts a second", f64::from(count) / begin.elapsed().as_secs_f64());
}
