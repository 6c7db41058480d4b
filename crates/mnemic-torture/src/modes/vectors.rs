//! Odd vectors, at write and at query: refused by name, or found exactly.

use mnemic::memory::NewMemory;
use mnemic::world::testing::SplitMix64;
use mnemic::{Correction, ErrorKind, Hit, ListOptions, Query, Update};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{DIMS, Game, Setting, pick};

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let game = Game::new(case.seed, Setting::durable(1))?;
    let user = game.store.user("ada").say("user")?;
    let plain = vec![1.0; DIMS];
    let first = user.remember(NewMemory::note("first").vector(plain.clone())).say("remember")?;
    let mut stored = 1;
    for number in 0..40 {
        let odd = odd_vector(&mut case.random);
        let good = is_good(&odd);
        let says = |verb: &str| format!("{verb} of {odd:?}");
        let new = NewMemory::note(format!("odd {number}")).vector(odd.clone());
        let outcomes = [
            ("remember", user.remember(new).map(drop)),
            ("update", user.update(first, Update::new().vector(odd.clone())).map(drop)),
            ("recall", user.recall(Query::vector(odd.clone()).limit(1000)).map(drop)),
            (
                "correct",
                if good { Ok(()) } else { user.correct(first, Correction::new("x").vector(odd.clone())).map(drop) },
            ),
        ];
        for (verb, outcome) in &outcomes {
            match outcome {
                Ok(()) => ensure!(good, "{} was taken", says(verb)),
                Err(error) => {
                    ensure!(!good && error.kind() == ErrorKind::Invalid, "{}: {error:?}", says(verb));
                    ensure!(error.message().contains("vector:"), "{}: {error} does not name it", says(verb));
                }
            }
            case.pass();
        }
        stored += usize::from(good);
        let hits = user.recall(Query::vector(plain.clone()).limit(1000)).say("recall")?;
        let sound = |hit: &Hit| hit.score().is_finite() && hit.explain().cosine().abs() <= 1.0 + 1e-6 && hit.verify();
        ensure!(hits.len() == stored && hits.iter().all(sound), "{} hits of {stored}, after {odd:?}", hits.len());
        if case.is_over() {
            return Ok(());
        }
    }
    ensure!(user.list(ListOptions::new().limit(1000)).say("list")?.total == stored, "list after odd vectors");
    Ok(())
}

/// What any finite, non-zero vector of the right length is.
fn is_good(vector: &[f32]) -> bool {
    vector.len() == DIMS && vector.iter().all(|x| x.is_finite()) && vector.iter().any(|x| *x != 0.0)
}

fn odd_vector(random: &mut SplitMix64) -> Vec<f32> {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        1e-45,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1.0,
        -1.0,
        f32::EPSILON,
    ];
    let len = if random.below(4) == 0 { *pick(random, &[0, 1, 7, 8, 15, 17, 4096, 4097]) } else { DIMS };
    let all_odd = random.below(3) == 0;
    let mild = random.below(2) == 0;
    let from = if mild { &odd[3..] } else { &odd[..] };
    let fill = *pick(random, from);
    (0..len).map(|_| if all_odd || random.below(4) == 0 { *pick(random, from) } else { fill }).collect()
}
