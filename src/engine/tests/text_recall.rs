//! A text query over random conversations: the pruned search against every row scored by the whole formula.

use std::path::Path;

use crate::engine::bind::Bound;
use crate::engine::rank::Sources;
use crate::engine::recall::Ask;
use crate::engine::text_legs::LegSwitches;
use crate::engine::user_index::UserIndex;
use crate::engine::{Core, Durability, Edit, Settings, Statuses, VectorEdit};
use crate::index::vector::FullRows;
use crate::kernel::Dispatch;
use crate::memory::{MemoryId, NewMemory, Sensitivity, Timestamp, UserId, Vector};
use crate::policy::relevance::Shares;
use crate::policy::score::{Curve, Decay, ScoreInput};
use crate::seal::MasterKey;
use crate::storage::Setup;
use crate::world::testing::{RecordingFs, SplitMix64, TestWorld};

const WORDS: [&str; 12] =
    ["garden", "train", "Ada", "coffee", "yesterday", "座位", "上海", "window", "May 2023", "Bob", "night", "tea"];
const NOW: i64 = 1_700_000_000_000_000;

fn open(fs: &RecordingFs) -> Core {
    let setup = Setup { master: MasterKey::default(), shards: Some(1), create: true, reserve_bytes: 0, suite: None };
    let settings = Settings {
        durability: Durability::Durable,
        cache_bytes: 64 << 20,
        kernel: Dispatch::best(),
        embedder: None,
        rewrite_min_bytes: 0,
    };
    Core::open(TestWorld::with_fs(3, fs.clone()).world(), Path::new("store"), &setup, settings).unwrap()
}

fn pick<'a, T>(random: &mut SplitMix64, from: &'a [T]) -> &'a T {
    &from[random.below(from.len() as u64) as usize]
}

fn text(random: &mut SplitMix64) -> String {
    (0..=random.below(6)).map(|_| *pick(random, &WORDS)).collect::<Vec<_>>().join(" ")
}

fn vector(random: &mut SplitMix64) -> Vec<f32> {
    (0..16).map(|_| random.below(2000) as f32 / 1000.0 - 0.999).collect()
}

fn memory(random: &mut SplitMix64, number: u32) -> NewMemory {
    let new = if random.below(3) == 0 { NewMemory::note(text(random)) } else { NewMemory::episode(text(random)) };
    let new = new.id(MemoryId::from_u128(u128::from(number))).importance(random.below(11) as f32 / 10.0);
    let new = new.sensitivity(*pick(random, &[Sensitivity::Public, Sensitivity::Personal, Sensitivity::Secret]));
    let new = new.created_at(Timestamp::from_micros(NOW).plus_days(-(random.below(300) as f64)));
    let new =
        if random.below(4) > 0 { new.turn(format!("s{}", random.below(5)), random.below(40) as u32) } else { new };
    let new = if random.below(4) > 0 { new.speaker(*pick(random, &["Ada", "Bob", "小明"])) } else { new };
    if random.below(5) > 0 { new.vector(vector(random)) } else { new }
}

fn ask(random: &mut SplitMix64) -> Ask {
    let flag = |random: &mut SplitMix64| random.below(4) > 0;
    let legs = LegSwitches {
        dense: flag(random),
        words: flag(random),
        time: flag(random),
        speaker: flag(random),
        context: flag(random),
    };
    Ask {
        text: Some(text(random)),
        vector: (random.below(3) > 0).then(|| Vector::new(&vector(random)).unwrap()),
        limit: [1, 5, 1000][random.below(3) as usize],
        at: Some(Timestamp::from_micros(NOW)),
        as_of: (random.below(4) == 0).then(|| Timestamp::from_micros(NOW).plus_days(-(random.below(300) as f64))),
        filter: None,
        min_score: None,
        level: *pick(random, &[Sensitivity::Public, Sensitivity::Personal, Sensitivity::Secret]),
        decay: Decay::new(Curve::Exponential { lambda: *pick(random, &[0.0, 0.005, 0.3]) }, 0.5).unwrap(),
        weighted: random.below(2) == 0,
        raw_cosine: true,
        contradicted: Vec::new(),
        statuses: Statuses::ACTIVE,
        scene: None,
        trace: false,
        approximate: None,
        legs,
        shares: if random.below(2) == 0 { Shares::DEFAULT } else { shares(random) },
    }
}

fn shares(random: &mut SplitMix64) -> Shares {
    let mut share = || random.below(200) as f64 / 100.0;
    Shares {
        dense: share(),
        words: share(),
        scene: share(),
        time: share(),
        speaker: share(),
        near: share(),
        session: share(),
    }
}

/// Every row by the whole formula.
fn brute(index: &UserIndex, bound: &Bound<'_>, sources: &Sources<'_>) -> Vec<(MemoryId, u64)> {
    let prepared = index.prepare(bound, sources).unwrap();
    let mut scored = Vec::new();
    for facts in index.arena.iter().filter(|f| index.stands(bound.ask, f) && f.sensitivity <= bound.ask.level.code()) {
        let additive = prepared.legs_of(facts).sum();
        let query = bound.vector.as_ref().filter(|_| facts.has_vector);
        let cos = query.map(|query| {
            let mut buffer = Vec::new();
            index.arena.kernel().dot(query.as_slice(), sources.vectors.row(facts.row, &mut buffer).unwrap())
        });
        if cos.is_none() && additive == 0.0 {
            continue;
        }
        let input = ScoreInput {
            cos,
            additive,
            time: facts.time,
            importance: facts.importance,
            confidence: facts.confidence,
            contradicted: false,
            pinned: facts.pinned,
            turn: facts.turn,
        };
        scored.push((facts.id, bound.scorer.parts(&input)));
    }
    scored.sort_by(|(a, x), (b, y)| x.order(a, y, b));
    scored.into_iter().map(|(id, parts)| (MemoryId::from_bytes(id), parts.score.to_bits())).collect()
}

fn compare(core: &Core, ada: &UserId, random: &mut SplitMix64) {
    let ask = ask(random);
    if !ask.legs.words && ask.vector.is_none() {
        return;
    }
    let bound = core.bind(&ask).unwrap();
    let (found, expected) = core
        .with_index(core.user_hash(ada), |head, index| {
            let sources = core.sources(head, index, &bound)?.unwrap();
            Ok((index.rank(&bound, &sources)?, brute(index, &bound, &sources)))
        })
        .unwrap()
        .unwrap();
    let found: Vec<_> =
        found.hits.iter().map(|h| (MemoryId::from_bytes(h.candidate.id), h.candidate.parts.score.to_bits())).collect();
    assert_eq!(found, expected[..expected.len().min(ask.limit)], "{:?}", ask.legs);
}

#[test]
fn random_conversations_have_no_difference_from_brute_force() {
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let fs = RecordingFs::new();
        let ada = UserId::new("ada").unwrap();
        let (mut core, mut number) = (open(&fs), 0);
        for round in 0..12 {
            let news = (0..random.below(60)).map(|_| {
                number += 1;
                memory(&mut random, number)
            });
            let news: Vec<_> = news.collect();
            core.remember_all(&ada, news).unwrap();
            let some = MemoryId::from_u128(1 + u128::from(random.below(u64::from(number.max(1)))));
            let words = text(&mut random);
            let edit: Edit = Box::new(move |memory| {
                memory.text = words;
                Ok(())
            });
            let _ = core.update(&ada, some, Sensitivity::Secret, None, (edit, VectorEdit::Keep));
            let gone = MemoryId::from_u128(1 + u128::from(random.below(u64::from(number.max(1)))));
            let _ = core.forget(&ada, gone, Sensitivity::Secret);
            if round % 4 == 3 {
                core.close().unwrap();
                core = open(&fs);
            }
            if number > 0 {
                (0..10).for_each(|_| compare(&core, &ada, &mut random));
            }
        }
    }
}
