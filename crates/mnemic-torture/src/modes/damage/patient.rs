use std::collections::BTreeMap;
use std::path::Path;

use mnemic::ListOptions;
use mnemic::memory::Sensitivity;
use mnemic::world::FileSystem;
use mnemic::world::testing::{RecordingFs, SplitMix64};

use super::bytes::write;
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{Game, Mix, Model, PATH, Setting, Upkeep, pick};

/// Bytes of RESERVE: enough to be there.
const RESERVE: u64 = 8192;

/// A closed store that is about to be damaged, with what it held before and what it should hold.
pub(super) struct Patient {
    pub(super) setting: Setting,
    pub(super) closed: RecordingFs,
    /// The same store at an earlier clean close.
    pub(super) older: RecordingFs,
    /// Another store.
    pub(super) other: RecordingFs,
    pub(super) model: Model,
    pub(super) now: i64,
    shards: Vec<String>,
    files: Vec<String>,
    shard_of: BTreeMap<String, String>,
}

impl Patient {
    pub(super) fn prepare(case: &mut Case<'_>) -> Check<Self> {
        let setting = Setting { reserve_bytes: RESERVE, ..Setting::durable(1 + case.below(3) as u32) };
        let mut game = Game::new(case.seed, setting)?;
        let mix = Mix { batch_max: 8, users: 4, reopens: true, upkeep: Upkeep::No, round: 0 };
        if case.below(8) > 0 {
            game.play_random(mix, 8)?;
            if case.below(3) > 0 {
                game.fill("ada", 258)?;
            }
        }
        game.play(&crate::work::Step::Pause { user: "ada".to_owned(), on: false })?;
        game.play(&crate::work::Step::Reopen)?;
        let older = game.fs.snapshot();
        game.play_random(mix, 10)?;
        for user in ["ada", "bob", "cyd", "dan"] {
            game.play(&crate::work::Step::Pause { user: user.to_owned(), on: false })?;
            game.fill(user, 3)?;
        }
        game.store.close().say("close")?;
        let mut other = Game::new(case.seed ^ 1, setting)?;
        other.fill("ada", 5)?;
        other.store.close().say("close")?;
        let (now, closed, model) = (game.now, game.fs.snapshot(), game.model.clone());
        drop(game.store);
        let shards = (0..setting.shards).map(|number| format!("shards/{number:02}.redb")).collect();
        let mut patient = Self {
            setting,
            closed,
            older,
            other: other.fs.snapshot(),
            model,
            now,
            shards,
            files: Vec::new(),
            shard_of: BTreeMap::new(),
        };
        patient.look()?;
        Ok(patient)
    }

    /// Finds the files, and which shard each user is in.
    fn look(&mut self) -> Check {
        let names = self.closed.list(Path::new(PATH)).say("list")?;
        self.files = names.into_iter().filter(|name| !matches!(name.as_str(), "shards" | "snapshots")).collect();
        for shard in &self.shards {
            let image = self.closed.snapshot();
            write(&image, shard, &[])?;
            let store = self.setting.open(&image, 1).say("with an empty shard")?;
            for user in self.model.keys() {
                let handle = store.user(user).say("user")?.with_level(Sensitivity::Secret);
                if handle.list(ListOptions::new().limit(1)).is_err() {
                    self.shard_of.insert(user.clone(), shard.clone());
                }
            }
        }
        ensure!(self.shard_of.len() == self.model.len(), "an empty shard was not noticed by all of its users");
        Ok(())
    }

    /// A file to damage: mostly a shard.
    pub(super) fn some_file(&self, random: &mut SplitMix64) -> String {
        let from = if random.below(10) < 7 { &self.shards } else { &self.files };
        pick(random, from).clone()
    }

    /// Whether damage of `file` may concern `user`.
    pub(super) fn concerns(&self, file: &str, user: &str) -> bool {
        match file {
            "LOCK" | "RESERVE" => false,
            shard if shard.starts_with("shards/") => self.shard_of.get(user).is_none_or(|of| of == shard),
            _ => true,
        }
    }

    /// Whether damage of `file` may keep the store from opening.
    pub(super) fn may_refuse(file: &str) -> bool {
        matches!(file, "MANIFEST" | "KEYRING" | "MASTERKEY")
    }
}
