//! Traces: which memories an answer used, told later, and emptied by forgetting.

mod support;

use mnemic::memory::{NewMemory, Sensitivity};
use mnemic::world::testing::TestWorld;
use mnemic::{ContextOptions, ErrorKind, Filter, HashedNgrams, Query, Store, TraceId, Update};

fn store(world: &TestWorld) -> Store {
    support::builder(world).embedder(HashedNgrams::new()).open().unwrap()
}

#[test]
fn a_trace_tells_what_was_used_and_what_became_of_it() {
    let world = TestWorld::new(1);
    let (id, seat, quiet) = {
        let store = store(&world);
        let ada = store.user("ada").unwrap();
        let seat = ada.remember(NewMemory::preference("Prefers window seats").tag("travel")).unwrap();
        let quiet = ada.remember(NewMemory::preference("Prefers a quiet seat").tag("travel")).unwrap();
        assert_eq!(ada.recall(Query::text("seat")).unwrap().trace(), None);
        let found = ada.recall(Query::text("which seat?").filter(Filter::tag("travel")).trace(true)).unwrap();
        let trace = ada.trace(found.trace().unwrap()).unwrap();
        assert!(!trace.is_context && trace.filter.as_ref().unwrap().contains("travel"));
        assert_eq!(trace.hits.len(), 2);
        for (told, hit) in trace.hits.iter().zip(&found) {
            let parts = hit.explain();
            assert_eq!((told.id, told.version, told.version_now), (hit.id(), 1, Some(1)));
            assert_eq!((told.score, told.cosine, told.words), (parts.score(), parts.cosine(), parts.words()));
            assert_eq!((told.retention, told.weight), (parts.retention(), parts.weight()));
        }
        ada.update(quiet, Update::new().text("Prefers a seat in the quiet zone")).unwrap();
        store.close().unwrap();
        (found.trace().unwrap(), seat, quiet)
    };
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    let trace = ada.trace(id).unwrap();
    assert!(trace.hits.iter().any(|hit| hit.id == quiet && (hit.version, hit.version_now) == (1, Some(2))));
    assert_eq!(ada.forget(seat).unwrap().traces, 1);
    let trace = ada.trace(id).unwrap();
    assert_eq!((trace.hits.len(), trace.forgotten, trace.filter), (1, 1, None));
    assert_eq!(ada.forget(quiet).unwrap().traces, 1);
    assert_eq!(ada.trace(id).unwrap().hits.len(), 0);
    assert_eq!(store.user("bob").unwrap().trace(id).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_context_traces_what_is_in_the_block_pinned_ones_too() {
    let world = TestWorld::new(2);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    let pinned = ada.remember(NewMemory::preference("Never call before noon").pinned(true)).unwrap();
    for n in 0..20 {
        ada.remember(NewMemory::note(format!("seat {n} was comfortable on the long train to the sea"))).unwrap();
    }
    let block = ada.context(Query::text("seat").limit(20).trace(true), &ContextOptions::new(120)).unwrap();
    let trace = ada.trace(block.trace().unwrap()).unwrap();
    assert!(trace.is_context && trace.hits.iter().any(|hit| hit.id == pinned));
    let used: Vec<_> = block.used().iter().map(|(id, _)| *id).collect();
    assert_eq!(trace.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), used);
    assert!(used.len() < 20);
}

#[test]
fn traces_are_read_at_their_level_and_unknown_ones_are_named() {
    let world = TestWorld::new(3);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    assert_eq!(ada.recall(Query::text("x").trace(true)).unwrap().trace(), None);
    let open = ada.remember(NewMemory::note("window")).unwrap();
    ada.remember(NewMemory::note("secret window").sensitivity(Sensitivity::Secret)).unwrap();
    let trusted = store.user("ada").unwrap().with_level(Sensitivity::Secret);
    let low = ada.recall(Query::text("window").trace(true)).unwrap().trace().unwrap();
    let high = trusted.recall(Query::text("window").trace(true)).unwrap().trace().unwrap();
    assert_eq!(ada.trace(low).unwrap().hits.len(), 1);
    assert_eq!(ada.trace(high).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(trusted.trace(high).unwrap().hits.len(), 2);
    // What has become more private since is not told either.
    trusted.update(open, Update::new().sensitivity(Sensitivity::Secret)).unwrap();
    assert_eq!(ada.trace(low).unwrap().hits.len(), 0);
    let unknown: TraceId = "trace-99".parse().unwrap();
    assert_eq!(ada.trace(unknown).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!("17".parse::<TraceId>().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(low.to_string().parse::<TraceId>().unwrap(), low);
    assert_eq!(ada.recall_ids(Query::text("x").trace(true)).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn traces_go_with_the_user_and_do_not_come_back() {
    let world = TestWorld::new(4);
    let store = store(&world);
    let ada = store.user("ada").unwrap();
    ada.remember(NewMemory::note("window")).unwrap();
    let id = ada.recall(Query::text("window").trace(true)).unwrap().trace().unwrap();
    store.forget_user("ada").unwrap();
    ada.remember(NewMemory::note("window")).unwrap();
    assert_eq!(ada.trace(id).unwrap_err().kind(), ErrorKind::NotFound);
}
