//! The life of a fixture store: something of everything that format 1 can hold.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mnemic::memory::{
    Calibration, Evidence, Kind, MemoryId, NewMemory, Sensitivity, Source, Space, Timestamp, Trust, Visibility,
};
use mnemic::world::testing::TestWorld;
use mnemic::{
    Builder, Correction, EmbedError, EmbedProgress, Embedder, Filter, MasterKey, Purpose, Query, Receipt, Store,
    Update, User,
};

/// When the script begins.
pub(crate) const START: i64 = 1_767_225_600_000_000;
const DAY: i64 = 86_400_000_000;
/// When a fixture is read: the clock of every test.
pub(crate) const NOW: i64 = START + 40 * DAY;

/// One of the two fixture stores.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) suite: u8,
    passphrase: Option<&'static str>,
}

pub(crate) const FIXTURES: [Fixture; 2] = [
    Fixture { name: "suite-1", suite: 1, passphrase: None },
    Fixture { name: "suite-2", suite: 2, passphrase: Some("a fixture, no secret") },
];

impl Fixture {
    pub(crate) fn master_key(&self) -> MasterKey {
        self.passphrase.map_or_else(MasterKey::local_file, MasterKey::passphrase)
    }
}

/// A model whose vectors are a hash of text and name: exact in every float that they have.
#[derive(Clone)]
pub(crate) struct Model {
    name: &'static str,
    dims: usize,
    down: Arc<AtomicBool>,
}

impl Model {
    pub(crate) fn first() -> Self {
        Self { name: "fixture-first", dims: 16, down: Arc::default() }
    }

    /// The current one of a fixture.
    pub(crate) fn second() -> Self {
        Self { name: "fixture-second", dims: 10, ..Self::first() }
    }

    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let hash = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let mut state = self.name.bytes().chain(text.bytes()).fold(17u64, hash);
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..self.dims).map(|_| next()).collect()
    }
}

impl Embedder for Model {
    fn space(&self) -> Space {
        let space = Space::new(self.name, self.dims).unwrap().languages(["en", "zh"]).unwrap();
        space.calibrated(Calibration::new(0.125, 0.875).unwrap())
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(EmbedError::Unavailable("down".into()));
        }
        Ok(texts.iter().map(|text| (!text.contains("mute")).then(|| self.vector(text))).collect())
    }
}

pub(crate) fn id(number: u64) -> MemoryId {
    MemoryId::from_u128(u128::from(number))
}

fn at(days: i64) -> Timestamp {
    Timestamp::from_micros(START + days * DAY)
}

/// Writes the store into the world's files; the receipts of what was forgotten.
pub(crate) fn write(world: &TestWorld, fixture: &Fixture, builder: impl Fn(&TestWorld) -> Builder) -> Vec<Receipt> {
    let open = |model: Model| {
        let builder = builder(world).master_key(fixture.master_key()).suite(fixture.suite).unwrap();
        builder.embedder(model).open().unwrap()
    };
    let model = Model::first();
    let store = open(model.clone());
    let mut receipts = first_life(world, &store);
    model.down.store(true, Ordering::Relaxed);
    let ada = user(&store, "ada");
    ada.remember(NewMemory::note("Waits for a vector 等待向量").id(id(901))).unwrap();
    model.down.store(false, Ordering::Relaxed);
    store.close().unwrap();
    // Some users' vectors stay in the first space: the run to the second one stops before.
    let model = Model::second();
    let store = open(model.clone());
    let most = |progress: &EmbedProgress| match progress.embedded {
        0..200 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    store.reembed(most).unwrap();
    store.calibrate().unwrap();
    receipts.extend(second_life(world, &store, &model));
    // Into a fresh file, which is smaller.
    assert_eq!(store.maintain(std::time::Duration::MAX).unwrap().shards_rewritten, 1);
    store.close().unwrap();
    receipts
}

pub(crate) fn user(store: &Store, name: &str) -> User {
    store.user(name).unwrap().with_level(Sensitivity::Secret)
}

fn first_life(world: &TestWorld, store: &Store) -> Vec<Receipt> {
    let ada = user(store, "ada");
    let mut first = full();
    first.extend((100..370).map(|n| {
        let text = if n % 3 == 0 {
            format!("第{n}条：我喜欢靠窗的座位")
        } else {
            format!("Note {n}, of tea and trains")
        };
        let created = Timestamp::from_micros(START + n as i64);
        let memory = NewMemory::note(text).id(id(n)).created_at(created).importance((n % 8) as f32 / 8.0);
        if n % 5 == 0 { memory.tag(format!("tag-{}", n % 7)) } else { memory }
    }));
    ada.remember_all(first).unwrap().into_iter().for_each(|stored| _ = stored.unwrap());
    let bob = user(store, "Bob 鲍勃");
    bob.remember(NewMemory::fact("Bob lives by the sea").id(id(1))).unwrap();
    bob.remember(NewMemory::preference("mute: a memory that the model has no vector for").id(id(2))).unwrap();
    bob.remember(NewMemory::task("Water the plants 浇花").id(id(3))).unwrap();
    bob.pause().unwrap();
    user(store, "gone").remember(NewMemory::note("Nobody knows this any more").id(id(1))).unwrap();
    user(store, "back").remember(NewMemory::note("Of a life that is over").id(id(1))).unwrap();
    world.set_micros(START + DAY);
    let receipts = ["gone", "back"].map(|name| store.forget_user(name).unwrap().receipt().clone());
    user(store, "back").remember(NewMemory::note("Of another life").id(id(2))).unwrap();
    receipts.into()
}

fn second_life(world: &TestWorld, store: &Store, model: &Model) -> Vec<Receipt> {
    let ada = user(store, "ada");
    world.set_micros(START + 2 * DAY);
    ada.update(id(150), Update::new().text("Note 150 says something else now").tag("changed")).unwrap();
    ada.update(id(365), Update::new().metadata("changed", true)).unwrap();
    ada.update(id(151), Update::new().archive()).unwrap();
    ada.confirm(id(1)).unwrap();
    ada.contradict(id(2)).unwrap();
    ada.used([id(1), id(160), id(366)]).unwrap();
    let correction = Correction::new("Lives in Lyon").value("Lyon").valid_from(at(1)).event_at(at(1));
    ada.correct(id(1), correction).unwrap();
    ada.remember(NewMemory::note("Made of two others").id(id(902)).derived_from(id(170)).derived_from(id(171)))
        .unwrap();
    let mut receipts = vec![ada.forget(id(170)).unwrap().receipt().clone()];
    store.snapshot().unwrap();
    world.set_micros(START + 3 * DAY);
    ada.update(id(152), Update::new().text("Changed after the snapshot")).unwrap();
    let query = Query::text("Note 205, of tea and trains").limit(3).at(Timestamp::from_micros(NOW)).trace(true);
    ada.recall(query.clone()).unwrap();
    ada.recall(query.filter(Filter::tag("changed"))).unwrap();
    receipts.extend([id(205), id(367)].map(|id| ada.forget(id).unwrap().receipt().clone()));
    model.down.store(true, Ordering::Relaxed);
    ada.remember(NewMemory::note("Newer than the snapshot 比快照新").id(id(903))).unwrap();
    model.down.store(false, Ordering::Relaxed);
    receipts
}

/// One of each kind, and something in every field and of every type.
fn full() -> Vec<NewMemory> {
    let source = Source {
        session: Some("s-1".into()),
        turns: Some((3, 9)),
        actor: Some("extractor".into()),
        trust: Some(Trust::External),
        extractor: Some(("rules".into(), "2".into())),
        extracted_at: Some(at(0)),
    };
    let evidence = |n: usize| Evidence::ALL[n % Evidence::ALL.len()];
    let mut all = vec![
        NewMemory::fact("Lives in Paris").slot("user", "city").value("Paris").language("en").source(source),
        NewMemory::preference("我喜欢靠窗的座位").scene("train").language("zh").visibility(Visibility::Inform),
        NewMemory::rejection("No peanuts, ever").pinned(true).sensitivity(Sensitivity::Sensitive),
        NewMemory::goal("Learn to sail before 7 May 2023").event_at(at(-900)).valid_from(at(-999)).valid_to(at(999)),
        NewMemory::task("Call the \"bank\"\n明天给银行打电话").confidence(0.25).candidate(),
        NewMemory::procedure("Retry the tool with --force").visibility(Visibility::Withhold),
        NewMemory::action("Recommended the blue one").sensitivity(Sensitivity::Public),
        NewMemory::episode("I missed my train yesterday")
            .speaker("Ada")
            .turn("s-1", 4)
            .sensitivity(Sensitivity::Secret),
        NewMemory::new(Kind::Note, "Anything else").metadata("text", "t").metadata("integer", i64::MIN),
    ];
    let last = all.pop().unwrap();
    let list = vec!["a".to_owned(), String::new(), "二".to_owned()];
    all.push(last.metadata("float", -0.0).metadata("bool", false).metadata("list", list));
    (1..)
        .zip(all)
        .map(|(n, memory)| memory.id(id(n)).evidence(evidence(n as usize)).created_at(at(-(n as i64))))
        .collect()
}
