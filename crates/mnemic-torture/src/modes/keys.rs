//! Wrong, missing, cut and swapped keys; nonces are never used twice.

use std::collections::HashMap;

use mnemic::world::testing::{RecordingFs, SplitMix64, TestWorld};
use mnemic::{ErrorKind, MasterKey, Result, Store};

use super::damage::{carve, read_file, write_file};
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{Game, Mix, Setting, Upkeep, check_store};

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting { every: None, ..Setting::random(&mut case.random) };
    let mut game = Game::new(case.seed, setting)?;
    game.fill("ada", if case.below(4) == 0 { 260 } else { 4 })?;
    game.play_random(Mix { batch_max: 6, users: 3, reopens: true, upkeep: Upkeep::All, round: 0 }, 12)?;
    game.store.close().say("close")?;
    let mut other = Game::new(case.seed ^ 0xff, setting)?;
    other.fill("ada", 3)?;
    other.store.close().say("close")?;
    nonces(case, &game.fs, setting.shards)?;
    for _ in 0..30 {
        let image = game.fs.snapshot();
        let says = spoil(&image, &other.fs, &mut case.random)?;
        match setting.open(&image, case.seed) {
            // All is there, or a user's slot is named.
            Ok(store) => match check_store(&store, &game.model) {
                Err(error) if !error.contains("corrupt (") => return Err(format!("{says}: {error}")),
                _ => {}
            },
            Err(error) => {
                let typed = matches!(error.kind(), ErrorKind::Denied | ErrorKind::Corrupt | ErrorKind::Unsupported);
                ensure!(typed, "{says}: {error:?}");
            }
        }
        case.pass();
    }
    callbacks(case, setting)?;
    setting.open(&game.fs, 3).say("the key that fits")?;
    Ok(())
}

/// Every sealed value that was ever written: one nonce, one value.
fn nonces(case: &Case<'_>, fs: &RecordingFs, shards: u32) -> Check {
    let mut seen: HashMap<[u8; 24], Vec<u8>> = HashMap::new();
    for shard in 0..shards {
        let bytes = read_file(fs, &format!("shards/{shard:02}.redb"))?;
        for frame in carve(&bytes) {
            let whole = bytes[frame.at..frame.end()].to_vec();
            // A page that redb has freed and used again in part holds the head of a frame, not all of it.
            let head = 6 + frame.key.len() + 36;
            let before = seen.entry(frame.nonce).or_insert_with(|| whole.clone());
            let same = before[..head.min(before.len())] == whole[..head];
            ensure!(same, "one nonce for two values of tables {} and {}", before[4], frame.table);
            case.pass();
        }
    }
    ensure!(seen.len() > 8, "only {} sealed values were found", seen.len());
    Ok(())
}

/// Does something to MASTERKEY or KEYRING; what.
fn spoil(image: &RecordingFs, other: &RecordingFs, random: &mut SplitMix64) -> Check<String> {
    let file = if random.below(3) == 0 { "MASTERKEY" } else { "KEYRING" };
    let mut bytes = read_file(image, file)?;
    let len = bytes.len() as u64;
    let what = match random.below(5) {
        0 => {
            bytes.truncate(random.below(len) as usize);
            format!("cut to {} bytes", bytes.len())
        }
        1 => {
            bytes = read_file(other, file)?;
            "of another store".to_owned()
        }
        2 => {
            let at = random.below(len) as usize;
            bytes[at] ^= 1 << random.below(8);
            format!("with a changed byte {at}")
        }
        3 => {
            // The header's copies, one or both.
            let (from, to) = if random.below(2) == 0 { (0, 4096) } else { (0, 8192) };
            let to = to.min(bytes.len());
            bytes[from..to].fill(random.below(256) as u8);
            format!("with bytes {from}..{to} filled")
        }
        _ => {
            bytes.extend((0..random.below(5000)).map(|_| 7));
            "with bytes behind it".to_owned()
        }
    };
    write_file(image, file, &bytes)?;
    Ok(format!("{file} {what}"))
}

/// A key that the caller brings: only the one of creation opens.
fn callbacks(case: &mut Case<'_>, setting: Setting) -> Check {
    let fs = RecordingFs::new();
    let (right, wrong) = (case.below(256) as u8, case.below(255) as u8);
    let open = |key: u8, seed: u64| -> Result<Store> {
        let world = TestWorld::with_fs(seed, fs.clone());
        setting.builder(&world).master_key(MasterKey::callback(move || Ok([key; 32]))).open()
    };
    drop(open(right, 1).say("creation with a callback")?);
    match open(wrong, 2) {
        Ok(_) => ensure!(wrong == right, "a wrong key opens the store"),
        Err(error) => ensure!(wrong != right && error.kind() == ErrorKind::Denied, "wrong key: {error:?}"),
    }
    let local = setting.open(&fs, 3);
    ensure!(local.is_err_and(|error| error.kind() == ErrorKind::Denied), "a store with a callback opens without it");
    let world = TestWorld::with_fs(4, fs.clone());
    let failing = setting.builder(&world).master_key(MasterKey::callback(|| Err("key service is away".to_owned())));
    ensure!(failing.open().is_err_and(|error| error.kind() == ErrorKind::Denied), "a failing callback opens the store");
    open(right, 5).say("the right key after wrong ones")?;
    case.pass_many(4);
    Ok(())
}
