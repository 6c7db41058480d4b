//! Wrong, missing, cut and swapped keys; nonces are never used twice.

use std::collections::HashMap;

use mnemic::world::testing::{CrashChoice, RecordingFs, SplitMix64, TestWorld};
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
    rotations(case, setting)?;
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

/// A new master key, cut off at each operation: one of the two opens the store, and from then on no other does.
fn rotations(case: &mut Case<'_>, setting: Setting) -> Check {
    let setting = Setting { shards: 1, ..setting };
    let fs = RecordingFs::new();
    let key = |number: u64| match number {
        0 => MasterKey::local_file(),
        number => MasterKey::callback(move || Ok([number as u8; 32])),
    };
    let open = |fs: &RecordingFs, number: u64| -> Result<Store> {
        setting.builder(&TestWorld::with_fs(number ^ 9, fs.clone())).master_key(key(number)).open()
    };
    let (old, new) = (case.below(3), case.below(3));
    let store = open(&fs, old).say("creation")?;
    let user = store.user("ada").say("user")?;
    let id = user.remember(mnemic::memory::NewMemory::note("stays")).say("remember")?;
    let replayed = Some(read_file(&fs, "MASTERKEY")?).filter(|key| !key.is_empty());
    let before = fs.op_count();
    store.rotate_keys(&key(new)).say("rotate_keys")?;
    let ops = fs.op_count();
    ensure!(user.get(id).is_ok(), "gone after the change");
    std::mem::forget(store);
    for op in before..=ops {
        for choice in CrashChoice::mix(case.random.next_u64(), 4) {
            let says =
                |says: String| format!("key {old} to {new}, cut at {op} of {before}..={ops} ({choice:?}): {says}");
            let image = fs.crash_image(op, choice);
            let first = open(&image, new);
            ensure!(first.is_ok() || op < ops, "{}", says(format!("the new key: {first:?}")));
            let in_force = if first.is_ok() { new } else { old };
            let store = match first {
                Ok(store) => store,
                Err(_) => open(&image, in_force).say("neither key opens it").map_err(says)?,
            };
            ensure!(store.user("ada").say("user")?.get(id).is_ok(), "{}", says("gone".to_owned()));
            // What the open made durable: a clean close writes the header anew.
            std::mem::forget(store);
            let settled = image.crash_image(image.op_count(), CrashChoice::None);
            only_one_opens(&settled, &open, in_force, replayed.as_ref()).map_err(says)?;
            case.pass();
        }
    }
    Ok(())
}

/// Neither copy of the header opens with another key, and no other key lies about.
fn only_one_opens(
    fs: &RecordingFs,
    open: &dyn Fn(&RecordingFs, u64) -> Result<Store>,
    right: u64,
    replayed: Option<&Vec<u8>>,
) -> Check {
    ensure!(read_file(fs, "MASTERKEY.new")?.is_empty(), "a second key file is left");
    ensure!(right == 0 || read_file(fs, "MASTERKEY")?.is_empty(), "a key file is left");
    for copy in 0..2 {
        for number in 0..3 {
            let image = fs.snapshot();
            let mut keyring = read_file(&image, "KEYRING")?;
            keyring[4096 * copy..4096 * (copy + 1)].fill(0x5a);
            write_file(&image, "KEYRING", &keyring)?;
            if let (0, Some(key)) = (number, replayed.filter(|_| right != 0)) {
                write_file(&image, "MASTERKEY", key)?;
            }
            let opened = open(&image, number).is_ok();
            ensure!(opened == (number == right), "without header copy {copy}, key {number} opens: {opened}");
        }
    }
    Ok(())
}
