//! Every kind of error is reached, says what to do, and leaves nothing half done.

mod support;

use mnemic::memory::{Evidence, MemoryId, NewMemory, Sensitivity, Space, Timestamp, limits};
use mnemic::world::testing::{RecordingFs, TestWorld};
use mnemic::world::{FileSystem, OpenMode};
use mnemic::{
    Comparison, Correction, Curve, Durability, Error, ErrorKind, Filter, HashedNgrams, LegSwitches, ListOptions,
    MasterKey, Query, Store, Update,
};
use support::{DIMS, builder, id, note, world_over};

fn world() -> TestWorld {
    world_over(&RecordingFs::new(), 1)
}

fn store() -> Store {
    builder(&world()).open().unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "what `unwrap_err` gives")]
fn is(error: Error, kind: ErrorKind, says: &str) {
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.message().contains(says), "{error} should say {says:?}");
}

fn some() -> Vec<f32> {
    vec![1.0; DIMS]
}

#[test]
fn unknown_users_and_memories_are_not_found() {
    let store = store();
    is(store.forget_user("nobody").unwrap_err(), ErrorKind::NotFound, "user");
    let ada = store.user("ada").unwrap();
    is(ada.get(id(1)).unwrap_err(), ErrorKind::NotFound, "id");
    is(ada.forget(id(1)).unwrap_err(), ErrorKind::NotFound, "user");
    let missing = Store::builder("elsewhere").world(world().world()).create(false).open();
    is(missing.unwrap_err(), ErrorKind::NotFound, "no store");
}

#[test]
fn a_bad_vector_is_refused_by_name_and_nothing_is_stored() {
    let store = store();
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "first", some())).unwrap();
    let mut nan = some();
    nan[3] = f32::NAN;
    let mut infinite = some();
    infinite[15] = f32::NEG_INFINITY;
    for bad in [nan, infinite, vec![0.0; DIMS], vec![1.0; DIMS + 1], vec![1.0; 3], vec![1.0; 5000], Vec::new()] {
        is(ada.remember(note(2, "second", bad.clone())).unwrap_err(), ErrorKind::Invalid, "vector:");
        is(ada.recall(Query::vector(bad.clone())).unwrap_err(), ErrorKind::Invalid, "vector:");
        is(ada.update(id(1), Update::new().vector(bad.clone())).unwrap_err(), ErrorKind::Invalid, "vector:");
        is(ada.correct(id(1), Correction::new("x").vector(bad)).unwrap_err(), ErrorKind::Invalid, "vector:");
    }
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 1);
    assert_eq!(ada.get(id(1)).unwrap().version(), 1);
}

#[test]
fn every_limit_is_named_and_the_rest_of_a_batch_is_stored() {
    let store = store();
    let ada = store.user("ada").unwrap();
    let long = |bytes: usize| "x".repeat(bytes);
    let cases = [
        ("text:", NewMemory::note("")),
        ("text:", NewMemory::note(" \n\u{3000}")),
        ("text:", NewMemory::note(long(limits::TEXT_BYTES_MAX + 1))),
        ("importance:", NewMemory::note("x").importance(1.5)),
        ("importance:", NewMemory::note("x").importance(f32::NAN)),
        ("confidence:", NewMemory::note("x").confidence(-0.1)),
        ("tag:", NewMemory::note("x").tag("")),
        ("tag:", NewMemory::note("x").tag(long(limits::TAG_BYTES_MAX + 1))),
        ("tags:", (0..=limits::TAGS_MAX).fold(NewMemory::note("x"), |m, i| m.tag(i.to_string()))),
        ("value:", NewMemory::fact("x").value("no slot")),
        ("value:", NewMemory::fact("x").slot("a", "b").value(long(limits::VALUE_BYTES_MAX + 1))),
        ("slot subject:", NewMemory::fact("x").slot("", "b")),
        ("slot attribute:", NewMemory::fact("x").slot("a", " ")),
        ("scene:", NewMemory::note("x").scene("")),
        ("speaker:", NewMemory::note("x").speaker(long(limits::NAME_BYTES_MAX + 1))),
        ("language:", NewMemory::note("x").language(long(limits::LANGUAGE_BYTES_MAX + 1))),
        ("session:", NewMemory::episode("x").turn("", 1)),
        ("metadata key:", NewMemory::note("x").metadata("", 1i64)),
        ("metadata", NewMemory::note("x").metadata("k", f64::NAN)),
        ("metadata:", NewMemory::note("x").metadata("k", long(limits::METADATA_BYTES_MAX))),
        ("derived_from:", (0..=limits::LINKS_MAX as u64).fold(NewMemory::note("x"), |m, i| m.derived_from(id(i)))),
        ("valid_to:", NewMemory::fact("x").valid_from(Timestamp::from_micros(2)).valid_to(Timestamp::from_micros(1))),
    ];
    let count = cases.len();
    let fields: Vec<&str> = cases.iter().map(|(field, _)| *field).collect();
    let mut batch: Vec<NewMemory> = cases.into_iter().map(|(_, new)| new).collect();
    batch.push(NewMemory::note(long(limits::TEXT_BYTES_MAX)));
    let outcomes = ada.remember_all(batch).unwrap();
    for (field, outcome) in fields.iter().zip(&outcomes) {
        let error = outcome.as_ref().unwrap_err();
        assert!(error.kind() == ErrorKind::Invalid && error.message().starts_with(field), "{field} {error}");
    }
    assert!(outcomes[count].is_ok());
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 1);
    let many = (0..=limits::BATCH_MAX).map(|_| NewMemory::note("x"));
    is(ada.remember_all(many).unwrap_err(), ErrorKind::Invalid, "remember_all");
}

#[test]
fn queries_that_make_no_sense_are_invalid() {
    let store = store();
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "x", some()).metadata("visits", 3i64)).unwrap();
    let query = || Query::vector(some());
    let curves = [-1.0, f64::NAN, f64::INFINITY];
    for bad in curves {
        is(
            ada.recall(query().curve(Curve::Exponential { lambda: bad })).unwrap_err(),
            ErrorKind::Invalid,
            "decay rate",
        );
        is(ada.recall(query().curve(Curve::HalfLife { days: bad })).unwrap_err(), ErrorKind::Invalid, "half-life");
        is(ada.recall(query().floor(bad)).unwrap_err(), ErrorKind::Invalid, "floor");
    }
    is(ada.recall(query().curve(Curve::HalfLife { days: 0.0 })).unwrap_err(), ErrorKind::Invalid, "half-life");
    is(ada.recall(query().min_score(f64::NAN)).unwrap_err(), ErrorKind::Invalid, "min_score");
    is(ada.recall(query().statuses([])).unwrap_err(), ErrorKind::Invalid, "statuses");
    is(ada.recall(Query::text(" ")).unwrap_err(), ErrorKind::Invalid, "query text");
    is(ada.recall(Query::text("x".repeat(limits::QUERY_BYTES_MAX + 1))).unwrap_err(), ErrorKind::Invalid, "query text");
    let filters = [
        Filter::all_of([]),
        Filter::any_of([]),
        Filter::metadata("visits", Comparison::Equal, "three"),
        Filter::metadata("visits", Comparison::Contains, "three"),
        Filter::metadata("visits", Comparison::Above, true),
        Filter::metadata("other", Comparison::Above, f64::NAN),
        Filter::created(Timestamp::from_micros(2)..Timestamp::from_micros(1)),
        (0..300).fold(Filter::tag("t"), |f, _| !f),
    ];
    for filter in filters {
        is(ada.recall(query().filter(filter.clone())).unwrap_err(), ErrorKind::Invalid, "filter");
        is(ada.list(ListOptions::new().filter(filter)).unwrap_err(), ErrorKind::Invalid, "filter");
    }
    is(ada.list(ListOptions::new().limit(0)).unwrap_err(), ErrorKind::Invalid, "limit");
    is(ada.update(id(1), Update::new()).unwrap_err(), ErrorKind::Invalid, "nothing to change");
    is(ada.recall(query().contradicted((0..2000).map(id))).unwrap_err(), ErrorKind::Invalid, "contradicted");
}

#[test]
fn contradictions_with_what_is_stored_are_conflicts() {
    let store = store();
    let ada = store.user("ada").unwrap();
    let new = || note(1, "text", some()).tag("t");
    ada.remember(new()).unwrap();
    assert_eq!(ada.remember(new()).unwrap(), id(1), "the same again is fine");
    is(ada.remember(new().tag("u")).unwrap_err(), ErrorKind::Conflict, "id");
    is(ada.remember(note(1, "other", some()).tag("t")).unwrap_err(), ErrorKind::Conflict, "id");
    let mut other = some();
    other[0] = -1.0;
    is(ada.remember(note(1, "text", other).tag("t")).unwrap_err(), ErrorKind::Conflict, "id");
    is(ada.update(id(1), Update::new().pinned(true).if_version(9)).unwrap_err(), ErrorKind::Conflict, "version");
    ada.correct(id(1), Correction::new("right").vector(some())).unwrap();
    is(ada.correct(id(1), Correction::new("again").vector(some())).unwrap_err(), ErrorKind::Conflict, "superseded");
    assert_eq!(ada.list(ListOptions::new()).unwrap().total, 2);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the real process is the holder")]
fn a_held_store_names_its_holder_and_a_released_one_opens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = Store::builder(&path).reserve_bytes(0).open().unwrap();
    let error = Store::open(&path).unwrap_err();
    is(error, ErrorKind::Busy, &std::process::id().to_string());
    store.close().unwrap();
    Store::builder(&path).reserve_bytes(0).open().unwrap();
}

#[test]
fn rights_and_keys_that_do_not_fit_are_denied() {
    let fs = RecordingFs::new();
    let open = |key: MasterKey| builder(&world_over(&fs, 1)).master_key(key).open();
    let key = |byte: u8| MasterKey::callback(move || Ok([byte; 32]));
    let store = open(key(1)).unwrap();
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "x", some())).unwrap();
    is(ada.recall(Query::vector(some()).level(Sensitivity::Secret)).unwrap_err(), ErrorKind::Denied, "level");
    ada.pause().unwrap();
    is(ada.remember(note(2, "y", some())).unwrap_err(), ErrorKind::Denied, "paused");
    assert_eq!(ada.recall(Query::vector(some())).unwrap().len(), 1);
    ada.resume().unwrap();
    ada.forget(id(1)).unwrap();
    let inferred = note(3, "X", some()).evidence(Evidence::Inferred);
    is(ada.remember(inferred).unwrap_err(), ErrorKind::Denied, "forgotten");
    ada.remember(note(4, "x", some())).unwrap();
    drop((ada, store));
    is(open(key(2)).unwrap_err(), ErrorKind::Denied, "master key");
    is(open(MasterKey::local_file()).unwrap_err(), ErrorKind::Denied, "master key");
    is(open(MasterKey::passphrase("x")).unwrap_err(), ErrorKind::Denied, "master key");
    is(open(MasterKey::callback(|| Err("no network".into()))).unwrap_err(), ErrorKind::Denied, "no network");
    assert_eq!(open(key(1)).unwrap().user_count().unwrap(), 1);
}

#[test]
fn a_passphrase_opens_and_a_wrong_one_is_denied() {
    let fs = RecordingFs::new();
    let open = |phrase: &str| builder(&world_over(&fs, 1)).master_key(MasterKey::passphrase(phrase)).open();
    drop(open("correct horse").unwrap());
    is(open("correct house").unwrap_err(), ErrorKind::Denied, "master key");
    is(open("").unwrap_err(), ErrorKind::Invalid, "passphrase");
    open("correct horse").unwrap();
}

#[test]
fn closed_handles_and_forked_children_are_told_so() {
    let world = world();
    let store = builder(&world).open().unwrap();
    let ada = store.user("ada").unwrap();
    ada.remember(note(1, "x", some())).unwrap();
    world.set_process_id(4711);
    is(ada.remember(note(2, "y", some())).unwrap_err(), ErrorKind::Closed, "fork");
    is(ada.recall(Query::vector(some())).unwrap_err(), ErrorKind::Closed, "fork");
    world.set_process_id(1);
    let world = world_over(&RecordingFs::new(), 2);
    let store = builder(&world).open().unwrap();
    let ada = store.user("ada").unwrap();
    store.close().unwrap();
    is(store.close().unwrap_err(), ErrorKind::Closed, "closed");
    is(ada.get(id(1)).unwrap_err(), ErrorKind::Closed, "closed");
    is(store.stats().unwrap_err(), ErrorKind::Closed, "closed");
}

#[test]
fn what_cannot_be_done_is_unsupported_and_says_what_could() {
    let fs = RecordingFs::new();
    let store = builder(&world_over(&fs, 1)).open().unwrap();
    let ada = store.user("ada").unwrap();
    let dense = || Query::text("x").legs(LegSwitches::DENSE);
    is(ada.recall(dense()).unwrap_err(), ErrorKind::Unsupported, "embedder");
    assert!(ada.recall(Query::text("x")).unwrap().dense_abstained().is_some_and(|why| why.contains("embedder")));
    is(store.calibrate().unwrap_err(), ErrorKind::Unsupported, "calibrate");
    ada.remember(note(1, "x", some())).unwrap();
    drop((ada, store));
    let store = builder(&world_over(&fs, 2)).embedder(HashedNgrams::new()).open().unwrap();
    let ada = store.user("ada").unwrap();
    let error = ada.recall(dense()).unwrap_err();
    assert_eq!(ada.recall(Query::text("x")).unwrap().len(), 1, "words still work");
    is(error, ErrorKind::Unsupported, "mnemic-hashed-ngrams-1");
    assert_eq!(ada.recall(Query::vector(some())).unwrap().len(), 1, "vectors of the stored space still work");
    let pending = ada.remember(NewMemory::note("embedded by another model")).unwrap();
    assert!(ada.get(pending).unwrap().is_pending());
    drop((ada, store));
    let declared = builder(&world_over(&fs, 3)).space(Space::new("other", 32).unwrap()).open();
    is(declared.unwrap_err(), ErrorKind::Conflict, "space");
}

#[test]
fn options_out_of_their_limits_are_invalid() {
    let open = |builder: mnemic::Builder| builder.open().unwrap_err();
    is(open(builder(&world()).shards(0)), ErrorKind::Invalid, "shards");
    is(open(builder(&world()).shards(65)), ErrorKind::Invalid, "shards");
    is(open(builder(&world()).durability(Durability::Relaxed { every: 0 })), ErrorKind::Invalid, "durability");
    is(open(builder(&world()).kernel("abacus")), ErrorKind::Invalid, "scalar");
    let world = world();
    world.world().fs().create_dir_all("store/photos".as_ref()).unwrap();
    is(open(builder(&world)), ErrorKind::Invalid, "not empty");
    assert!("not-a-uuid".parse::<MemoryId>().is_err());
}

fn overwrite(fs: &RecordingFs, path: &str, offset: u64, bytes: &[u8]) {
    let file = fs.open(path.as_ref(), OpenMode::ReadWrite).unwrap();
    file.write_at(offset, bytes).unwrap();
}

#[test]
fn damaged_files_are_corrupt_and_never_a_new_store() {
    let made = || {
        let fs = RecordingFs::new();
        let store = builder(&world_over(&fs, 1)).open().unwrap();
        store.user("ada").unwrap().remember(note(1, "x", some())).unwrap();
        drop(store);
        fs
    };
    let open = |fs: &RecordingFs| builder(&world_over(fs, 2)).open();
    for missing in ["store/MANIFEST", "store/KEYRING"] {
        let fs = made();
        fs.remove_file(missing.as_ref()).unwrap();
        is(open(&fs).unwrap_err(), ErrorKind::Corrupt, "missing");
    }
    let fs = made();
    fs.remove_file("store/MASTERKEY".as_ref()).unwrap();
    is(open(&fs).unwrap_err(), ErrorKind::Denied, "MASTERKEY");
    let fs = made();
    overwrite(&fs, "store/MANIFEST", 0, &[0; 4096]);
    assert!(open(&fs).is_err());
    for broken in ["missing", "empty", "cut"] {
        let fs = made();
        let path = "store/shards/00.redb";
        match broken {
            "missing" => fs.remove_file(path.as_ref()).unwrap(),
            "empty" => fs.open(path.as_ref(), OpenMode::ReadWrite).unwrap().set_len(0).unwrap(),
            _ => fs.open(path.as_ref(), OpenMode::ReadWrite).unwrap().set_len(5000).unwrap(),
        }
        let store = open(&fs).unwrap();
        let ada = store.user("ada").unwrap();
        is(ada.recall(Query::vector(some())).unwrap_err(), ErrorKind::Corrupt, "shard 00");
        is(ada.remember(note(2, "y", some())).unwrap_err(), ErrorKind::Corrupt, "shard 00");
    }
}

#[test]
fn an_older_copy_of_a_shard_is_noticed() {
    let fs = RecordingFs::new();
    drop(builder(&world_over(&fs, 1)).open().unwrap());
    let read = |fs: &RecordingFs, path: &str| {
        let file = fs.open(path.as_ref(), OpenMode::Read).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    };
    let old = read(&fs, "store/shards/00.redb");
    let store = builder(&world_over(&fs, 2)).open().unwrap();
    store.user("ada").unwrap().remember(note(1, "x", some())).unwrap();
    store.close().unwrap();
    let file = fs.open("store/shards/00.redb".as_ref(), OpenMode::ReadWrite).unwrap();
    file.set_len(old.len() as u64).unwrap();
    file.write_at(0, &old).unwrap();
    let store = builder(&world_over(&fs, 3)).open().unwrap();
    let ada = store.user("ada").unwrap();
    is(ada.recall(Query::vector(some())).unwrap_err(), ErrorKind::Corrupt, "older copy");
}
