//! Nothing above the caller's level is told: a store with such memories answers as one without them.

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, Timestamp};
use mnemic::{Comparison, Error, Filter, ListOptions, Query, Result, Update, User};

use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{DIMS, Game, Setting, pick, vector};

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting { every: None, ..Setting::random(&mut case.random) };
    let full = Game::new(case.seed, setting)?;
    let level = *pick(&mut case.random, &Sensitivity::ALL[..3]);
    let twin = Game::new(case.seed ^ 1, setting)?;
    let (all, below) = (handle(&full, Sensitivity::Secret)?, handle(&twin, Sensitivity::Secret)?);
    for game in [&full, &twin] {
        // The space of the vectors and the user are there in both.
        game.store.user("zoe").say("user")?.remember(NewMemory::note("x").vector(vec![1.0; DIMS])).say("remember")?;
        game.store.user("ada").say("user")?.resume().say("resume")?;
    }
    let mut hidden = Vec::new();
    let count = if case.below(8) == 0 { 300 } else { 5 + case.below(30) };
    for number in 0..count {
        let id = MemoryId::from_u128(u128::from(number) + 1);
        let of = *pick(&mut case.random, Sensitivity::ALL);
        let new = new_memory(case, id, number, of > level).sensitivity(of);
        all.remember(new.clone()).say("remember")?;
        if of > level {
            hidden.push(id);
        } else {
            below.remember(new).say("remember")?;
        }
    }
    let (seen, should) = (handle(&full, level)?, handle(&twin, level)?);
    for _ in 0..20 {
        compare(case, &seen, &should)
            .map_err(|says| format!("at {level:?}, {} hidden of {count}: {says}", hidden.len()))?;
        case.pass();
    }
    for id in &hidden {
        untouchable(&seen, &should, *id).map_err(|says| format!("{id} above {level:?}: {says}"))?;
        case.pass();
        if case.is_over() {
            break;
        }
    }
    compare(case, &seen, &should)
}

fn handle(game: &Game, level: Sensitivity) -> Check<User> {
    Ok(game.store.user("ada").say("user")?.with_level(level))
}

fn new_memory(case: &mut Case<'_>, id: MemoryId, number: u64, hidden: bool) -> NewMemory {
    let new = NewMemory::note(format!("memory {number}")).id(id).created_at(Timestamp::from_micros(number as i64));
    let new = if case.below(6) == 0 { new } else { new.vector(vector(&mut case.random)) };
    let new = new.tag(format!("tag {}", case.below(3)));
    match (hidden, case.below(4)) {
        // A key of another type, or one that nothing seen has, would show in what a filter answers.
        (true, 0) => new.metadata("visits", "many"),
        (true, 1) => new.metadata("hidden", 7i64),
        (false, 0) => new.metadata("visits", case.below(9) as i64),
        _ => new,
    }
}

fn compare(case: &mut Case<'_>, seen: &User, should: &User) -> Check {
    let query = Query::vector(vector(&mut case.random)).raw_cosine().at(Timestamp::from_micros(1 << 40));
    let query = query.limit(*pick(&mut case.random, &[0, 1, 3, 1000]));
    let query = match case.below(6) {
        0 => query.filter(Filter::tag("tag 1")),
        1 => query.filter(Filter::metadata("visits", Comparison::Above, 3i64)),
        2 => query.filter(Filter::metadata("hidden", Comparison::Equal, "text")),
        3 => query.filter(Filter::metadata("visits", Comparison::Equal, "many")),
        4 => query.min_score(0.9),
        _ => query,
    };
    let recalled = |user: &User| {
        user.recall(&query).map(|hits| {
            let found: Vec<_> = hits.iter().map(|hit| (hit.id(), hit.score())).collect();
            (found, hits.reason(), hits.damaged().to_vec())
        })
    };
    same("recall", &recalled(seen), &recalled(should))?;
    let ids =
        |user: &User| user.recall_ids(&query).map(|hits| hits.iter().map(|h| (h.id, h.score)).collect::<Vec<_>>());
    same("recall_ids", &ids(seen), &ids(should))?;
    let options = ListOptions::new().limit(1 + case.below(50) as usize);
    let options =
        if case.below(3) == 0 { options.filter(Filter::metadata("visits", Comparison::Above, 3i64)) } else { options };
    let listed = |user: &User| {
        user.list(&options).map(|page| {
            let texts: Vec<String> = page.memories.iter().map(|memory| memory.text().to_owned()).collect();
            (texts, page.total, page.next.is_some())
        })
    };
    same("list", &listed(seen), &listed(should))?;
    let counted = |user: &User| user.stats().map(|stats| (stats.by_status, stats.pending, stats.paused, stats.damaged));
    same("stats", &counted(seen), &counted(should))
}

/// A hidden memory answers as one that is not there.
fn untouchable(seen: &User, should: &User, id: MemoryId) -> Check {
    same("get", &seen.get(id).map(drop), &should.get(id).map(drop))?;
    same("history", &seen.history(id).map(drop), &should.history(id).map(drop))?;
    same("forget", &seen.forget(id).map(drop), &should.forget(id).map(drop))?;
    same("confirm", &seen.confirm(id).map(drop), &should.confirm(id).map(drop))?;
    same("contradict", &seen.contradict(id).map(drop), &should.contradict(id).map(drop))?;
    same("used", &seen.used([id]), &should.used([id]))?;
    let update = |user: &User| user.update(id, Update::new().pinned(true)).map(drop);
    same("update", &update(seen), &update(should))?;
    let query = Query::vector(vec![0.5; DIMS]);
    same("why_not", &seen.why_not(id, &query), &should.why_not(id, &query))
}

fn same<T: PartialEq + std::fmt::Debug>(verb: &str, is: &Result<T>, should: &Result<T>) -> Check {
    let told = |error: &Error| (error.kind(), error.message().to_owned());
    let equal = match (is, should) {
        (Ok(is), Ok(should)) => is == should,
        (Err(is), Err(should)) => told(is) == told(should),
        _ => false,
    };
    ensure!(equal, "{verb}: {is:?}, without the hidden ones {should:?}");
    Ok(())
}
