//! What a fixture holds, as the public API tells it.

use std::fmt::Write;

use mnemic::memory::{Sensitivity, StatusKind, Timestamp};
use mnemic::{ContextOptions, Filter, LegSwitches, ListOptions, PromptLanguage, Query, Receipt, Store, Verdict};

use crate::script::{Model, NOW, id, user};

/// Every memory of every user in full, but for what an export has, histories, traces, snapshots and receipts.
pub(crate) fn account(store: &Store, receipts: &[Receipt]) -> String {
    let mut out = String::new();
    let mut users = store.users(None, 100).unwrap().users;
    users.sort_by_key(|user| user.as_str().to_owned());
    for name in users {
        let handle = user(store, name.as_str());
        let stats = handle.stats().unwrap();
        let (by_status, pending, without) = (stats.by_status, stats.pending, stats.without_vector);
        let (paused, damaged) = (stats.paused, stats.damaged);
        let counts = format!("{by_status:?}, pending {pending}, without a vector {without}, paused {paused}");
        writeln!(out, "user {:?}: {counts}, damaged {damaged:?}", name.as_str()).unwrap();
        let page = handle.list(ListOptions::new().limit(usize::MAX)).unwrap();
        assert_eq!(page.damaged, Vec::<String>::new());
        for memory in page.memories {
            let (id, kind, version, text) = (memory.id(), memory.kind(), memory.version(), memory.text());
            writeln!(out, "  {id} {kind} version {version}, {:?}: {text:?}", memory.status()).unwrap();
            for change in handle.history(id).unwrap() {
                let before = change.before.map(|before| format!("version {}, {:?}", before.version(), before.text()));
                writeln!(out, "    {} at {}, before {before:?}", change.verb, change.at).unwrap();
            }
        }
    }
    traces(&mut out, store);
    for snapshot in store.snapshots().unwrap() {
        let (created, users, memories) = (snapshot.created_at, snapshot.users, snapshot.memories);
        writeln!(out, "snapshot {} of {created}: {users} users, {memories} memories", snapshot.id).unwrap();
    }
    for receipt in receipts {
        assert_eq!(store.verify_receipt(receipt).unwrap(), Verdict::Holds);
        writeln!(out, "{receipt}").unwrap();
    }
    out
}

fn traces(out: &mut String, store: &Store) {
    for number in 0..2 {
        let trace = user(store, "ada").trace(format!("trace-{number}").parse().unwrap()).unwrap();
        writeln!(out, "trace at {}, forgotten {}, filter {:?}", trace.at, trace.forgotten, trace.filter).unwrap();
        for hit in &trace.hits {
            writeln!(out, "  {} version {} score {:016x}", hit.id, hit.version, hit.score.to_bits()).unwrap();
        }
    }
}

/// Fixed questions: ids and the bits of their scores, and why others were no hits.
pub(crate) fn recalls(store: &Store) -> String {
    let (ada, model, now) = (user(store, "ada"), Model::second(), Timestamp::from_micros(NOW));
    let dense = Query::vector(model.vector("a question")).limit(5).at(now);
    let queries = [
        ("vector", dense.clone()),
        ("vector, raw and unweighted", dense.clone().raw_cosine().unweighted()),
        ("vector, tag-3, secret", dense.clone().filter(Filter::tag("tag-3")).level(Sensitivity::Secret)),
        ("vector, archived and superseded", dense.clone().statuses([StatusKind::Archived, StatusKind::Superseded])),
        ("meaning of a text", Query::text("Note 211, of tea and trains").legs(LegSwitches::DENSE).limit(3).at(now)),
        ("text", Query::text("Which note says something else?").limit(5).at(now)),
        ("Chinese text", Query::text("靠窗的座位在火车上").limit(5).at(now).level(Sensitivity::Secret)),
        ("as of the second day", dense.clone().as_of(Timestamp::from_micros(crate::script::START + 1))),
    ];
    let mut out = String::new();
    for (name, query) in queries {
        writeln!(out, "{name}").unwrap();
        for hit in ada.recall(&query).unwrap().hits() {
            assert!(hit.verify());
            let (score, cosine) = (hit.score().to_bits(), hit.explain().cosine().to_bits());
            writeln!(out, "  {} score {score:016x} cosine {cosine:016x}", hit.id()).unwrap();
        }
        for other in [1, 2, 151, 170, 300, 903] {
            writeln!(out, "  not {other}: {}", ada.why_not(id(other), &query).unwrap()).unwrap();
        }
    }
    let options = ContextOptions::new(200).language(PromptLanguage::English);
    let context = ada.context(Query::text("trains and tea").at(now), &options).unwrap();
    writeln!(out, "context\n{}", context.text()).unwrap();
    out
}
