//! A forgetting, cut off at each operation: done or not done, and done for good.

use std::collections::BTreeSet;

use mnemic::memory::{Evidence, MemoryId, NewMemory, Sensitivity};
use mnemic::world::testing::{CrashChoice, RecordingFs};
use mnemic::{ErrorKind, Hit, ListOptions, Query, Receipt, Store, Verdict};

use super::damage::{read_file, write_file};
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{DIMS, Game, Mix, Setting, Step, Upkeep, UserState, closure_of, vector};

const KEYRING: &str = "KEYRING";
/// Bytes of a page of the KEYRING, and where its slots begin.
const PAGE: usize = 4096;
const SLOTS: usize = 4 * PAGE;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting { every: None, ..Setting::random(&mut case.random) };
    let mut game = Game::new(case.seed, setting)?;
    if case.below(4) == 0 {
        game.fill("ada", 250)?;
    }
    game.fill("ada", 12)?;
    game.play_random(Mix { batch_max: 6, users: 2, reopens: true, upkeep: Upkeep::All, round: 0 }, 8)?;
    game.play(&Step::Pause { user: "ada".to_owned(), on: false })?;
    if case.below(3) > 0 {
        game.play(&Step::Snapshot)?;
    }
    game.fill("ada", 2)?;
    let state = game.model["ada"].clone();
    let whole_user = case.below(3) == 0;
    let ids: Vec<MemoryId> = state.rows.keys().copied().collect();
    let id = ids[case.below(ids.len() as u64) as usize];
    let gone = if whole_user { ids.into_iter().collect() } else { closure_of(&state.rows, id) };
    let user = "ada".to_owned();
    let step = if whole_user { Step::ForgetUser { user } } else { Step::Forget { user, id } };
    let mut export = Vec::new();
    let ada = game.store.user("ada").say("user")?.with_level(Sensitivity::Secret);
    ada.export(&mut export).say("export")?;
    drop(ada);
    let (before, keyring) = (game.fs.op_count(), read_file(&game.fs, KEYRING)?);
    let receipt = game.play(&step)?.forgotten.ok_or("no answer to a forgetting")?.receipt().clone();
    let forgotten = Forgotten { setting, state, gone, whole_user, keyring, receipt, export };
    let (fs, ops, after) = (game.fs.clone(), game.fs.op_count(), game.fs.snapshot());
    forgotten.check_gone(&game.store, true).map_err(|says| format!("{}: {says}", step.name()))?;
    std::mem::forget(game.store);
    for op in before..=ops {
        for choice in CrashChoice::mix(case.random.next_u64(), 4) {
            let says = |says| format!("{} cut at op {op} of {before}..={ops} ({choice:?}): {says}", step.name());
            forgotten.check_image(&fs.crash_image(op, choice), op == ops, case.seed).map_err(says)?;
            case.pass();
            if case.is_over() {
                return Ok(());
            }
        }
    }
    for copy in 0..2 {
        forgotten.check_lost_copy(&after, copy, case.seed).map_err(|says| format!("{}: {says}", step.name()))?;
    }
    forgotten.check_replay(&after, case.seed).map_err(|says| format!("{}: {says}", step.name()))?;
    case.pass_many(3);
    Ok(())
}

/// What was forgotten, and what there was before.
struct Forgotten {
    setting: Setting,
    state: UserState,
    gone: BTreeSet<MemoryId>,
    whole_user: bool,
    keyring: Vec<u8>,
    receipt: Receipt,
    export: Vec<u8>,
}

impl Forgotten {
    fn check_image(&self, image: &RecordingFs, acknowledged: bool, seed: u64) -> Check {
        let store = self.setting.open(image, seed ^ 2).say("does not open")?;
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        let kept = self.gone.iter().filter(|id| user.get(**id).is_ok()).count();
        ensure!(kept == 0 || kept == self.gone.len(), "{kept} of {} are left", self.gone.len());
        if kept == 0 {
            self.check_undo(&store)?;
            self.check_import(&store)?;
        }
        ensure!(kept == 0 || !acknowledged, "what was forgotten is there");
        self.check_receipt(&store, kept == 0)?;
        if kept == 0 {
            self.check_gone(&store, true)?;
            store.close().say("close")?;
            drop(store);
            let store = self.setting.open(image, seed ^ 3).say("second open")?;
            self.check_gone(&store, false).map_err(|says| format!("second open: {says}"))?;
        }
        Ok(())
    }

    /// An export of before does not bring it back, and finds all the rest there.
    fn check_import(&self, store: &Store) -> Check {
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        let done = user.import(&mut std::io::Cursor::new(&self.export)).say("import")?;
        let refused = if self.whole_user { self.state.rows.len() } else { self.gone.len() } as u64;
        ensure!(done.own && done.stored == 0 && done.refused == refused, "import: {done:?}, should refuse {refused}");
        ensure!(!self.gone.iter().any(|id| user.get(*id).is_ok()), "an import brings back what was forgotten");
        Ok(())
    }

    /// The receipt holds where it is gone and breaks where it is not; a changed one is none.
    fn check_receipt(&self, store: &Store, gone: bool) -> Check {
        let verdict = store.verify_receipt(&self.receipt).say("verify_receipt")?;
        let right = if gone { verdict == Verdict::Holds } else { matches!(verdict, Verdict::Broken(_)) };
        ensure!(right, "gone {gone}, and the receipt: {verdict:?}");
        let mut text = self.receipt.to_string();
        let last = text.pop();
        text.push(if last == Some('0') { '1' } else { '0' });
        let forged = store.verify_receipt(&text.parse::<Receipt>().say("a changed receipt")?).say("verify_receipt")?;
        ensure!(forged == Verdict::Forged, "a changed receipt: {forged:?}");
        Ok(())
    }

    /// No snapshot brings it back; each still has the rest of the user.
    fn check_undo(&self, store: &Store) -> Check {
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        for snapshot in store.snapshots().say("snapshots")? {
            let done = match store.restore_user(snapshot.id, "ada") {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => other.say("restore")?,
            };
            ensure!(done.damaged == 0, "restore: {done:?}");
            let back = self.gone.iter().find(|id| user.get(**id).is_ok());
            ensure!(back.is_none(), "a snapshot brings back what was forgotten");
        }
        Ok(())
    }

    /// Nothing tells of it; the rest is there; it may be stated again, and where the user stayed not inferred.
    fn check_gone(&self, store: &Store, first: bool) -> Check {
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        let stayed = if self.whole_user { 0 } else { self.state.rows.len() - self.gone.len() };
        let page = user.list(ListOptions::new().limit(usize::MAX)).say("list")?;
        let extra = if first { 0 } else { self.gone.len().min(1) };
        ensure!(page.damaged.is_empty() && page.total == stayed + extra, "{} stayed, not {stayed}", page.total);
        let query = Query::vector(vec![0.5; DIMS]).limit(usize::MAX);
        let hits = user.recall(&query).say("recall")?;
        ensure!(!hits.iter().map(Hit::id).any(|id| self.gone.contains(&id)), "recall finds what was forgotten");
        for id in &self.gone {
            let missing = |error: mnemic::Error| error.kind() == ErrorKind::NotFound;
            ensure!(user.get(*id).is_err_and(missing), "get finds it");
            ensure!(user.history(*id).is_err_and(missing), "history finds it");
        }
        let Some(row) = self.gone.iter().next().map(|id| &self.state.rows[id]).filter(|_| first) else { return Ok(()) };
        let again = || NewMemory::note(format!(" {} ", row.text.to_uppercase())).vector(vec![0.5; DIMS]);
        if !self.whole_user {
            let inferred = user.remember(again().evidence(Evidence::Inferred));
            let refused = inferred.as_ref().is_err_and(|error| error.kind() == ErrorKind::Denied);
            ensure!(refused, "what was forgotten came back by inference: {inferred:?}");
        }
        user.remember(again()).say("stating it again").map(drop)
    }

    /// Either copy of the slots is damaged afterwards: what was forgotten stays so, and the user can go on.
    fn check_lost_copy(&self, fs: &RecordingFs, copy: usize, seed: u64) -> Check {
        let image = fs.snapshot();
        let mut keyring = read_file(&image, KEYRING)?;
        let pages: Vec<usize> = (SLOTS..keyring.len()).step_by(PAGE).skip(copy).step_by(2).collect();
        for page in pages {
            keyring[page..page + PAGE].fill(0x5a);
        }
        write_file(&image, KEYRING, &keyring)?;
        let store = self.setting.open(&image, seed ^ 4).say("without a copy of the slots")?;
        self.check_gone(&store, true).map_err(|says| format!("without copy {copy} of the slots: {says}"))
    }

    /// The KEYRING of before is put back: whatever it answers, not what was forgotten.
    fn check_replay(&self, fs: &RecordingFs, seed: u64) -> Check {
        let image = fs.snapshot();
        write_file(&image, KEYRING, &self.keyring)?;
        let Ok(store) = self.setting.open(&image, seed ^ 5) else { return Ok(()) };
        let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
        let found = self.gone.iter().any(|id| user.get(*id).is_ok());
        ensure!(!found, "an older KEYRING brings it back");
        let verdict = store.verify_receipt(&self.receipt).say("verify_receipt")?;
        ensure!(matches!(verdict, Verdict::Broken(_)), "the receipt after an older KEYRING: {verdict:?}");
        let mut random = mnemic::world::testing::SplitMix64::new(seed);
        let new = NewMemory::note("after the replay").vector(vector(&mut random));
        let kind = user.remember(new).err().map(|error| error.kind());
        ensure!(matches!(kind, None | Some(ErrorKind::Corrupt)), "after an older KEYRING: {kind:?}");
        Ok(())
    }
}
