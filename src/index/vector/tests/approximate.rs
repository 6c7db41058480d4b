//! Approximate answers: only when asked for, equal to exact ones where every row is a candidate.

use super::super::approximate::Aim;
use super::super::law::{Law, Moments};
use super::super::request::{Gate, Request};
use super::super::sketch::Sketch;
use super::exact::exponential;
use super::store::{NOW, Shape, Store};
use crate::codec::measured::Measured;
use crate::kernel::{BitQuery, Dispatch, Kernel};

fn store(rows: usize) -> Store {
    let mut store = Store::new(Dispatch::best(), 96, Shape::Random, 91);
    store.bulk(rows);
    store
}

#[test]
fn with_every_row_likely_answers_are_exact() {
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
        let law = Law::of(&Moments::of(&[-1.0, 1.0])).expect("two");
        let near = store.arena.answer_likely(&request, &plan, &Aim::new(1.0, law, 1e3)).expect("valid");
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
    let said = (0..9).find_map(|_| approximate_recall(&mut large, 0.8)).expect("large enough");
    assert!((0.8..=1.0).contains(&said), "{said}");
}

#[test]
fn some_questions_are_answered_exactly_to_check_the_others() {
    let mut store = store(9000);
    let exact = |store: &mut Store| approximate_recall(store, 0.9).is_none();
    let all: Vec<bool> = (0..40).map(|_| exact(&mut store)).collect();
    let checked: Vec<usize> = (1..).zip(all).filter(|(_, exact)| *exact).map(|(number, _)| number).collect();
    assert_eq!(checked, [1, 2, 3, 4, 5, 6, 7, 8, 16, 32]);
}

#[test]
fn what_was_measured_is_gone_on_from() {
    let mut before = store(9000);
    assert_eq!(before.arena.measured(1), None);
    (0..20).for_each(|_| _ = approximate_recall(&mut before, 0.9));
    let measured = before.arena.measured(1).expect("measured");
    let mut after = store(9000);
    after.arena.resume(&measured);
    assert_eq!(after.arena.measured(1), Some(measured));
    let exact: Vec<bool> = (0..12).map(|_| approximate_recall(&mut after, 0.9).is_none()).collect();
    assert_eq!(exact.iter().position(|exact| *exact), Some(11), "the 32nd question is checked");
    let odd = Measured { sampled: [1.0, 0.0, -1.0], ..measured };
    let mut fresh = store(9000);
    fresh.arena.resume(&odd);
    assert_eq!(fresh.arena.measured(1), None);
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

#[test]
fn a_changed_row_is_sketched_anew() {
    let mut store = store(600);
    let words = |store: &Store| -> Vec<Vec<u64>> {
        store.arena.blocks().iter().map(|block| block.sketch(96).words().to_vec()).collect()
    };
    let before = words(&store);
    for _ in 0..200 {
        store.change();
        store.remove();
        store.insert();
    }
    assert_ne!(before, words(&store));
    for block in store.arena.blocks() {
        let mut fresh = Sketch::new(96, block.len());
        (0..block.len()).for_each(|lane| fresh.put(lane, block.row_bytes(lane), block.scale(lane)));
        assert_eq!(fresh.words(), block.sketch(96).words());
        assert_eq!(fresh.factors(), block.sketch(96).factors());
        assert_eq!(fresh.spreads(), block.sketch(96).spreads());
    }
}

#[test]
fn what_searches_build_is_noticed() {
    let mut store = Store::new(Dispatch::best(), 16, Shape::Gathered, 92);
    store.bulk(34_000);
    let (mut bytes, mut growth) = (store.arena.bytes(), store.arena.growth());
    let mut changes = 0;
    for _ in 0..100 {
        approximate_recall(&mut store, 0.9);
        let now = (store.arena.bytes(), store.arena.growth());
        assert!(now.0 == bytes || now.1 != growth, "memory has changed, and nothing told");
        changes += usize::from(now.0 != bytes);
        (bytes, growth) = now;
    }
    assert!(changes > 10, "{changes}");
}
