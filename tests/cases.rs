//! Faults that other memory stores had: each test is named after what it prevents.

mod support;

use mnemic::memory::{MemoryId, MetaValue, NewMemory, Sensitivity, StatusKind, Timestamp};
use mnemic::world::FileSystem;
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{
    Comparison, Correction, Curve, EmbedError, Embedder, EmptyReason, ErrorKind, Filter, HashedNgrams, LegSwitches,
    ListOptions, Purpose, Query, Store, Update, User,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{DIMS, builder, id, note, vector, world_over};

const NOW: i64 = 1_800_000_000_000_000;

fn open(fs: &RecordingFs) -> Store {
    let world = world_over(fs, 5);
    world.set_micros(NOW);
    builder(&world).open().unwrap()
}

fn ada() -> User {
    open(&RecordingFs::new()).user("ada").unwrap()
}

/// A unit vector that leans from axis 0 towards axis `axis`.
fn leaning(axis: usize, by: f32) -> Vec<f32> {
    let mut v = vec![0.0; DIMS];
    v[0] = 1.0;
    v[axis] += by;
    v
}

fn ids(hits: &mnemic::Recall) -> Vec<MemoryId> {
    hits.iter().map(mnemic::Hit::id).collect()
}

fn exact() -> Query {
    Query::vector(leaning(0, 0.0)).raw_cosine().curve(Curve::None)
}

#[test]
fn delete_all_stops_at_a_page_or_takes_other_users() {
    let fs = RecordingFs::new();
    let store = open(&fs);
    let (ada, bob) = (store.user("ada").unwrap(), store.user("bob").unwrap());
    for page in 0..3u64 {
        let news = (0..3_400).map(|n| note(page * 10_000 + n, "x", vec![1.0; DIMS]));
        assert!(ada.remember_all(news).unwrap().iter().all(Result::is_ok));
    }
    ada.update(id(5), Update::new().archive()).unwrap();
    bob.remember(note(1, "of bob", vec![1.0; DIMS])).unwrap();
    let bobs = support::state_of(&store).unwrap()["bob"].clone();
    assert_eq!(store.forget_user("ada").unwrap().memories, 10_200);
    let check = |store: &Store| {
        let ada = store.user("ada").unwrap().with_level(Sensitivity::Secret);
        assert_eq!(ada.list(ListOptions::new()).unwrap().total, 0);
        assert_eq!(ada.recall(exact()).unwrap().reason(), Some(EmptyReason::NothingStored));
        assert_eq!(ada.get(id(5)).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(support::state_of(store).unwrap()["bob"], bobs);
    };
    check(&store);
    store.close().unwrap();
    check(&open(&fs));
}

#[test]
fn deleted_memories_stay_searchable_or_hide_the_living() {
    let ada = ada();
    for n in 0..100 {
        // The first fifty lie nearest to the query.
        ada.remember(note(n, "x", leaning(1, 0.01 * n as f32 + if n < 50 { 0.0 } else { 5.0 }))).unwrap();
    }
    for n in 0..50 {
        ada.forget(id(n)).unwrap();
    }
    let hits = ada.recall(exact().limit(10)).unwrap();
    assert_eq!(ids(&hits), (50..60).map(id).collect::<Vec<_>>());
    assert_eq!(ada.recall(exact().limit(1000)).unwrap().len(), 50);
}

#[test]
fn the_answer_depends_on_the_kernel() {
    let fs = RecordingFs::new();
    let mut random = SplitMix64::new(8);
    let store = open(&fs);
    let kernels = store.stats().unwrap().kernels_available;
    let news: Vec<_> = (0..700).map(|n| note(n, "x", vector(&mut random)).importance(0.3)).collect();
    store.user("ada").unwrap().remember_all(news).unwrap();
    store.close().unwrap();
    let queries: Vec<_> = (0..20).map(|_| vector(&mut random)).collect();
    let answers = kernels.iter().map(|kernel| {
        let world = world_over(&fs, 6);
        world.set_micros(NOW);
        let store = builder(&world).kernel(*kernel).open().unwrap();
        assert_eq!(store.stats().unwrap().kernel, *kernel);
        let ada = store.user("ada").unwrap();
        let bits = queries.iter().flat_map(|query| ada.recall_ids(Query::vector(query.clone())).unwrap());
        bits.map(|hit| (hit.id, hit.score.to_bits())).collect::<Vec<_>>()
    });
    let answers: Vec<_> = answers.collect();
    assert!(answers.len() >= 2 && answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_threshold_is_turned_round() {
    let ada = ada();
    let mut opposite = leaning(0, 0.0);
    opposite[0] = -1.0;
    ada.remember(note(1, "identical", leaning(0, 0.0))).unwrap();
    ada.remember(note(2, "near", leaning(1, 0.5))).unwrap();
    let mut orthogonal = vec![0.0; DIMS];
    orthogonal[3] = 1.0;
    ada.remember(note(3, "orthogonal", orthogonal)).unwrap();
    ada.remember(note(4, "opposite", opposite)).unwrap();
    assert_eq!(ids(&ada.recall(exact()).unwrap()), [id(1), id(2), id(3), id(4)]);
    let counts = [-1.0, 0.0, 0.5, 0.95, 1.0].map(|least| ada.recall(exact().min_score(least)).unwrap().len());
    assert_eq!(counts, [4, 4, 2, 1, 1]);
    assert_eq!(ada.recall(exact().min_score(1.1)).unwrap().reason(), Some(EmptyReason::BelowThreshold));
}

#[test]
fn more_than_k_hits_or_the_same_twice() {
    let ada = ada();
    for n in 0..20 {
        ada.remember(note(n, "x", leaning(1, n as f32)).tag("even").tag("t")).unwrap();
    }
    let filter = Filter::tag("even") | Filter::tag("t");
    let hits = ada.recall(exact().limit(5).filter(filter.clone())).unwrap();
    let unique: std::collections::BTreeSet<_> = ids(&hits).into_iter().collect();
    assert_eq!((hits.len(), unique.len()), (5, 5));
    assert_eq!(ada.recall(exact().limit(0)).unwrap().reason(), Some(EmptyReason::LimitZero));
    assert_eq!(ada.recall(exact().limit(usize::MAX).filter(filter)).unwrap().len(), 20);
}

#[test]
fn a_selective_filter_loses_matches() {
    let ada = ada();
    let news = (0..10_000).map(|n| {
        let new = note(n, "x", leaning(1 + n as usize % 3, (n % 997) as f32 * 0.01));
        if n % 2_000 == 1_999 { new.tag("rare") } else { new }
    });
    assert!(ada.remember_all(news).unwrap().iter().all(Result::is_ok));
    let hits = ada.recall(exact().limit(5).filter(Filter::tag("rare"))).unwrap();
    assert_eq!(hits.len(), 5);
    assert_eq!(ada.list(ListOptions::new().filter(Filter::tag("rare"))).unwrap().total, 5);
    let none = ada.recall(exact().filter(Filter::tag("absent"))).unwrap();
    assert_eq!(none.reason(), Some(EmptyReason::FilteredByFilter));
}

#[test]
fn a_missing_field_or_another_type_means_all() {
    let ada = ada();
    ada.remember(note(1, "x", leaning(0, 0.0)).metadata("visits", 3i64).metadata("city", "Oslo")).unwrap();
    ada.remember(note(2, "y", leaning(0, 0.0)).metadata("visits", 2.5)).unwrap();
    ada.remember(note(3, "z", leaning(0, 0.0))).unwrap();
    let with = |filter| ids(&ada.recall(exact().filter(filter)).unwrap());
    let visits = |comparison, value: f64| Filter::metadata("visits", comparison, value);
    assert_eq!(with(visits(Comparison::AtLeast, 3.0)), [id(1)]);
    assert_eq!(with(visits(Comparison::Below, 3.0)), [id(2)]);
    assert_eq!(with(visits(Comparison::NotEqual, 3.0)), [id(2)]);
    assert_eq!(with(Filter::metadata("country", Comparison::Equal, "Norway")), []);
    assert_eq!(with(!Filter::metadata("city", Comparison::Equal, "Oslo")), [id(2), id(3)]);
    let error = ada.recall(exact().filter(Filter::metadata("city", Comparison::Equal, 3i64))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let secret = note(4, "s", leaning(0, 0.0)).sensitivity(Sensitivity::Secret).metadata("pin", MetaValue::Bool(true));
    ada.remember(secret).unwrap();
    let pin = Filter::metadata("pin", Comparison::Equal, 1i64);
    assert_eq!(with(pin), [], "types above the caller's level are not told");
}

#[test]
fn an_update_leaves_the_old_meaning() {
    let store = builder(&world_over(&RecordingFs::new(), 1)).embedder(HashedNgrams::new()).open().unwrap();
    let ada = store.user("ada").unwrap();
    let works = ada.remember(NewMemory::fact("works at Acme Incorporated")).unwrap();
    ada.update(works, Update::new().text("employed by Zebra Limited")).unwrap();
    let top = |text: &str| ada.recall(Query::text(text)).unwrap()[0].score();
    assert!(top("Zebra Limited") > 2.0 * top("Acme Incorporated"));
    assert_eq!(ada.history(works).unwrap()[1].before.as_ref().unwrap().text(), "works at Acme Incorporated");
}

/// An embedder that can be switched off.
struct Flaky(Arc<AtomicBool>);

impl Embedder for Flaky {
    fn space(&self) -> mnemic::memory::Space {
        HashedNgrams::new().space()
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        if self.0.load(Ordering::Relaxed) {
            return Err(EmbedError::Unavailable("switched off".into()));
        }
        HashedNgrams::new().embed(texts, purpose)
    }
}

#[test]
fn an_embedder_that_is_down_loses_the_memory() {
    let fs = RecordingFs::new();
    let down = Arc::new(AtomicBool::new(true));
    let open = || builder(&world_over(&fs, 1)).embedder(Flaky(Arc::clone(&down))).open().unwrap();
    let store = open();
    let ada = store.user("ada").unwrap();
    let stored = ada.remember(NewMemory::note("stored all the same")).unwrap();
    assert!(ada.get(stored).unwrap().is_pending());
    assert_eq!(ada.stats().unwrap().pending, 1);
    let found = ada.recall(Query::text("stored")).unwrap();
    assert_eq!(ids(&found), [stored], "found by words at once");
    assert!(found.dense_abstained().is_some_and(|why| why.contains("switched off")));
    let dense = Query::text("stored").legs(LegSwitches::DENSE);
    assert_eq!(ada.recall(&dense).unwrap_err().kind(), ErrorKind::Unsupported);
    drop((ada, store));
    down.store(false, Ordering::Relaxed);
    let store = open();
    let ada = store.user("ada").unwrap();
    assert_eq!(ada.recall(&dense).unwrap().reason(), Some(EmptyReason::NoSignal));
    ada.update(stored, Update::new().text("stored all the same")).unwrap();
    assert_eq!(ids(&ada.recall(&dense).unwrap()), [stored], "embedded later, found by meaning");
}

#[test]
fn languages_without_spaces_are_one_token_or_none() {
    let store = builder(&world_over(&RecordingFs::new(), 1)).open().unwrap();
    let ada = store.user("ada").unwrap();
    let texts = [
        "我喜欢靠窗的座位",
        "東京でラーメンを食べた",
        "서울에서 친구를 만났다",
        "ฉันชอบดื่มกาแฟ",
        "Prefers caf\u{e9} au lait",
    ];
    let stored: Vec<_> = texts.iter().map(|text| ada.remember(NewMemory::note(*text)).unwrap()).collect();
    let words = ["靠窗", "ラーメン", "친구", "กาแฟ", "CAFE\u{301}"];
    for (word, id) in words.iter().zip(&stored) {
        assert_eq!(ada.recall(Query::text(*word)).unwrap().first().map(mnemic::Hit::id), Some(*id), "{word}");
    }
    for nothing in ["?!…", "。、", "🙂"] {
        assert_eq!(ada.recall(Query::text(nothing)).unwrap().reason(), Some(EmptyReason::NoSignal), "{nothing}");
    }
}

#[test]
fn ages_that_are_negative_or_absurd_break_the_score() {
    let ada = ada();
    let times = [NOW + 1_000_000, NOW + 10 * Timestamp::DAY_MICROS, 253_402_300_799_000_000, i64::MAX, 0, -5, i64::MIN];
    for (n, time) in times.iter().enumerate() {
        let new = note(n as u64, "x", leaning(0, 0.0)).created_at(Timestamp::from_micros(*time));
        ada.remember(new).unwrap();
    }
    for lambda in [0.0, 0.005, 0.3, 1e300] {
        for floor in [0.0, 0.5, 1.0] {
            let hits = ada.recall(exact().curve(Curve::Exponential { lambda }).floor(floor)).unwrap();
            assert_eq!(hits.len(), times.len());
            for hit in &hits {
                assert!((floor..=1.0).contains(&hit.explain().retention()) && hit.score().is_finite());
                assert!(hit.verify());
                if hit.memory().created_at().as_micros() >= NOW {
                    assert_eq!(hit.explain().retention(), 1.0);
                }
            }
        }
    }
}

#[test]
fn decay_makes_an_old_exact_match_unreachable() {
    let ada = ada();
    let mut random = SplitMix64::new(4);
    let old = Timestamp::from_micros(NOW).plus_days(-242.0);
    ada.remember(note(1, "the one", leaning(0, 0.0)).created_at(old)).unwrap();
    let noise = (2..502).map(|n| note(n, "fresh", vector(&mut random)));
    ada.remember_all(noise).unwrap();
    let hits = ada.recall(Query::vector(leaning(0, 0.0)).limit(5)).unwrap();
    assert_eq!(hits[0].id(), id(1));
    assert!(hits[0].explain().retention() >= 0.9 && hits[0].explain().retention() < 1.0);
    assert!((hits[0].explain().age_days() - 242.0).abs() < 1e-6);
    ada.update(id(1), Update::new().pinned(true)).unwrap();
    assert_eq!(ada.recall(Query::vector(leaning(0, 0.0))).unwrap()[0].explain().retention(), 1.0);
}

#[test]
fn similarity_cuts_before_decay_ranks() {
    let ada = ada();
    let old = Timestamp::from_micros(NOW).plus_days(-100.0);
    let rows = (0..1000).map(|n| note(n, "old", leaning(1, 0.001 * n as f32)).created_at(old));
    ada.remember_all(rows).unwrap();
    ada.remember(note(5000, "fresh", leaning(2, 1.5))).unwrap();
    let hits = ada.recall(exact().curve(Curve::Exponential { lambda: 0.1 }).floor(0.0).limit(5)).unwrap();
    assert_eq!(hits[0].id(), id(5000));
    assert_eq!(ids(&hits)[1..], [id(0), id(1), id(2), id(3)]);
}

#[test]
fn text_at_its_limits_is_cut_or_changed() {
    let store = builder(&world_over(&RecordingFs::new(), 1)).embedder(HashedNgrams::new()).open().unwrap();
    let ada = store.user("ada").unwrap();
    let texts = [
        "x".repeat(64 * 1024),
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{1F1F3}\u{1F1F4} e\u{301}".into(),
        "cafe\u{301}".into(),
        "\u{ff21}\u{ff24}\u{ff21}".into(),
        "\0 control \u{7f}".into(),
        "我喜欢靠窗的座位。ภาษาไทย 日本語 한국어".into(),
    ];
    for text in texts {
        let stored = ada.remember(NewMemory::note(text.clone())).unwrap();
        assert_eq!(ada.get(stored).unwrap().text(), text);
        ada.recall(Query::text(text)).unwrap();
    }
}

#[test]
fn an_explanation_is_not_the_score() {
    let ada = ada();
    let mut random = SplitMix64::new(9);
    for n in 0..300 {
        let new = note(n, "x", vector(&mut random)).importance(random.below(100) as f32 / 100.0).pinned(n % 9 == 0);
        ada.remember(new.created_at(Timestamp::from_micros(NOW).plus_days(-(n as f64)))).unwrap();
    }
    for curve in [Curve::None, Curve::HalfLife { days: 30.0 }, Curve::Ebbinghaus { lambda: 0.1 }] {
        let query = Query::vector(vector(&mut random)).curve(curve).floor(0.3).contradicted([id(3), id(4)]).limit(300);
        let hits = ada.recall(&query).unwrap();
        assert_eq!(hits.len(), 300);
        assert!(hits.iter().all(|hit| {
            let e = hit.explain();
            hit.verify() && e.score() == e.relevance().max(0.0) * e.retention() * e.weight()
        }));
        assert!(hits.windows(2).all(|pair| pair[0].score() >= pair[1].score()));
        assert!(hits[0].explain().to_string().contains("retention"));
    }
}

#[test]
fn a_recall_writes_and_use_is_not_told() {
    let ada = ada();
    ada.remember(note(1, "x", leaning(0, 0.0))).unwrap();
    ada.recall(exact()).unwrap();
    assert_eq!((ada.get(id(1)).unwrap().used_count(), ada.get(id(1)).unwrap().version()), (0, 1));
    ada.used([id(1)]).unwrap();
    assert_eq!(ada.get(id(1)).unwrap().used_count(), 1);
    assert!(ada.used([id(1), id(2)]).is_err(), "all or none");
    assert_eq!(ada.get(id(1)).unwrap().used_count(), 1);
}

#[test]
fn one_damaged_shard_stops_all() {
    let fs = RecordingFs::new();
    let world = world_over(&fs, 1);
    let store = builder(&world).shards(4).open().unwrap();
    for n in 0..40 {
        store.user(&format!("user {n}")).unwrap().remember(note(1, "x", leaning(0, 0.0))).unwrap();
    }
    store.close().unwrap();
    fs.remove_file("store/shards/02.redb".as_ref()).unwrap();
    let store = builder(&world_over(&fs, 2)).shards(4).open().unwrap();
    let answers = (0..40).map(|n| store.user(&format!("user {n}")).unwrap().recall(exact()));
    let (served, refused): (Vec<_>, Vec<_>) = answers.partition(Result::is_ok);
    assert!(served.iter().all(|answer| answer.as_ref().unwrap().len() == 1));
    assert!(refused.iter().all(|answer| answer.as_ref().unwrap_err().kind() == ErrorKind::Corrupt));
    assert!(!served.is_empty() && !refused.is_empty(), "{} served, {} refused", served.len(), refused.len());
}

#[test]
fn the_newer_fact_does_not_win_and_the_older_is_lost() {
    let ada = ada();
    for (a, b) in [("is allowed", "is not allowed"), ("能吃辣", "不能吃辣"), ("15 October", "16 October")] {
        let old = ada.remember(NewMemory::fact(a).vector(leaning(0, 0.0))).unwrap();
        let near = ada.remember(NewMemory::fact(b).vector(leaning(0, 0.0))).unwrap();
        assert_eq!((ada.get(old).unwrap().text(), ada.get(near).unwrap().text()), (a, b), "both are kept");
        let new = ada.correct(old, Correction::new(b).vector(leaning(0, 0.0))).unwrap();
        assert_eq!(ada.get(old).unwrap().status().kind(), StatusKind::Superseded);
        assert_eq!(ada.get(new).unwrap().supersedes(), [old]);
    }
}

#[cfg(feature = "builtin-embedder")]
#[test]
fn a_text_in_a_language_without_vectors_is_kept_and_says_so() {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 1)).embedder(mnemic::BuiltinEmbedder::new()).open().unwrap();
    let ada = store.user("ada").unwrap();
    let sofa = ada.remember(NewMemory::note("She bought a red sofa for the living room")).unwrap();
    ada.remember(NewMemory::note("He plays the trumpet in a jazz band")).unwrap();
    let tea = ada.remember(NewMemory::note("她喜欢喝绿茶")).unwrap();
    let stats = ada.stats().unwrap();
    assert_eq!((stats.pending, stats.without_vector), (0, 1), "the model has none for it, and never will");
    assert_eq!(ada.recall(Query::text("which couch?").limit(1)).unwrap()[0].id(), sofa);
    let found = ada.recall(Query::text("她喜欢喝什么？")).unwrap();
    assert_eq!(found.first().map(mnemic::Hit::id), Some(tea), "by its words");
    assert!(found.dense_abstained().is_some_and(|why| why.contains("mnemic-static-en-128-1")));
    ada.update(sofa, Update::new().text("她买了红色的沙发")).unwrap();
    assert_eq!(ada.stats().unwrap().without_vector, 2, "no old vector for a new text");
}
