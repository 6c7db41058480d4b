//! A change of the analyser: found by words all the while, stored anew by upkeep, nothing to do the second time.

use std::time::Duration;

use super::open;
use crate::codec::table::PACKED;
use crate::codec::{Table, terms};
use crate::engine::{Ask, Core, LegSwitches, Statuses};
use crate::memory::{NewMemory, Sensitivity, UserId};
use crate::policy::relevance::Shares;
use crate::policy::score::{Curve, Decay};
use crate::world::testing::RecordingFs;

const ROWS: u32 = 600;

/// As another analyser would have written it: its version, and terms that mean nothing to this one.
fn of_another(terms: &[u8]) -> Vec<u8> {
    let mut stored = terms::decode(terms).unwrap();
    stored.tokenizer_version += 1;
    stored.counts = vec![(1, 1)];
    (stored.length, stored.times) = (1, Vec::new());
    terms::encode(&stored)
}

fn age(core: &Core, user: &UserId) {
    let hash = core.user_hash(user);
    let aged = core.write(hash, false, move |transaction| {
        transaction.with_user(hash, |writer| {
            for block in 0..u64::from(ROWS / 256) {
                let list = writer.value(Table::Terms, PACKED | block, block)?.unwrap();
                let lists = terms::decode_lists(&list)?.into_iter().map(|(row, list)| (row, of_another(list)));
                let lists: Vec<_> = lists.collect();
                let list = terms::encode_lists(lists.iter().map(|(row, list)| (*row, list.as_slice())));
                let before = crate::engine::user_writer::Before::Perhaps;
                writer.put_value(Table::Terms, PACKED | block, block, &list, before)?;
            }
            for row in ROWS / 256 * 256..ROWS {
                let terms = writer.terms(row)?;
                writer.put_terms(row, &of_another(&terms))?;
            }
            writer.facts().analyser = 0;
            Ok(())
        })
    });
    aged.unwrap();
    core.cache.clear();
}

fn ask(text: &str) -> Ask {
    Ask {
        text: Some(text.into()),
        vector: None,
        limit: 1,
        at: None,
        as_of: None,
        filter: None,
        min_score: None,
        level: Sensitivity::Personal,
        decay: Decay::new(Curve::None, 1.0).unwrap(),
        weighted: true,
        raw_cosine: false,
        contradicted: Vec::new(),
        statuses: Statuses::ACTIVE,
        scene: None,
        legs: LegSwitches::ALL,
        shares: Shares::DEFAULT,
        trace: false,
        approximate: None,
    }
}

fn found(core: &Core, user: &UserId, text: &str) -> Vec<String> {
    core.recall(user, &ask(text)).unwrap().memories.iter().map(|memory| memory.text().to_owned()).collect()
}

#[test]
fn terms_of_another_analyser_are_made_anew_and_stored_by_upkeep() {
    let (fs, ada) = (RecordingFs::new(), UserId::new("ada").unwrap());
    let core = open(&fs, 3);
    let news = (0..ROWS).map(|n| NewMemory::note(format!("met number{n} on 5 May 2023"))).collect();
    assert!(core.remember_all(&ada, news).unwrap().iter().all(Result::is_ok));
    age(&core, &ada);
    for at in [3, 300, 590] {
        assert_eq!(found(&core, &ada, &format!("number{at}")), [format!("met number{at} on 5 May 2023")]);
    }
    let dated = ask("whom did she meet in May 2023?");
    let before = core.recall_ids(&ada, &dated).unwrap().hits[0].legs.time;
    assert!(before > 0.0, "the times that a text tells of are found again too");
    let done = core.maintain(Duration::from_secs(60)).unwrap();
    assert!(done.finished && done.memories_reindexed == u64::from(ROWS), "{done:?}");
    core.cache.clear();
    for at in [3, 300, 590] {
        assert_eq!(found(&core, &ada, &format!("number{at}")), [format!("met number{at} on 5 May 2023")]);
    }
    assert_eq!(core.recall_ids(&ada, &dated).unwrap().hits[0].legs.time.to_bits(), before.to_bits());
    assert_eq!(core.maintain(Duration::from_secs(60)).unwrap().memories_reindexed, 0);
    core.close().unwrap();
    assert_eq!(found(&open(&fs, 3), &ada, "number590").len(), 1);
}
