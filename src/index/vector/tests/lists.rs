//! Lists of alike rows: each row in one of them, and nothing in an answer that isn't so.

use std::collections::BTreeMap;

use super::super::approximate::Aim;
use super::super::ivf::Growth;
use super::super::law::{Law, Moments};
use super::super::request::{Gate, Request};
use super::super::{Arena, Facts, NewRow};
use super::exact::exponential;
use super::store::{NOW, Shape, Store, as_new};
use crate::kernel::{BitQuery, Dispatch, padded};

/// Steps after which small lists are done.
const STEPS: usize = 60;

fn store(rows: usize, seed: u64) -> Store {
    let mut store = Store::new(Dispatch::best(), 40, Shape::Gathered, seed);
    store.bulk(rows);
    store
}

fn is_ready(arena: &Arena) -> bool {
    arena.alike.peek(|growth| growth.is_some_and(Growth::is_ready))
}

/// Each live row with a vector must be in one list, or be still to come, with the facts it has now.
fn check(arena: &Arena) {
    let Some((listed, coming)) = arena.alike.peek(|growth| growth.and_then(Growth::rows)) else { return };
    let wanted: BTreeMap<u32, Facts> = arena.iter().filter(|f| f.has_vector).map(|f| (f.row, *f)).collect();
    let mut numbers: Vec<u32> = listed.iter().map(|facts| facts.row).chain(coming).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, wanted.keys().copied().collect::<Vec<_>>());
    assert!(listed.iter().all(|facts| wanted[&facts.row] == *facts), "facts in lists are those of the rows");
}

#[test]
fn each_row_is_in_one_list_whatever_happens_meanwhile() {
    for seed in 300..306 {
        let mut store = store(3000, seed);
        let mut was_ready = 0;
        for step in 0..1500 {
            match store.random.below(3) {
                0 => store.insert(),
                1 => store.remove(),
                _ => store.change(),
            }
            if step % 2 == 0 {
                store.arena.grow_lists();
                was_ready += usize::from(is_ready(&store.arena));
            }
            if step % 10 == 0 {
                check(&store.arena);
            }
        }
        check(&store.arena);
        assert!(was_ready > 0, "seed {seed}");
    }
}

#[test]
fn lists_of_the_past_are_built_anew() {
    let mut store = store(3000, 310);
    let grow = |store: &mut Store| (0..STEPS).for_each(|_| store.arena.grow_lists());
    grow(&mut store);
    assert!(is_ready(&store.arena));
    (0..2000).for_each(|_| store.insert());
    store.arena.grow_lists();
    assert!(!is_ready(&store.arena));
    grow(&mut store);
    assert!(is_ready(&store.arena));
    check(&store.arena);
}

#[test]
fn rows_come_back_into_lists_after_loading() {
    let mut store = store(3000, 320);
    (0..STEPS).for_each(|_| store.arena.grow_lists());
    let with_lists = store.arena.bytes();
    (0..300).for_each(|_| store.remove());
    let rows: Vec<NewRow<'_>> = store.brute.rows.values().map(as_new).collect();
    let again = Arena::from_rows(40, Dispatch::best(), &rows).expect("valid");
    assert!(again.bytes() < with_lists, "lists count as memory, and are not loaded");
    (0..STEPS).for_each(|_| again.grow_lists());
    assert!(is_ready(&again));
    check(&again);
}

#[test]
fn with_every_list_likely_lists_find_every_hit() {
    let mut store = store(4000, 330);
    (0..STEPS).for_each(|_| store.arena.grow_lists());
    let aim = Aim::new(1.0, Law::of(&Moments::of(&[-1.0, 1.0])).expect("two"), 1e6);
    for step in 0..60 {
        let (scorer, query) = (exponential([0.0, 0.05, 0.3][step % 3], NOW), store.vector());
        let odd = |facts: &Facts| facts.kind % 2 == 1;
        let request = Request {
            query: Some(&query),
            scorer: &scorer,
            legs: None,
            gate: Gate { active_only: step % 2 == 0, level: 2 },
            filter: if step % 4 == 1 { Some(&odd) } else { None },
            contradicted: &[5, 6, 7, 8],
            k: 10,
            min_score: Some(1e-6),
            approximate: None,
            full: &store.full,
        };
        let plan = store.arena.plan(&request);
        let (floor, bits) = (plan.first_floor(&request), BitQuery::new(&query, padded(40)));
        let found = store.arena.alike.peek(|growth| match growth {
            Some(Growth::Ready(ready)) => {
                ready.search(&store.arena, &request, &plan, &floor, (&aim, &bits), usize::MAX)
            }
            _ => None,
        });
        let found =
            store.arena.finish_likely(&request, &plan, &aim, floor.get(), found.expect("ready")).expect("valid");
        assert_eq!(found.hits, store.arena.search(&request).expect("valid").hits, "step {step}");
        store.change();
    }
}

/// Questions to a user with lists: recall, and how many of the answers were approximate.
fn ask_all(store: &mut Store, questions: usize) -> (f64, f64, usize) {
    let (mut said, mut found, mut wanted, mut rough) = (0.0, 0, 0, 0);
    for step in 0..questions {
        let (scorer, query) = (exponential([0.0, 0.005, 0.05, 2.5][step % 4], NOW), store.vector());
        let (legs, _) = if step % 8 == 3 { store.legs() } else { (store.arena.legs(), BTreeMap::new()) };
        let even = |facts: &Facts| facts.kind.is_multiple_of(2);
        let request = Request {
            query: Some(&query),
            scorer: &scorer,
            legs: (step % 8 == 3).then_some(&legs),
            gate: Gate { active_only: step % 2 == 0, level: 2 },
            filter: if step % 5 == 1 { Some(&even) } else { None },
            contradicted: &[],
            k: 10,
            min_score: None,
            approximate: Some(0.9),
            full: &store.full,
        };
        let near = store.arena.search(&request).expect("valid");
        for hit in &near.hits {
            assert_eq!(store.arena.score_row(hit.row, &request).expect("valid").as_ref(), Some(hit));
            assert!(store.arena.is_eligible(hit.row, &request));
            assert!(request.filter.is_none_or(|filter| store.arena.facts(hit.row).is_some_and(filter)));
        }
        assert!(near.hits.is_sorted_by(|a, b| a.order(b).is_lt()), "better first, none twice");
        let exact = store.arena.search(&Request { approximate: None, ..request }).expect("valid");
        assert_eq!(near.hits.len(), exact.hits.len());
        let Some(recall) = near.approximate else { continue };
        rough += 1;
        said += recall;
        wanted += exact.hits.len();
        found += exact.hits.iter().filter(|hit| near.hits.contains(hit)).count();
    }
    (said / rough.max(1) as f64, found as f64 / wanted.max(1) as f64, rough)
}

#[test]
fn approximate_hits_have_exact_scores_and_the_recall_that_was_said() {
    let mut store = store(34_000, 340);
    ask_all(&mut store, 100);
    assert!(is_ready(&store.arena));
    for round in 0..3 {
        let (said, found, rough) = ask_all(&mut store, 200);
        assert!(rough > 150, "{rough}");
        assert!((said - found).abs() < 0.03 && found > 0.9, "round {round}: said {said}, found {found}");
        for _ in 0..300 {
            store.insert();
            store.change();
            store.remove();
        }
        check(&store.arena);
    }
}

#[test]
fn the_same_questions_have_the_same_answers() {
    let run = || {
        let mut store = store(34_000, 350);
        let scorer = exponential(0.0, NOW);
        let ask = |_| {
            let query = store.vector();
            let request = Request {
                query: Some(&query),
                scorer: &scorer,
                legs: None,
                gate: Gate::OPEN,
                filter: None,
                contradicted: &[],
                k: 10,
                min_score: None,
                approximate: Some(0.9),
                full: &store.full,
            };
            store.arena.search(&request).expect("valid")
        };
        (0..120).map(ask).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
