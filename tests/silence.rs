//! No key, text or vector in anything that is shown, told or logged.

mod support;

use std::fmt::{Debug, Write};
use std::io::Cursor;
use std::sync::Mutex;

use mnemic::memory::{Evidence, NewMemory, Sensitivity};
use mnemic::world::testing::{FaultKind, RecordingFs, Repeat};
use mnemic::{Correction, ListOptions, MasterKey, Query, Update};
use support::{DIMS, builder, id, world_over};

const TEXT: &str = "wombatmarker";
const PASSPHRASE: &str = "quokkamarker";
/// Every number of the marked vectors, as it would be shown.
const NUMBERS: [&str; 2] = ["0.123456", "0.25"];

static LOG: Mutex<String> = Mutex::new(String::new());

struct Capture;

impl log::Log for Capture {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let mut log = LOG.lock().unwrap();
        writeln!(log, "{} {}", record.level(), record.args()).unwrap();
    }

    fn flush(&self) {}
}

/// Everything that was shown so far.
#[derive(Default)]
struct Shown(String);

impl Shown {
    fn debug(&mut self, what: &impl Debug) {
        writeln!(self.0, "{what:?} {what:#?}").unwrap();
    }

    fn outcome<T: Debug>(&mut self, outcome: mnemic::Result<T>) {
        match outcome {
            Ok(value) => self.debug(&value),
            Err(error) => {
                writeln!(self.0, "{error} {error:?} {}", error.message()).unwrap();
                let mut cause = std::error::Error::source(&error);
                while let Some(inner) = cause {
                    writeln!(self.0, "{inner} {inner:?}").unwrap();
                    cause = inner.source();
                }
            }
        }
    }

    fn check(&self) {
        let log = LOG.lock().unwrap();
        for place in [&self.0, &*log] {
            for marker in [TEXT, PASSPHRASE].into_iter().chain(NUMBERS) {
                let at = place.find(marker);
                let around = at.map(|at| &place[at.saturating_sub(80)..(at + 40).min(place.len())]);
                assert_eq!(around, None, "{marker} is shown");
            }
        }
    }
}

fn numbers() -> Vec<f32> {
    let mut numbers = vec![0.25; DIMS];
    numbers[0] = 0.123_456;
    numbers
}

fn marked(number: u64) -> NewMemory {
    NewMemory::fact(format!("{TEXT} {number}"))
        .id(id(number))
        .vector(numbers())
        .slot("user", TEXT)
        .value(TEXT)
        .tag(TEXT)
        .scene(TEXT)
        .speaker(TEXT)
        .turn(TEXT, 1)
        .metadata("key", TEXT)
}

#[test]
fn nothing_secret_is_shown_by_a_run_with_every_kind_of_trouble() {
    log::set_logger(&Capture).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let (fs, mut shown) = (RecordingFs::new(), Shown::default());
    let key = || MasterKey::passphrase(PASSPHRASE);
    shown.debug(&key());
    let start = |fs: &RecordingFs| {
        let building = builder(&world_over(fs, 1)).master_key(key());
        (format!("{building:?}"), building.open())
    };
    let (built, store) = start(&fs);
    shown.debug(&built);
    let store = store.unwrap();
    let ada = store.user("ada").unwrap().with_level(Sensitivity::Secret);
    shown.debug(&store);
    shown.debug(&ada);
    shown.debug(&marked(1));
    shown.outcome(ada.remember(marked(1)));
    shown.outcome(ada.remember_all((2..300).map(marked)).map(|all| all.len()));
    shown.outcome(ada.get(id(1)));
    let query = Query::text(TEXT).with_vector(numbers()).limit(3);
    shown.debug(&query);
    shown.outcome(ada.recall(&query));
    if let Ok(hits) = ada.recall(Query::vector(numbers())) {
        hits.iter().for_each(|hit| shown.debug(hit));
    }
    shown.outcome(ada.list(ListOptions::new()));
    shown.debug(&Update::new().text(TEXT).vector(numbers()));
    shown.debug(&Correction::new(TEXT).vector(numbers()));
    shown.outcome(ada.update(id(2), Update::new().text(format!("{TEXT} again")).vector(numbers())));
    shown.outcome(ada.history(id(2)));
    shown.outcome(ada.why_not(id(2), Query::vector(numbers())));
    shown.outcome(ada.stats());
    shown.outcome(store.stats());
    shown.outcome(store.snapshot());
    // Refused: what is bad, stored already, forgotten, or not there.
    shown.outcome(ada.remember(marked(1).importance(0.5)));
    shown.outcome(ada.remember(marked(900).vector(vec![f32::NAN; DIMS])));
    shown.outcome(ada.remember(marked(901).importance(7.0)));
    shown.outcome(ada.forget(id(3)));
    shown.outcome(ada.remember(marked(3).evidence(Evidence::Inferred)));
    shown.outcome(ada.forget(id(3)));
    shown.outcome(store.user(&" ".repeat(3)));
    let mut export = Vec::new();
    shown.outcome(ada.export(&mut export));
    export[40] ^= 1;
    shown.outcome(ada.import(&mut Cursor::new(&export)));
    shown.outcome(TEXT.parse::<mnemic::Receipt>());
    shown.outcome(store.rotate_keys(&MasterKey::passphrase("")));
    // A disk that fails, then one with damage.
    for kind in [FaultKind::Eio, FaultKind::Enospc, FaultKind::FailedSync] {
        fs.fail_at(3, kind, Repeat::Forever);
        shown.outcome(ada.remember(marked(950)));
        shown.outcome(ada.forget(id(5)));
        fs.clear_faults();
    }
    shown.outcome(store.close());
    shown.outcome(ada.get(id(1)));
    damaged(&fs.snapshot(), &mut shown, &start);
    shown.outcome(builder(&world_over(&fs, 3)).master_key(MasterKey::passphrase("another")).open());
    shown.check();
    assert!(shown.0.len() > 10_000, "it shows something");
}

/// The same store with bytes changed all over its shard.
fn damaged(
    fs: &RecordingFs,
    shown: &mut Shown,
    start: &dyn Fn(&RecordingFs) -> (String, mnemic::Result<mnemic::Store>),
) {
    use mnemic::world::{FileSystem, OpenMode};
    let path = std::path::Path::new(support::PATH).join("shards/00.redb");
    let file = fs.open(&path, OpenMode::ReadWrite).unwrap();
    for at in (8192..file.len().unwrap()).step_by(997) {
        file.write_at(at, &[0x5a]).unwrap();
    }
    let (_, store) = start(fs);
    match store {
        Ok(store) => {
            let ada = store.user("ada").unwrap();
            shown.outcome(ada.list(ListOptions::new()));
            shown.outcome(ada.recall(Query::vector(numbers())));
            shown.outcome(ada.get(id(1)));
        }
        Err(error) => shown.outcome::<()>(Err(error)),
    }
}
