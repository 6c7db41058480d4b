use mnemic::memory::limits::SNAPSHOTS_MAX;
use mnemic::memory::{MemoryId, Sensitivity, StatusKind, Timestamp};

use super::{Dice, Model, Row, Step, pick, vector};

const USERS: [&str; 4] = ["ada", "bob", "ada/", "Ada"];
const DAY: i64 = Timestamp::DAY_MICROS;

/// Which calls on a whole store there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// None.
    No,
    /// It is tidied.
    Tidied,
    /// Snapshots are taken and gone back to, too.
    All,
}

/// What kinds of calls come how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    /// Memories of the largest `remember_all`.
    pub(crate) batch_max: u64,
    /// How many of the users take part.
    pub(crate) users: usize,
    /// Whether the store is closed and reopened at times.
    pub(crate) reopens: bool,
    pub(crate) upkeep: Upkeep,
    /// Users of different rounds are different users.
    pub(crate) round: u64,
}

/// The next call, as the seed and the state before decide it. `next_id` counts the memories.
pub(crate) fn generate(random: &mut impl Dice, mix: Mix, model: &Model, next_id: &mut u64, now: i64) -> Step {
    let mut user = (*pick(random, &USERS[..mix.users])).to_owned();
    if mix.round > 0 {
        user = format!("{user} {}", mix.round);
    }
    let roll = random.below(100);
    let Some(id) = some_id(random, model, &user) else {
        return match roll {
            0..3 => Step::ForgetUser { user },
            3..6 => Step::Pause { user, on: roll == 3 },
            6..8 => Step::Forget { user, id: MemoryId::from_u128(7) },
            8..60 => remember(random, model, user, 1, next_id, now),
            _ => {
                let count = 1 + random.below(mix.batch_max);
                remember(random, model, user, count, next_id, now)
            }
        };
    };
    match roll {
        0..23 => remember(random, model, user, 1, next_id, now),
        26..36 => {
            let count = 1 + random.below(mix.batch_max);
            remember(random, model, user, count, next_id, now)
        }
        36..50 => update(random, user, id, next_id),
        50..57 => {
            *next_id += 1;
            Step::Correct { user, id, text: format!("correction {next_id}"), vector: vector(random) }
        }
        57..61 => Step::Confirm { user, id },
        61..65 => Step::Contradict { user, id },
        65..69 => {
            let mut ids = vec![id];
            ids.extend(some_id(random, model, &user).filter(|other| *other != id));
            Step::Used { user, ids }
        }
        69..85 => Step::Forget { user, id },
        85..89 => Step::ForgetUser { user },
        89..90 => Step::Pause { user, on: true },
        90..91 => Step::Pause { user, on: false },
        23 if mix.upkeep == Upkeep::All => Step::RotateUser { user },
        24 if mix.upkeep == Upkeep::All => Step::RotateMaster,
        92..98 if mix.upkeep == Upkeep::All => upkeep(random, model, user, roll),
        92..98 if mix.upkeep == Upkeep::Tidied => Step::Maintain,
        23..26 | 91..98 => Step::Flush,
        _ if mix.reopens => Step::Reopen,
        _ => Step::Flush,
    }
}

/// At times of a snapshot or a user that is not there.
fn upkeep(random: &mut impl Dice, model: &Model, user: String, roll: u64) -> Step {
    let snapshots: Vec<MemoryId> = model.snapshots.iter().map(|copied| copied.id).collect();
    match roll {
        92..95 if !snapshots.is_empty() => Step::Restore { user, snapshot: *pick(random, &snapshots) },
        92..96 if snapshots.len() < SNAPSHOTS_MAX => Step::Snapshot,
        _ => Step::Maintain,
    }
}

fn some_id(random: &mut impl Dice, model: &Model, user: &str) -> Option<MemoryId> {
    let rows = &model.get(user)?.rows;
    if rows.is_empty() {
        return None;
    }
    let at = random.below(rows.len() as u64) as usize;
    rows.keys().nth(at).copied()
}

fn remember(random: &mut impl Dice, model: &Model, user: String, count: u64, next_id: &mut u64, now: i64) -> Step {
    let mut rows = Vec::with_capacity(count as usize);
    for _ in 0..count {
        *next_id += 1;
        let derived = random.below(5) == 0;
        let mut derived_from: Vec<MemoryId> =
            (0..2).filter(|_| derived).filter_map(|_| some_id(random, model, &user)).collect();
        derived_from.sort_unstable();
        derived_from.dedup();
        rows.push((MemoryId::from_u128(u128::from(*next_id)), new_row(random, *next_id, derived_from, now)));
    }
    Step::Remember { user, rows }
}

fn new_row(random: &mut impl Dice, number: u64, derived_from: Vec<MemoryId>, now: i64) -> Row {
    let created_at = now - DAY * random.below(400) as i64 + DAY * 5;
    let vector = if random.below(12) == 0 { None } else { Some(vector(random)) };
    Row {
        text: format!("memory {number} {}", "of some length ".repeat(random.below(4) as usize)),
        vector,
        importance: *pick(random, &[1.0, 0.5, 0.01, 0.0]),
        confidence: *pick(random, &[1.0, 0.7]),
        level: *pick(random, Sensitivity::ALL),
        status: StatusKind::Active,
        by: None,
        archived_at: None,
        pinned: random.below(8) == 0,
        created_at,
        used: (0, None),
        confirmed: (0, None),
        contradicted: 0,
        version: 1,
        tags: (0..random.below(2)).map(|_| format!("tag {}", random.below(3))).collect(),
        derived_from,
        changes: vec![now],
        trimmed: 0,
    }
}

fn update(random: &mut impl Dice, user: String, id: MemoryId, next_id: &mut u64) -> Step {
    *next_id += 1;
    let text = (random.below(2) == 0).then(|| format!("changed {next_id}"));
    let vector = (random.below(3) > 0).then(|| vector(random));
    Step::Update { user, id, text, vector, importance: *pick(random, &[0.9, 0.3]) }
}

/// A `remember_all` of so many memories that were made of no others.
pub(crate) fn some_rows(random: &mut impl Dice, user: &str, count: u64, next_id: &mut u64, now: i64) -> Step {
    remember(random, &Model::new(), user.to_owned(), count, next_id, now)
}
