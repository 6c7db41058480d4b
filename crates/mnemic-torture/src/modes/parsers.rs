//! Bytes from outside: an answer or a typed error, never a panic, never much memory.

use mnemic::memory::{MemoryId, Sensitivity, Timestamp};
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{ErrorKind, Query, Receipt, Store};

use super::damage::{read_file, write_file};
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{DIMS, Game, Setting, pick};

/// What one parser may take.
const ALLOCATION_MAX: usize = 64 << 20;
/// Inputs of one case: files, and texts for each of them.
const FILES: u64 = 40;
const TEXTS: u64 = 2_000;
/// Inputs for each of the inner parsers, and changed exports.
const INNER: u64 = 20;
const EXPORTS: u64 = 10;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting::durable(1);
    let mut game = Game::new(case.seed, setting)?;
    game.fill("ada", 3)?;
    let store = Setting::durable(1).open(&RecordingFs::new(), 5).say("another store")?;
    let mut export = Vec::new();
    game.store.user("ada").say("user")?.with_level(Sensitivity::Secret).export(&mut export).say("export")?;
    game.store.close().say("close")?;
    let samples = samples(&game.fs, &export)?;
    let names: &[&str] = &["MANIFEST", "KEYRING", "MASTERKEY", "shards/00.redb"];
    for _ in 0..FILES {
        let image = game.fs.snapshot();
        let file = *pick(&mut case.random, names);
        let mut bytes = read_file(&image, file)?;
        mutate(&mut case.random, &mut bytes);
        write_file(&image, file, &bytes)?;
        let peak = capped(|| open(setting, &image, file))?;
        ensure!(peak <= ALLOCATION_MAX, "{file}: {peak} bytes were allocated to read it");
        case.pass();
        for _ in 0..TEXTS {
            text(&mut case.random)?;
        }
        case.pass_many(TEXTS);
        for (name, parse) in mnemic::PARSERS {
            let peak = capped(|| {
                for _ in 0..INNER {
                    let mut bytes = pick(&mut case.random, &samples).clone();
                    mutate(&mut case.random, &mut bytes);
                    parse(&bytes);
                }
                Ok(())
            })?;
            ensure!(peak <= ALLOCATION_MAX, "{name}: {peak} bytes were allocated to read it");
            case.pass_many(INNER);
        }
        for _ in 0..EXPORTS {
            import(&mut case.random, &store, &export)?;
        }
        case.pass_many(EXPORTS);
        if case.is_over() {
            break;
        }
    }
    Ok(())
}

/// What stored and exported bytes look like, in pieces, and noise that begins as they do.
fn samples(fs: &RecordingFs, export: &[u8]) -> Check<Vec<Vec<u8>>> {
    let mut samples = vec![export.to_vec()];
    samples.extend(export.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    for file in ["MANIFEST", "KEYRING"] {
        let bytes = read_file(fs, file)?;
        samples.extend(bytes.chunks(4096).take(6).map(<[u8]>::to_vec));
        samples.extend(bytes.chunks(256).skip(64).take(2).map(<[u8]>::to_vec));
    }
    samples.extend((0..4u8).map(|first| vec![first; 200]));
    samples.extend([b"MNF\0".to_vec(), b"MNEMIC\0S\0".repeat(20), [1, 0, 0, 0].repeat(80)]);
    Ok(samples)
}

/// A changed export is refused, or taken as what it says.
fn import(random: &mut SplitMix64, store: &Store, export: &[u8]) -> Check {
    let mut bytes = export.to_vec();
    mutate(random, &mut bytes);
    let peak = capped(|| {
        let outcome = store.user("eve").say("user")?.import(&mut std::io::Cursor::new(&bytes));
        typed("import", outcome.err().map(|error| error.kind()))
    })?;
    ensure!(peak <= ALLOCATION_MAX, "import: {peak} bytes were allocated to read it");
    let odd: String = bytes.iter().take(220).map(|byte| char::from(byte % 128)).collect();
    if let Ok(receipt) = format!("mnemic-receipt-{odd}").parse::<Receipt>() {
        let again = receipt.to_string().parse::<Receipt>();
        ensure!(again.is_ok_and(|again| again == receipt), "{receipt} is not read back");
    }
    Ok(())
}

/// Bytes allocated beyond those before, at most; jobs beside it count too.
fn capped(call: impl FnOnce() -> Check) -> Check<usize> {
    let before = crate::ALLOCATOR.max_allocated();
    let now = crate::ALLOCATOR.allocated();
    call()?;
    let peak = crate::ALLOCATOR.max_allocated();
    Ok(if peak > before { peak.saturating_sub(now) } else { 0 })
}

fn open(setting: Setting, image: &RecordingFs, file: &str) -> Check {
    match setting.open(image, 7) {
        Ok(store) => {
            let user = store.user("ada").say("user")?;
            for outcome in [user.stats().map(drop), user.recall(Query::vector(vec![1.0; DIMS])).map(drop)] {
                typed(file, outcome.err().map(|error| error.kind()))?;
            }
            Ok(())
        }
        Err(error) => typed(file, Some(error.kind())),
    }
}

fn typed(what: &str, kind: Option<ErrorKind>) -> Check {
    let fits = kind.is_none_or(|kind| {
        matches!(
            kind,
            ErrorKind::Corrupt | ErrorKind::Denied | ErrorKind::Unsupported | ErrorKind::Invalid | ErrorKind::Io
        )
    });
    ensure!(fits, "{what}: {kind:?}");
    Ok(())
}

fn mutate(random: &mut SplitMix64, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(6) {
        let len = bytes.len().max(1) as u64;
        // Heads of files hold their lengths.
        let reach = if random.below(2) == 0 { len.min(256) } else { len };
        let at = random.below(reach) as usize;
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes
                .splice(at.min(bytes.len())..at.min(bytes.len()), (0..random.below(20)).map(|_| 0xff))
                .for_each(drop),
            2 if at + 4 <= bytes.len() => {
                let number = *pick(random, &[0u32, 1, 0x7fff_ffff, u32::MAX, 1 << 30, 4096]);
                bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
            3 if at + 8 <= bytes.len() => bytes[at..at + 8].fill(0xff),
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}

/// Ids and times read what they show, and refuse the rest without a panic.
fn text(random: &mut SplitMix64) -> Check {
    let id = MemoryId::from_u128(u128::from(random.next_u64()) << 64 | u128::from(random.next_u64()));
    ensure!(id.to_string().parse::<MemoryId>().is_ok_and(|read| read == id), "{id} is not read back");
    let micros = random.next_u64() as i64 >> random.below(60);
    let time = Timestamp::from_micros(micros);
    ensure!(time.to_string().parse::<Timestamp>().is_ok_and(|read| read == time), "{time} is not read back");
    let from = ["0123456789abcdef", "2026-01-31T08:00:00Z", "-+:.us TZé\u{0}[]", "9999999999999999999"];
    let alphabet: Vec<char> = pick(random, &from).chars().collect();
    let odd: String = (0..random.below(40)).map(|_| *pick(random, &alphabet)).collect();
    if let Ok(id) = odd.parse::<MemoryId>() {
        ensure!(id.to_string().replace('-', "") == odd.replace('-', "").to_lowercase(), "{odd:?} is read as {id}");
    }
    if let Ok(time) = odd.parse::<Timestamp>() {
        ensure!(time.to_string().parse::<Timestamp>().is_ok_and(|read| read == time), "{odd:?} is read as {time}");
    }
    Ok(())
}
