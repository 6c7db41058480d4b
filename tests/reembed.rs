//! Embedding after the fact, and changing the model under a store that is in use.

mod support;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mnemic::memory::{MemoryId, NewMemory, Space};
use mnemic::world::testing::{CrashChoice, TestWorld};
use mnemic::{EmbedError, EmbedProgress, Embedder, ErrorKind, LegSwitches, Purpose, Query, Store, Update, User};

/// A model whose vectors depend on the text and on its own name; it can be down, and refuses some texts.
struct Model {
    name: &'static str,
    dims: usize,
    mood: Arc<AtomicU8>,
}

const WORKS: u8 = 0;
const DOWN: u8 = 1;

impl Embedder for Model {
    fn space(&self) -> Space {
        Space::new(self.name, self.dims).unwrap()
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        if self.mood.load(Ordering::Relaxed) == DOWN {
            return Err(EmbedError::Unavailable("no connection".into()));
        }
        if texts.iter().any(|text| text.contains("refuse me")) {
            return Err(EmbedError::Refused("too odd".into()));
        }
        Ok(texts.iter().map(|text| (!text.contains("nothing")).then(|| self.vector(text))).collect())
    }
}

impl Model {
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut state =
            self.name.bytes().chain(text.bytes()).fold(17u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..self.dims).map(|_| next()).collect()
    }
}

fn open(world: &TestWorld, name: &'static str, dims: usize, mood: &Arc<AtomicU8>) -> Store {
    support::builder(world).embedder(Model { name, dims, mood: Arc::clone(mood) }).open().unwrap()
}

fn go(_: &EmbedProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Meaning alone: the memory whose text is asked for has cosine 1.
fn found_by_meaning(user: &User, text: &str, id: MemoryId) -> bool {
    let hits = user.recall(Query::text(text).legs(LegSwitches::DENSE).limit(1)).unwrap();
    hits.first().is_some_and(|hit| hit.id() == id && hit.explain().cosine() > 0.999 && hit.verify())
}

fn notes(user: &User, count: usize) -> Vec<MemoryId> {
    let news = (0..count).map(|n| NewMemory::note(format!("note number {n} about tea")));
    user.remember_all(news).unwrap().into_iter().map(Result::unwrap).collect()
}

#[test]
fn what_was_stored_while_the_embedder_was_down_is_embedded_later_and_found_by_words_at_once() {
    let (world, mood) = (TestWorld::new(1), Arc::new(AtomicU8::new(DOWN)));
    let store = open(&world, "a", 16, &mood);
    let ada = store.user("ada").unwrap();
    let ids = notes(&ada, 300);
    let mute = ada.remember(NewMemory::note("nothing to say")).unwrap();
    assert_eq!(ada.stats().unwrap().pending, 301);
    assert_eq!(ada.recall(Query::text("number 7 tea").limit(1)).unwrap()[0].id(), ids[7]);
    let down = store.embed_pending(go).unwrap_err();
    assert_eq!(down.kind(), ErrorKind::Busy);
    assert_eq!(ada.stats().unwrap().pending, 301);
    mood.store(WORKS, Ordering::Relaxed);
    let done = store.embed_pending(go).unwrap();
    assert_eq!((done.users_done, done.embedded, done.without_vector, done.refused), (1, 300, 1, 0));
    let stats = ada.stats().unwrap();
    assert_eq!((stats.pending, stats.without_vector), (0, 1));
    assert!(!ada.get(mute).unwrap().is_pending());
    for at in [0, 7, 255, 256, 299] {
        assert!(found_by_meaning(&ada, &format!("note number {at} about tea"), ids[at]), "{at}");
    }
    assert_eq!(store.embed_pending(go).unwrap().embedded, 0, "nothing is left to do");
    store.close().unwrap();
    let store = open(&world, "a", 16, &mood);
    let ada = store.user("ada").unwrap();
    assert_eq!((ada.stats().unwrap().pending, ada.stats().unwrap().without_vector), (0, 1));
    assert!(found_by_meaning(&ada, "note number 256 about tea", ids[256]));
}

#[test]
fn a_text_that_is_refused_holds_up_no_other() {
    let (world, mood) = (TestWorld::new(2), Arc::new(AtomicU8::new(DOWN)));
    let store = open(&world, "a", 16, &mood);
    let ada = store.user("ada").unwrap();
    let ids = notes(&ada, 20);
    ada.remember(NewMemory::note("refuse me")).unwrap();
    mood.store(WORKS, Ordering::Relaxed);
    let done = store.embed_pending(go).unwrap();
    assert_eq!((done.embedded, done.refused), (20, 1));
    assert_eq!(ada.stats().unwrap().pending, 1);
    assert!(found_by_meaning(&ada, "note number 19 about tea", ids[19]));
}

#[test]
fn a_store_changes_its_model_in_use_and_leaves_nothing_of_the_old_one() {
    let (world, mood) = (TestWorld::new(3), Arc::new(AtomicU8::new(WORKS)));
    let (ids, bobs) = {
        let store = open(&world, "old", 64, &mood);
        let ada = store.user("ada").unwrap();
        let ids = notes(&ada, 700);
        let bobs = notes(&store.user("bob").unwrap(), 3);
        ada.forget(ids[300]).unwrap();
        store.close().unwrap();
        (ids, bobs)
    };
    // Other dims, so that packs and rows change shape.
    let store = open(&world, "new", 24, &mood);
    let ada = store.user("ada").unwrap();
    let refused = ada.recall(Query::text("tea").legs(LegSwitches::DENSE)).unwrap_err();
    assert!(
        refused.kind() == ErrorKind::Unsupported
            && refused.message().contains("old")
            && refused.message().contains("new")
    );
    assert_eq!(ada.recall(Query::text("number 7 tea").limit(1)).unwrap()[0].id(), ids[7], "words go on");
    assert_eq!(store.embed_pending(go).unwrap_err().kind(), ErrorKind::Unsupported);
    let stopped = store.reembed(
        |progress| {
            if progress.embedded > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    let stopped = stopped.unwrap();
    assert!(stopped.embedded > 0 && stopped.users_done < 2);
    // Between the two halves: write, change, forget.
    let fresh = ada.remember(NewMemory::note("a fresh note about coffee")).unwrap();
    ada.update(ids[1], Update::new().text("reworded in between")).unwrap();
    ada.forget(ids[2]).unwrap();
    ada.forget(ids[600]).unwrap();
    store.close().unwrap();
    let store = open(&world, "new", 24, &mood);
    let ada = store.user("ada").unwrap();
    let done = store.reembed(go).unwrap();
    assert_eq!(
        stopped.embedded + done.embedded,
        match stopped.embedded {
            3 => 3 + 699 - 3,
            _ => 699 + 3,
        }
    );
    for (user, id, text) in [
        (ada.clone(), ids[0], "note number 0 about tea"),
        (ada.clone(), ids[699], "note number 699 about tea"),
        (ada.clone(), ids[1], "reworded in between"),
        (ada.clone(), fresh, "a fresh note about coffee"),
        (store.user("bob").unwrap(), bobs[2], "note number 2 about tea"),
    ] {
        assert!(found_by_meaning(&user, text, id), "{text}");
        assert_eq!(user.stats().unwrap().pending, 0);
        assert!(user.stats().unwrap().damaged.is_empty());
    }
    assert_eq!(store.stats().unwrap().space.unwrap().model(), "new");
    ada.forget(ids[10]).unwrap();
    store.close().unwrap();
    // A store that is opened anew finds every row, and no pack of the old model makes it stumble.
    let store = open(&world, "new", 24, &mood);
    let ada = store.user("ada").unwrap();
    for at in (0..700).filter(|at| ![1, 2, 10, 300, 600].contains(at)).step_by(37) {
        assert!(found_by_meaning(&ada, &format!("note number {at} about tea"), ids[at]), "{at}");
    }
    let _ = store.calibrate().unwrap();
}

#[test]
fn a_memory_that_changes_while_it_is_embedded_keeps_its_new_words() {
    let (world, mood) = (TestWorld::new(4), Arc::new(AtomicU8::new(DOWN)));
    let store = open(&world, "a", 16, &mood);
    let ada = store.user("ada").unwrap();
    let ids = notes(&ada, 3);
    ada.update(ids[0], Update::new().text("words that came later")).unwrap();
    mood.store(WORKS, Ordering::Relaxed);
    store.embed_pending(go).unwrap();
    assert!(found_by_meaning(&ada, "words that came later", ids[0]));
    assert_eq!(ada.get(ids[0]).unwrap().version(), 2, "embedding is no change of the memory");
}

#[test]
fn a_power_cut_at_any_operation_of_a_change_of_model_is_survived() {
    let (world, mood) = (TestWorld::new(5), Arc::new(AtomicU8::new(WORKS)));
    let ids = {
        let store = open(&world, "old", 16, &mood);
        let ids = notes(&store.user("ada").unwrap(), 280);
        store.close().unwrap();
        ids
    };
    // The other model has vectors of the same length.
    let store = open(&world, "new", 16, &mood);
    let begun = world.fs().op_count();
    store.reembed(go).unwrap();
    let done = world.fs().op_count();
    std::mem::forget(store);
    assert!(done > begun);
    for op in begun..=done {
        for choice in [CrashChoice::None, CrashChoice::All, CrashChoice::Torn { grain: 512, seed: op as u64 }] {
            let image = support::world_over(&world.fs().crash_image(op, choice), 9);
            let store = open(&image, "new", 16, &mood);
            let ada = store.user("ada").unwrap();
            assert_eq!(ada.recall(Query::text("number 7 tea").limit(1)).unwrap()[0].id(), ids[7], "op {op} {choice:?}");
            store.reembed(go).unwrap();
            let stats = ada.stats().unwrap();
            assert!(stats.pending == 0 && stats.damaged.is_empty(), "op {op} {choice:?}: {stats:?}");
            assert!(found_by_meaning(&ada, "note number 255 about tea", ids[255]), "op {op} {choice:?}");
            assert!(found_by_meaning(&ada, "note number 270 about tea", ids[270]), "op {op} {choice:?}");
        }
    }
}

#[test]
fn what_the_model_has_no_vector_for_is_in_snapshots_and_exports_too() {
    let (world, mood) = (TestWorld::new(6), Arc::new(AtomicU8::new(WORKS)));
    let store = open(&world, "a", 16, &mood);
    let ada = store.user("ada").unwrap();
    let mute: Vec<_> = (0..300).map(|n| NewMemory::note(format!("nothing {n}"))).collect();
    assert!(ada.remember_all(mute).unwrap().iter().all(Result::is_ok));
    let ids = notes(&ada, 300);
    ada.update(ids[0], Update::new().text("nothing any more")).unwrap();
    let taken = store.snapshot().unwrap();
    assert_eq!((taken.memories, taken.damaged.len()), (600, 0), "{:?}", taken.damaged);
    assert!(store.doctor().unwrap().is_clean());
    let mut lines = Vec::new();
    ada.export(&mut lines).unwrap();
    assert!(lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() >= 600);
    let done = store.restore(taken.id).unwrap();
    assert_eq!((done.damaged, done.unchanged), (0, 600));
    assert_eq!((ada.stats().unwrap().pending, ada.stats().unwrap().without_vector), (0, 301));
}
