//! What was known then: recall as of a time that is over.

mod support;

use mnemic::memory::{NewMemory, Timestamp};
use mnemic::world::testing::TestWorld;
use mnemic::{Correction, EmptyReason, HashedNgrams, Query, Store, Update, User, WhyNot};

const DAY: i64 = 86_400_000_000;

fn store(world: &TestWorld) -> Store {
    support::builder(world).embedder(HashedNgrams::new()).open().unwrap()
}

fn day(number: i64) -> Timestamp {
    Timestamp::from_micros(20_000 * DAY + number * DAY)
}

fn texts(user: &User, query: Query) -> Vec<String> {
    let mut texts: Vec<String> =
        user.recall(query.limit(100)).unwrap().iter().map(|hit| hit.memory().text().to_owned()).collect();
    texts.sort();
    texts
}

fn asked() -> Query {
    Query::text("lives in Paris Rome Oslo")
}

#[test]
fn a_correction_is_seen_from_its_day_on_and_the_old_fact_until_then() {
    let world = TestWorld::new(1);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    world.set_micros(day(0).as_micros());
    let paris = ada.remember(NewMemory::fact("lives in Paris")).unwrap();
    world.set_micros(day(10).as_micros());
    ada.correct(paris, Correction::new("lives in Rome")).unwrap();
    world.set_micros(day(20).as_micros());
    let as_of = |then| texts(&ada, asked().as_of(then));
    assert_eq!(as_of(day(-1)), Vec::<String>::new());
    assert_eq!(as_of(day(0)), ["lives in Paris"]);
    assert_eq!(as_of(day(9)), ["lives in Paris"]);
    assert_eq!(as_of(day(10)), ["lives in Rome"]);
    assert_eq!(texts(&ada, asked()), ["lives in Rome"]);
    let none = ada.recall(asked().as_of(day(-1))).unwrap();
    assert_eq!(none.reason(), Some(EmptyReason::NothingKnownThen));
    assert_eq!(ada.why_not(paris, asked().as_of(day(15))).unwrap(), WhyNot::NotThen);
    assert!(matches!(ada.why_not(paris, asked().as_of(day(5))).unwrap(), WhyNot::Hit { .. }));
}

#[test]
fn what_was_reworded_since_is_left_out_and_what_only_moved_in_rank_is_not() {
    let world = TestWorld::new(2);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    world.set_micros(day(0).as_micros());
    let reworded = ada.remember(NewMemory::note("lives in Paris")).unwrap();
    let tagged = ada.remember(NewMemory::note("lives in Oslo")).unwrap();
    world.set_micros(day(5).as_micros());
    ada.update(reworded, Update::new().text("lives in Rome")).unwrap();
    ada.update(tagged, Update::new().tag("city").importance(0.5)).unwrap();
    ada.confirm(tagged).unwrap();
    assert_eq!(texts(&ada, asked().as_of(day(1))), ["lives in Oslo"]);
    assert_eq!(texts(&ada, asked().as_of(day(5))), ["lives in Oslo", "lives in Rome"]);
    assert_eq!(ada.get(reworded).unwrap().revised_at(), Some(day(5)));
    assert_eq!(ada.get(tagged).unwrap().revised_at(), None);
}

#[test]
fn validity_archiving_and_suspicion_count_as_they_were_then() {
    let world = TestWorld::new(3);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    world.set_micros(day(0).as_micros());
    ada.remember(NewMemory::fact("lives in Paris").valid_from(day(2)).valid_to(day(4))).unwrap();
    let oslo = ada.remember(NewMemory::fact("lives in Oslo").candidate()).unwrap();
    let rome = ada.remember(NewMemory::note("lives in Rome")).unwrap();
    world.set_micros(day(3).as_micros());
    ada.confirm(oslo).unwrap();
    world.set_micros(day(6).as_micros());
    ada.update(rome, Update::new().archive()).unwrap();
    let as_of = |then| texts(&ada, asked().as_of(then));
    assert_eq!(as_of(day(1)), ["lives in Rome"]);
    assert_eq!(as_of(day(2)), ["lives in Paris", "lives in Rome"]);
    assert_eq!(as_of(day(3)), ["lives in Oslo", "lives in Paris", "lives in Rome"]);
    assert_eq!(as_of(day(4)), ["lives in Oslo", "lives in Rome"]);
    assert_eq!(as_of(day(6)), ["lives in Oslo"]);
    world.set_micros(day(8).as_micros());
    ada.update(rome, Update::new().unarchive()).unwrap();
    assert_eq!(as_of(day(8)), ["lives in Oslo", "lives in Rome"]);
}

#[test]
fn ages_count_to_then_and_survive_reopening_and_closed_blocks() {
    let world = TestWorld::new(4);
    let first = {
        let store = store(&world);
        let ada = store.user("ada").unwrap();
        world.set_micros(day(0).as_micros());
        let first = ada.remember(NewMemory::fact("lives in Paris")).unwrap();
        ada.remember_all((0..300).map(|n| NewMemory::note(format!("filler number {n}")))).unwrap();
        world.set_micros(day(50).as_micros());
        ada.correct(first, Correction::new("lives in Rome")).unwrap();
        store.close().unwrap();
        first
    };
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    let hits = ada.recall(Query::text("lives in Paris").as_of(day(7)).limit(1)).unwrap();
    assert_eq!(hits[0].id(), first);
    assert!((hits[0].explain().age_days() - 7.0).abs() < 1e-9 && hits[0].verify());
    let later = ada.recall(Query::text("lives in Paris").as_of(day(7)).at(day(107)).limit(1)).unwrap();
    assert!((later[0].explain().age_days() - 107.0).abs() < 1e-9);
    ada.forget(first).unwrap();
    assert!(!texts(&ada, asked().as_of(day(7))).contains(&"lives in Paris".to_owned()));
}
