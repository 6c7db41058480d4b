//! No difference from brute force: not in ids, not in a bit of a score.

use std::collections::BTreeMap;

use super::super::Facts;
use super::super::legs::Legs;
use super::super::request::{Candidate, Gate, Outcome, Request};
use super::store::{DAY, NOW, Shape, Store};
use crate::kernel::{Dispatch, Kernel};
use crate::policy::score::{Curve, Decay, ScoreParams, Scorer};

const LAMBDAS: [f64; 8] = [0.0, 0.005, 0.05, 0.3, 2.5, 7.0, 1e-9, 1e300];
const FLOORS: [f64; 4] = [0.0, 0.0, 0.5, 0.9];

fn scorer(store: &mut Store) -> Scorer {
    let random = &mut store.random;
    let lambda = random.pick(&LAMBDAS);
    let curve = match random.below(4) {
        0 => Curve::Ebbinghaus { lambda },
        1 if lambda > 0.0 && lambda < 100.0 => Curve::HalfLife { days: 1.0 / lambda },
        _ => Curve::Exponential { lambda },
    };
    let decay = Decay::new(curve, random.pick(&FLOORS)).expect("valid");
    let (lo, hi) = random.pick(&[(0.0, 1.0), (0.0, 1.0), (0.1, 0.7), (0.85, 0.95), (-0.2, 0.4)]);
    let params = ScoreParams {
        decay,
        dense_share: random.pick(&[1.0, 0.5, 0.5, 0.0]),
        lo,
        hi,
        z: random.pick(&[1.0, 1.8]),
        weighted: !random.one_in(5),
        now: NOW + random.pick(&[0, 0, 0, -50 * DAY, 400 * DAY, 20_000 * DAY, -20_000 * DAY]),
    };
    Scorer::new(params).expect("valid")
}

fn bits(c: &Candidate) -> ([u8; 16], u32, [u64; 6]) {
    let p = c.parts;
    let parts = [p.dense_cos, p.relevance_raw, p.retention, p.weight, p.score, c.additive];
    (c.id, c.version, parts.map(f64::to_bits))
}

fn same(found: &Outcome, wanted: &[Candidate], what: &str) {
    let (found, wanted): (Vec<_>, Vec<_>) = (found.hits.iter().map(bits).collect(), wanted.iter().map(bits).collect());
    assert_eq!(found, wanted, "{what}");
}

/// One random query, compared.
fn ask(store: &mut Store) -> Outcome {
    let scorer = scorer(store);
    ask_with(store, &scorer)
}

fn ask_with(store: &mut Store, scorer: &Scorer) -> Outcome {
    let query = (!store.random.one_in(6)).then(|| store.vector());
    let with_legs = query.is_none() || store.random.one_in(3);
    let (legs, twin) = if with_legs { store.legs() } else { (store.arena.legs(), BTreeMap::new()) };
    let contradicted: Vec<u32> = (0..store.random.below(4)).map(|_| store.random.below(900) as u32).collect();
    let odd = |facts: &Facts| facts.kind % 2 == 1;
    let filter: Option<&(dyn Fn(&Facts) -> bool + Sync)> = if store.random.one_in(3) { Some(&odd) } else { None };
    let request = Request {
        query: query.as_deref(),
        scorer,
        legs: with_legs.then_some(&legs),
        gate: if store.random.one_in(3) { Gate { active_only: true, level: 1 } } else { Gate::OPEN },
        filter,
        contradicted: &contradicted,
        k: store.random.pick(&[1, 3, 10, 10, 50, usize::MAX]),
        min_score: store.random.pick(&[None, None, Some(0.3), Some(1e-30), Some(0.0)]),
        approximate: None,
        full: &store.full,
    };
    let found = store.arena.search(&request).expect("a valid request");
    let what = format!("{:?} k {} min {:?}", scorer.params(), request.k, request.min_score);
    same(&found, &store.brute.search(&request, &twin), &what);
    check_rank(store, &request, &found);
    found
}

fn check_rank(store: &Store, request: &Request<'_>, found: &Outcome) {
    let Some((at, hit)) = found.hits.iter().enumerate().next_back().filter(|(at, _)| *at < 20) else { return };
    assert_eq!(store.arena.rank(hit.row, request).expect("valid"), Some(at));
    assert_eq!(store.arena.score_row(hit.row, request).expect("valid").as_ref().map(bits), Some(bits(hit)));
    assert!(store.arena.is_eligible(hit.row, request));
}

fn kernels() -> impl Iterator<Item = Dispatch> {
    Kernel::available().filter_map(Dispatch::new)
}

fn bulk_stores(shape: Shape, first_seed: u64) {
    for kernel in kernels() {
        for (i, rows) in [0, 1, 7, 255, 256, 257, 900, 2100].into_iter().enumerate() {
            let dims = [8, 65, 128, 33][i % 4];
            let mut store = Store::new(kernel, dims, shape, first_seed + i as u64);
            store.bulk(rows);
            for _ in 0..120 {
                ask(&mut store);
            }
        }
    }
}

#[test]
fn random_stores_have_no_difference_from_brute_force() {
    bulk_stores(Shape::Random, 1);
}

/// Every kernel, lambda and floor, with filters, pins, legs, contradictions and times ahead.
fn grid(queries: usize) {
    for kernel in kernels() {
        for shape in [Shape::Random, Shape::Adversarial] {
            let mut store = Store::new(kernel, 72, shape, 9001);
            store.bulk(1500);
            for lambda in [0.0, 0.005, 0.05, 0.3, 2.5] {
                for floor in [0.0, 0.5, 0.9] {
                    let decay = Decay::new(Curve::Exponential { lambda }, floor).expect("valid");
                    let params =
                        ScoreParams { decay, dense_share: 1.0, lo: 0.0, hi: 1.0, z: 1.0, weighted: true, now: NOW };
                    let scorer = Scorer::new(params).expect("valid");
                    (0..queries).for_each(|_| drop(ask_with(&mut store, &scorer)));
                }
            }
        }
    }
}

#[test]
fn the_grid_of_curves_has_no_difference_from_brute_force() {
    grid(12);
}

#[test]
#[ignore = "ten thousand queries for each kernel, curve and floor"]
fn the_whole_grid_of_curves_has_no_difference_from_brute_force() {
    grid(5000);
}

#[test]
fn adversarial_stores_have_no_difference_from_brute_force() {
    bulk_stores(Shape::Adversarial, 1001);
}

#[test]
fn searches_between_changes_have_no_difference_from_brute_force() {
    for kernel in kernels() {
        for seed in 2000..2010 {
            let mut store = Store::new(kernel, 24, Shape::Adversarial, seed);
            let start = store.random.below(600);
            store.bulk(start);
            for _ in 0..1500 {
                match store.random.below(16) {
                    0..=8 => store.insert(),
                    9 | 10 => store.remove(),
                    11..=13 => store.change(),
                    _ => drop(ask(&mut store)),
                }
                assert_eq!(store.arena.len(), store.brute.rows.len());
            }
        }
    }
}

pub(super) fn exponential(lambda: f64, now: i64) -> Scorer {
    let decay = Decay::new(Curve::Exponential { lambda }, 0.0).expect("valid");
    let params = ScoreParams { decay, dense_share: 1.0, lo: 0.0, hi: 1.0, z: 1.0, weighted: true, now };
    Scorer::new(params).expect("valid")
}

#[test]
fn scores_that_round_together_are_ordered_by_relevance() {
    for kernel in kernels() {
        for days in [270, 298, 300, 9_000, 10_000_000] {
            let mut store = Store::new(kernel, 16, Shape::Random, 5000 + days as u64);
            store.times = Some(&[NOW, NOW - 1, NOW - DAY / 2, NOW - DAY, NOW - 3 * DAY]);
            store.bulk(1500);
            for _ in 0..40 {
                ask_with(&mut store, &exponential(2.5, NOW + days * DAY));
            }
        }
    }
}

#[test]
fn ages_that_saturate_are_bounded() {
    let ends: &[i64] = &[i64::MIN, i64::MIN + 1, i64::MIN / 2, i64::MAX, i64::MAX / 2, 0];
    for (seed, times) in [(6000, ends), (6001, &ends[..2]), (6002, &ends[..3])] {
        let mut store = Store::new(Dispatch::best(), 16, Shape::Random, seed);
        store.times = Some(times);
        store.bulk(1200);
        for now in [i64::MAX, i64::MIN, 0, i64::MAX / 2] {
            for lambda in [1e-9, 1e-8, 1e-7, 1.0] {
                (0..8).for_each(|_| drop(ask_with(&mut store, &exponential(lambda, now))));
            }
        }
    }
}

#[test]
fn many_threads_find_the_same() {
    let mut store = Store::new(Dispatch::best(), 8, Shape::Adversarial, 3003);
    store.bulk(50_500);
    for _ in 0..25 {
        ask(&mut store);
    }
}

#[test]
fn strong_decay_skips_most_rows_and_reranks_few() {
    let mut store = Store::new(Dispatch::best(), 64, Shape::Random, 4001);
    store.bulk(20_000);
    let scorer = exponential(0.3, NOW + 400 * DAY);
    let query = store.vector();
    let legs: Option<&Legs> = None;
    let far = |facts: &Facts| !facts.pinned;
    let request = Request {
        query: Some(&query),
        scorer: &scorer,
        legs,
        gate: Gate::OPEN,
        filter: Some(&far),
        contradicted: &[],
        k: 10,
        min_score: None,
        approximate: None,
        full: &store.full,
    };
    let found = store.arena.search(&request).expect("valid");
    same(&found, &store.brute.search(&request, &BTreeMap::new()), "strong decay");
    assert!(found.reranked_rows < 100, "{}", found.reranked_rows);
}
