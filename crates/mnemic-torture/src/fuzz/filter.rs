//! Filters that a caller builds, against a plain reading of what they say.

use std::collections::BTreeSet;
use std::ops::Range;

use mnemic::memory::limits::FILTER_NODES_MAX;
use mnemic::memory::{Evidence, Kind, Memory, MemoryId, MetaValue, NewMemory, Sensitivity, Timestamp};
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{Comparison, ErrorKind, Filter, ListOptions, Query, Store, User};

use crate::check::{Check, Say, ensure};
use crate::work::{Bytes, DIMS, Dice, Setting, pick};

const MEMORIES: usize = 60;
/// Lists and negations in each other; a deeper one has too many parts all the same.
const DEPTH_MAX: u32 = 40;
const NAMES: [&str; 5] = ["a", "b", "", "ab", "窗"];
const COMPARISONS: [Comparison; 7] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Below,
    Comparison::AtMost,
    Comparison::Above,
    Comparison::AtLeast,
    Comparison::Contains,
];
const INTEGERS: [i64; 6] = [0, 1, -1, i64::MIN, i64::MAX, (1 << 53) + 1];
const FLOATS: [f64; 8] = [0.0, 1.0, -0.5, 9_007_199_254_740_992.0, 9.3e18, -9.3e18, f64::NAN, f64::INFINITY];

thread_local! {
    static SHELF: Check<Shelf> = Shelf::new();
}

/// A user whose memories have something in every field that filters ask of.
struct Shelf {
    user: User,
    memories: Vec<Memory>,
    _store: Store,
}

impl Shelf {
    fn new() -> Check<Self> {
        let store = Setting::durable(1).open(&RecordingFs::new(), 3).say("creation")?;
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        let random = &mut SplitMix64::new(11);
        let all = (0..MEMORIES).map(|number| some_memory(random, number)).collect::<Vec<_>>();
        user.remember_all(all).say("remember")?.into_iter().collect::<mnemic::Result<Vec<_>>>().say("remember")?;
        let memories = user.list(ListOptions::new().limit(usize::MAX)).say("list")?.memories;
        Ok(Self { user, memories, _store: store })
    }
}

fn some_memory(random: &mut SplitMix64, number: usize) -> NewMemory {
    let name = |random: &mut SplitMix64| *pick(random, &["a", "b", "ab", "窗"]);
    let mut new = NewMemory::new(*pick(random, Kind::ALL), format!("memory {number}")).vector(random.vector());
    if *pick(random, &[true, false]) {
        new = new.scene(name(random)).tag(name(random)).tag(name(random)).turn(name(random), number as u32);
    }
    if *pick(random, &[true, false]) {
        new = new.speaker(name(random)).language("en").slot(name(random), name(random)).pinned(true);
        new = new.evidence(*pick(random, Evidence::ALL)).event_at(Timestamp::from_micros(random.below(9) as i64));
    }
    if *pick(random, &[true, false]) {
        let float = *pick(random, &FLOATS[..6]);
        new = new.metadata("n", *pick(random, &INTEGERS)).metadata("t", name(random)).metadata("f", float);
        new = new.metadata("b", random.below(2) == 0).metadata("l", vec![name(random).to_owned()]);
    }
    new.created_at(Timestamp::from_micros(random.below(9) as i64))
}

/// A filter, and what it says in plain words.
struct Asked {
    filter: Filter,
    passes: Box<dyn Fn(&Memory) -> bool>,
    parts: usize,
    /// Whether it means anything.
    is_sound: bool,
}

/// Recalls with a filter of the fuzzer's choice: exactly the memories of which it is true, or a refusal where it
/// means nothing.
pub(super) fn against_brute_force(input: &[u8]) -> Check {
    let asked = some_filter(&mut Bytes(input), 0);
    SHELF.with(|shelf| {
        let shelf = shelf.as_ref().map_err(String::clone)?;
        let query = Query::vector(vec![1.0; DIMS]).limit(usize::MAX).filter(asked.filter);
        let outcome = shelf.user.recall(query);
        if !asked.is_sound || asked.parts > FILTER_NODES_MAX {
            let kind = outcome.map_err(|error| error.kind()).err();
            ensure!(kind == Some(ErrorKind::Invalid), "a filter that means nothing: {kind:?}");
            return Ok(());
        }
        let found: BTreeSet<MemoryId> = outcome.say("recall")?.iter().map(mnemic::Hit::id).collect();
        let wanted = shelf.memories.iter().filter(|memory| (asked.passes)(memory)).map(Memory::id).collect();
        ensure!(found == wanted, "{} memories pass a filter, {} should", found.len(), wanted.len());
        Ok(())
    })
}

fn some_filter(bytes: &mut Bytes<'_>, depth: u32) -> Asked {
    match bytes.below(if depth < DEPTH_MAX { 16 } else { 13 }) {
        13 => {
            let Asked { filter, passes, parts, is_sound } = some_filter(bytes, depth + 1);
            Asked { filter: !filter, passes: Box::new(move |memory| !passes(memory)), parts: parts + 1, is_sound }
        }
        roll @ (14 | 15) => {
            let inner = (0..bytes.below(5)).map(|_| some_filter(bytes, depth + 1)).collect();
            some_list(roll == 14, inner)
        }
        12 => some_comparison(bytes),
        roll => some_field(bytes, roll),
    }
}

fn some_list(all: bool, inner: Vec<Asked>) -> Asked {
    let parts = 1 + inner.iter().map(|asked| asked.parts).sum::<usize>();
    let is_sound = !inner.is_empty() && inner.iter().all(|asked| asked.is_sound);
    let (filters, tests): (Vec<_>, Vec<_>) = inner.into_iter().map(|asked| (asked.filter, asked.passes)).unzip();
    let filter = if all { Filter::all_of(filters) } else { Filter::any_of(filters) };
    let passes = move |memory: &Memory| {
        let mut each = tests.iter().map(|test| test(memory));
        if all { each.all(|passes| passes) } else { each.any(|passes| passes) }
    };
    Asked { filter, passes: Box::new(passes), parts, is_sound }
}

fn part(filter: Filter, is_sound: bool, passes: impl Fn(&Memory) -> bool + 'static) -> Asked {
    Asked { filter, passes: Box::new(passes), parts: 1, is_sound }
}

fn some_field(bytes: &mut Bytes<'_>, roll: u64) -> Asked {
    let name = *pick(bytes, &NAMES);
    match roll {
        0 => {
            let kind = *pick(bytes, Kind::ALL);
            part(Filter::kind(kind), true, move |m| m.kind() == kind)
        }
        1 => part(Filter::tag(name), true, move |m| m.tags().iter().any(|tag| tag == name)),
        2 => part(Filter::scene(name), true, move |m| m.scene() == Some(name)),
        3 => part(Filter::speaker(name), true, move |m| m.speaker() == Some(name)),
        4 => part(Filter::language("en"), true, move |m| m.language() == Some("en")),
        5 => part(Filter::session(name), true, move |m| m.turn().is_some_and(|turn| turn.session() == name)),
        6 => {
            let attribute = *pick(bytes, &NAMES);
            let is_it = move |slot: &mnemic::memory::Slot| slot.subject() == name && slot.attribute() == attribute;
            part(Filter::slot(name, attribute), true, move |m| m.slot().is_some_and(is_it))
        }
        7 => {
            let evidence = *pick(bytes, Evidence::ALL);
            part(Filter::evidence(evidence), true, move |m| m.evidence() == evidence)
        }
        8 | 9 => {
            let pinned = roll == 8;
            part(Filter::pinned(pinned), true, move |m| m.pinned() == pinned)
        }
        10 => {
            let (range, is_sound) = some_range(bytes);
            part(Filter::created(range.clone()), is_sound, move |m| range.contains(&m.created_at()))
        }
        _ => {
            let (range, is_sound) = some_range(bytes);
            part(Filter::event(range.clone()), is_sound, move |m| m.event_at().is_some_and(|at| range.contains(&at)))
        }
    }
}

fn some_range(bytes: &mut Bytes<'_>) -> (Range<Timestamp>, bool) {
    let [from, to] = [(); 2].map(|()| Timestamp::from_micros(bytes.below(12) as i64 - 1));
    (from..to, from <= to)
}

fn some_comparison(bytes: &mut Bytes<'_>) -> Asked {
    let (key, stored) =
        *pick(bytes, &[("n", "number"), ("f", "number"), ("t", "text"), ("b", "bool"), ("l", "list"), ("none", "")]);
    let comparison = *pick(bytes, &COMPARISONS);
    let value = match bytes.below(5) {
        0 => MetaValue::Integer(*pick(bytes, &INTEGERS)),
        1 => MetaValue::Float(*pick(bytes, &FLOATS)),
        2 => MetaValue::Bool(bytes.below(2) == 1),
        3 => MetaValue::List(vec![(*pick(bytes, &NAMES)).to_owned()]),
        _ => MetaValue::Text((*pick(bytes, &NAMES)).to_owned()),
    };
    let is_finite = !matches!(value, MetaValue::Float(number) if !number.is_finite());
    let (is_ordered, asks) = match comparison {
        Comparison::Contains => (value.type_name() == "text", "list"),
        Comparison::Equal | Comparison::NotEqual => (true, value.type_name()),
        _ => (matches!(value.type_name(), "text" | "number"), value.type_name()),
    };
    let is_sound = is_finite && is_ordered && (stored.is_empty() || stored == asks);
    let filter = Filter::metadata(key, comparison, value.clone());
    part(filter, is_sound, move |m| m.metadata().get(key).is_some_and(|stored| compares(stored, comparison, &value)))
}

fn compares(stored: &MetaValue, comparison: Comparison, value: &MetaValue) -> bool {
    let order = match (stored, value) {
        (MetaValue::List(texts), MetaValue::Text(text)) => {
            return comparison == Comparison::Contains && texts.contains(text);
        }
        (MetaValue::Text(a), MetaValue::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (MetaValue::Bool(a), MetaValue::Bool(b)) => a.cmp(b),
        (MetaValue::List(a), MetaValue::List(b)) => a.cmp(b),
        (a, b) => exactly(a).cmp(&exactly(b)),
    };
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Below => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Above => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
        Comparison::Contains => false,
    }
}

/// Twice the number, exactly: those of this target are whole or halves.
fn exactly(value: &MetaValue) -> i128 {
    match value {
        MetaValue::Integer(number) => i128::from(*number) * 2,
        MetaValue::Float(number) => (*number * 2.0) as i128,
        _ => 0,
    }
}
