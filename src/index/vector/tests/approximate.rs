//! Approximate answers: only when asked for, equal to exact ones where every row is a candidate.

use super::super::approximate::Guess;
use super::super::request::{Gate, Request};
use super::exact::exponential;
use super::store::{NOW, Shape, Store};
use crate::kernel::{BitQuery, Dispatch, Kernel};

fn store(rows: usize) -> Store {
    let mut store = Store::new(Dispatch::best(), 96, Shape::Random, 91);
    store.bulk(rows);
    store
}

#[test]
fn with_every_row_a_candidate_answers_are_exact() {
    let mut store = store(3000);
    for step in 0..60 {
        let (scorer, query) = (exponential([0.0, 0.05, 2.5][step % 3], NOW), store.vector());
        let request = Request {
            query: Some(&query),
            scorer: &scorer,
            legs: None,
            gate: Gate { active_only: step % 2 == 0, level: 2 },
            filter: None,
            contradicted: &[5, 6],
            k: 10,
            min_score: None,
            approximate: None,
            full: &store.full,
        };
        let plan = store.arena.plan(&request);
        let all = Guess { candidates: usize::MAX / 4, recall: 1.0 };
        let near = store.arena.answer(&request, &plan, Some(all)).expect("valid");
        let exact = store.arena.search(&request).expect("valid");
        assert_eq!((&near.hits, near.approximate), (&exact.hits, Some(1.0)));
        if step % 7 == 0 {
            store.insert();
            store.change();
            store.remove();
        }
    }
}

fn approximate_recall(store: &mut Store, target: f64) -> Option<f64> {
    let (scorer, query) = (exponential(0.0, NOW), store.vector());
    let request = Request {
        query: Some(&query),
        scorer: &scorer,
        legs: None,
        gate: Gate::OPEN,
        filter: None,
        contradicted: &[],
        k: 10,
        min_score: None,
        approximate: Some(target),
        full: &store.full,
    };
    let found = store.arena.search(&request).expect("valid");
    if found.approximate.is_none() {
        let exact = store.arena.search(&Request { approximate: None, ..request }).expect("valid");
        assert_eq!(found, exact);
    }
    found.approximate
}

#[test]
fn small_users_are_answered_exactly_and_large_ones_say_their_recall() {
    assert_eq!(approximate_recall(&mut store(2000), 0.9), None);
    let mut large = store(12_000);
    let said = approximate_recall(&mut large, 0.8).expect("large enough");
    assert!((0.8..=1.0).contains(&said), "{said}");
    let better = approximate_recall(&mut large, 0.9);
    assert!(better.is_none_or(|better| better >= 0.9), "{better:?}");
}

#[test]
fn every_kernel_sums_signs_alike() {
    let mut store = Store::new(Dispatch::best(), 8, Shape::Random, 17);
    for stride in [64, 128, 384, 448] {
        let query: Vec<f32> = (0..stride).map(|_| store.random.unit() as f32 - 0.5).collect();
        let query = BitQuery::new(&query, stride);
        let words: Vec<u64> = (0..3 * 8 * stride / 64).map(|_| store.random.next()).collect();
        let sums = |kernel: Kernel| {
            let mut sums = [0; 24];
            Dispatch::new(kernel).expect("available").scan_bits(&query, &words, &mut sums);
            sums
        };
        assert!(Kernel::available().all(|kernel| sums(kernel) == sums(Kernel::Scalar)));
    }
}
