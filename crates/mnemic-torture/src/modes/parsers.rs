//! Bytes from outside: an answer or a typed error, never a panic, never much memory.

use mnemic::memory::{MemoryId, Timestamp};
use mnemic::world::testing::{RecordingFs, SplitMix64};
use mnemic::{ErrorKind, Query};

use super::damage::{read_file, write_file};
use crate::check::{Check, Say, ensure};
use crate::runner::Case;
use crate::work::{DIMS, Game, Setting, pick};

/// What one parser may take.
const ALLOCATION_MAX: usize = 64 << 20;
/// Inputs of one case: files, and texts for each of them.
const FILES: u64 = 40;
const TEXTS: u64 = 2_000;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting::durable(1);
    let mut game = Game::new(case.seed, setting)?;
    game.fill("ada", 3)?;
    game.store.close().say("close")?;
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
        if case.is_over() {
            break;
        }
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
