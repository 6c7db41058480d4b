//! Users whose ids look alike: none sees, counts, changes or forgets another's memories.

use mnemic::memory::{MemoryId, NewMemory, limits};
use mnemic::world::testing::SplitMix64;
use mnemic::{Correction, ErrorKind, Hit, ListOptions, Query, Result, Store, Update};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{Game, Setting, pick, vector};

const SEEDS: [&str; 22] = [
    "ada",
    "foo",
    "foobar",
    "a_b",
    "a%b",
    "a*b",
    "a?b",
    "a[b]",
    "alice/bob",
    "..",
    ".",
    "../..",
    "/",
    "\\",
    "CON",
    "'",
    "; DROP TABLE",
    "\u{1F468}\u{200D}\u{1F469}",
    "caf\u{e9}",
    "İ",
    "null",
    "爱达",
];

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let game = Game::new(case.seed, Setting { every: None, ..Setting::random(&mut case.random) })?;
    let mut ids: Vec<String> = Vec::new();
    while ids.len() < 8 {
        let base = if ids.is_empty() || case.below(4) == 0 {
            (*pick(&mut case.random, &SEEDS)).to_owned()
        } else {
            ids[0].clone()
        };
        let id = alike(&mut case.random, &base);
        if !ids.contains(&id) && game.store.user(&id).is_ok() {
            ids.push(id);
        }
    }
    let mut stored: Vec<MemoryId> = Vec::new();
    for id in &ids {
        let new = NewMemory::note(format!("secret of {id}")).vector(vector(&mut case.random)).tag("t");
        stored.push(game.store.user(id).say("user")?.remember(new).say("remember")?);
    }
    ensure!(game.store.user_count().say("user_count")? == 8, "ids fell together: {ids:?}");
    for (i, id) in ids.iter().enumerate() {
        check_own(&game.store, id, stored[i]).map_err(|says| format!("{id:?} among {ids:?}: {says}"))?;
        for (j, other) in stored.iter().enumerate().filter(|(j, _)| *j != i) {
            check_foreign(case, &game.store, id, *other, &format!("secret of {}", ids[j]))
                .map_err(|says| format!("{id:?} with a memory of {:?}: {says}", ids[j]))?;
            if case.is_over() {
                return Ok(());
            }
        }
    }
    for (i, id) in ids.iter().enumerate() {
        ensure!(game.store.forget_user(id).say("forget_user")?.memories == 1, "forgetting {id:?} took more");
        for (j, other) in ids.iter().enumerate().skip(i + 1) {
            check_own(&game.store, other, stored[j]).map_err(|says| format!("{other:?} after {id:?} left: {says}"))?;
            case.pass();
        }
    }
    Ok(())
}

/// Another id that something careless would take for the same.
fn alike(random: &mut SplitMix64, id: &str) -> String {
    match random.below(14) {
        0 => format!("{id}/"),
        1 => format!("{id} "),
        2 => format!(" {id}"),
        3 => format!("{id}\0"),
        4 => id.to_uppercase(),
        5 => id.to_lowercase(),
        6 => format!("{id}%"),
        7 => format!("{id}\u{301}"),
        8 => format!("{id}\u{200b}"),
        9 => id.replace('\u{e9}', "e\u{301}"),
        10 => format!("{id}{}", "x".repeat(limits::USER_ID_BYTES_MAX.saturating_sub(id.len()))),
        11 => format!("{id}/../{id}"),
        12 => id.chars().next().map(String::from).unwrap_or_default(),
        _ => id.to_owned(),
    }
}

fn check_own(store: &Store, id: &str, own: MemoryId) -> Check {
    let user = store.user(id).say("user")?;
    let hits = user.recall(Query::vector(vec![0.5; crate::work::DIMS]).limit(usize::MAX)).say("recall")?;
    ensure!(hits.iter().map(Hit::id).eq([own]), "recall finds {} memories", hits.len());
    let page = user.list(ListOptions::new()).say("list")?;
    ensure!(page.total == 1 && page.memories[0].text() == format!("secret of {id}"), "list finds {}", page.total);
    let stats = user.stats().say("stats")?;
    ensure!(stats.by_status.values().sum::<usize>() == 1, "stats count {:?}", stats.by_status);
    Ok(())
}

fn check_foreign(case: &Case<'_>, store: &Store, id: &str, other: MemoryId, secret: &str) -> Check {
    let user = store.user(id).say("user")?;
    let calls: [(&str, Result<()>); 8] = [
        ("get", user.get(other).map(drop)),
        ("forget", user.forget(other).map(drop)),
        ("confirm", user.confirm(other).map(drop)),
        ("contradict", user.contradict(other).map(drop)),
        ("used", user.used([other])),
        ("history", user.history(other).map(drop)),
        ("correct", user.correct(other, Correction::new("x")).map(drop)),
        ("update", user.update(other, Update::new().pinned(true)).map(drop)),
    ];
    let query = Query::vector(vec![0.5; crate::work::DIMS]);
    let why = |id| user.why_not(id, &query).say("why_not");
    ensure!(why(other)? == why(MemoryId::from_u128(3))?, "why_not tells more than of an unknown id");
    let unknown = user.get(MemoryId::from_u128(3)).err().map(|error| error.message().len());
    for (verb, outcome) in calls {
        let Err(error) = outcome else { return Err(format!("{verb} was done")) };
        ensure!(error.kind() == ErrorKind::NotFound, "{verb}: {error:?}");
        ensure!(!format!("{error:?}").contains(secret), "{verb}: the error tells the text");
        ensure!(verb != "get" || unknown == Some(error.message().len()), "{verb}: the error tells more: {error}");
        case.pass();
    }
    Ok(())
}
