//! Look-ups, refusals and memory.

use super::super::request::{Gate, Request};
use super::super::{Arena, NewRow, Sight, VectorSource};
use super::store::{NOW, Shape, Store, as_new};
use crate::error::ErrorKind;
use crate::kernel::Dispatch;
use crate::policy::score::{Curve, Decay, ScoreParams, Scorer};

fn store(rows: usize) -> Store {
    let mut store = Store::new(Dispatch::best(), 384, Shape::Random, 77);
    store.bulk(rows);
    store
}

fn scorer() -> Scorer {
    let decay = Decay::new(Curve::None, 0.0).expect("valid");
    let params = ScoreParams { decay, dense_share: 1.0, lo: 0.0, hi: 1.0, z: 1.0, weighted: true, now: NOW };
    Scorer::new(params).expect("valid")
}

#[test]
fn rows_are_found_by_number_and_id_through_merges() {
    let mut store = store(700);
    for step in 0..3000 {
        if step % 5 == 0 { store.remove() } else { store.insert() }
    }
    assert_eq!(store.arena.iter().count(), store.brute.rows.len());
    for (&row, twin) in &store.brute.rows {
        let facts = store.arena.facts(row).expect("it is there");
        assert_eq!((facts.id, facts.has_vector), (twin.facts.id, twin.vector.is_some()));
        assert_eq!(store.arena.facts_by_id(&twin.facts.id).map(|f| f.row), Some(row));
    }
    assert!(store.arena.facts(1_000_000).is_none());
}

#[test]
fn removing_nearly_all_gives_the_memory_back() {
    let mut store = store(3000);
    let before = store.arena.bytes();
    while store.arena.len() > 100 {
        store.remove();
    }
    assert!(store.arena.bytes() < before / 4, "{} of {before}", store.arena.bytes());
}

#[test]
fn large_users_are_rewritten_run_by_run() {
    let mut store = Store::new(Dispatch::best(), 8, Shape::Random, 78);
    store.bulk(30_000);
    let before = store.arena.bytes();
    for step in 0..60_000 {
        if step % 20 == 0 { store.insert() } else { store.remove() }
    }
    assert_eq!(store.arena.iter().count(), store.brute.rows.len());
    for (&row, twin) in &store.brute.rows {
        assert_eq!(store.arena.facts(row).map(|facts| facts.id), Some(twin.facts.id));
    }
    let left = store.arena.len() as f64 / 30_000.0;
    assert!((store.arena.bytes() as f64) < before as f64 * (2.2 * left + 0.1), "{left}");
}

#[test]
fn memory_stays_inside_the_budget() {
    let store = store(10_000);
    let budget = (1.08 * 10_000.0 * (384.0 + 96.0)) as usize;
    assert!(store.arena.bytes() <= budget, "{} > {budget}", store.arena.bytes());
}

#[test]
fn doubles_strangers_and_wrong_dims_are_refused() {
    let mut store = store(10);
    let row = as_new(&store.brute.rows[&3]);
    assert_eq!(store.arena.insert(&row).expect_err("there already").kind(), ErrorKind::Conflict);
    let short = NewRow { vector: VectorSource::Full(&[1.0; 7]), ..row };
    assert_eq!(store.arena.insert(&short).expect_err("short").kind(), ErrorKind::Invalid);
    assert_eq!(store.arena.remove(99).expect_err("unknown").kind(), ErrorKind::NotFound);
    let other = store.brute.rows[&4].facts;
    assert_eq!(store.arena.change_facts(3, &other).expect_err("another id").kind(), ErrorKind::Invalid);
    assert_eq!(store.arena.len(), 10);
}

#[test]
fn bad_queries_and_stale_legs_are_refused() {
    let mut store = store(200);
    let (scorer, legs) = (scorer(), store.arena.legs());
    let ask = |store: &Store, query: &[f32], with_legs: bool| {
        let request = Request {
            query: Some(query),
            scorer: &scorer,
            legs: with_legs.then_some(&legs),
            gate: Gate::OPEN,
            filter: None,
            contradicted: &[],
            k: 5,
            min_score: None,
            approximate: None,
            full: &store.full,
        };
        store.arena.search(&request).map(|found| found.hits.len()).map_err(|error| error.kind())
    };
    assert_eq!(ask(&store, &[1.0; 3], false), Err(ErrorKind::Invalid));
    assert_eq!(ask(&store, &[f32::NAN; 384], false), Err(ErrorKind::Invalid));
    assert_eq!(ask(&store, &[0.05; 384], true), Ok(5));
    (0..300).for_each(|_| store.insert());
    assert_eq!(ask(&store, &[0.05; 384], true), Err(ErrorKind::Invalid));
}

#[test]
fn stored_rows_come_back_as_they_were() {
    let store = store(300);
    let rows: Vec<NewRow<'_>> = store.brute.rows.keys().filter_map(|&row| store.arena.quantised(row)).collect();
    let again = Arena::from_rows(384, Dispatch::best(), &rows).expect("valid");
    let planes = Dispatch::best().quantise_query(&store.full.get(5).map_or_else(|| vec![0.1; 384], <[f32]>::to_vec));
    let cosines = |arena: &Arena| {
        let mut all = vec![f64::NAN; 1000];
        let sight = Sight { gate: Gate::OPEN, passes: None };
        arena.scan_quantised(Some(&planes), &sight, |cos| cos, &mut all);
        assert!(all.iter().filter(|cos| !cos.is_nan()).count() == store.brute.rows.len());
        all.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(cosines(&again), cosines(&store.arena));
}
