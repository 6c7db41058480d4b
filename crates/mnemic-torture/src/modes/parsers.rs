//! Bytes from outside: an answer or a typed error, never a panic, never much memory.

use mnemic::Store;
use mnemic::memory::{MemoryId, Sensitivity, Timestamp};
use mnemic::world::testing::{RecordingFs, SplitMix64};

use super::damage::{read_file, write_file};
use crate::check::{Check, Say, ensure};
use crate::fuzz::{mutate, read_back};
use crate::meter::capped;
use crate::runner::Case;
use crate::work::{Game, Setting, pick};

/// Inputs of one case: files, and texts for each of them.
const FILES: u64 = 40;
const TEXTS: u64 = 2_000;
/// Inputs for each of the inner parsers, changed exports, and inputs of the fuzz targets that work on a store.
const INNER: u64 = 20;
const EXPORTS: u64 = 10;
const QUERIES: u64 = 5;

pub(crate) fn run(case: &mut Case<'_>) -> Check {
    let setting = Setting::durable(1);
    let mut game = Game::new(case.seed, setting)?;
    game.fill("ada", 3)?;
    let store = Setting::durable(1).open(&RecordingFs::new(), 5).say("another store")?;
    let mut export = Vec::new();
    game.store.user("ada").say("user")?.with_level(Sensitivity::Secret).export(&mut export).say("export")?;
    game.store.close().say("close")?;
    let samples = Samples::of(&game.fs, &export)?;
    let names: &[&str] = &["MANIFEST", "KEYRING", "MASTERKEY", "shards/00.redb"];
    for _ in 0..FILES {
        let image = game.fs.snapshot();
        let file = *pick(&mut case.random, names);
        let mut bytes = read_file(&image, file)?;
        mutate(&mut case.random, &mut bytes);
        write_file(&image, file, &bytes)?;
        capped(file, || read_back(setting, &image, file))?;
        case.pass();
        for _ in 0..TEXTS {
            text(&mut case.random)?;
        }
        case.pass_many(TEXTS);
        parsers(case, &samples)?;
        for _ in 0..EXPORTS {
            import(&mut case.random, &store, &export)?;
        }
        for _ in 0..QUERIES {
            let choices: Vec<u8> = (0..40).map(|_| case.below(256) as u8).collect();
            crate::fuzz::check("filter", &choices)?;
        }
        case.pass_many(EXPORTS + QUERIES);
        if case.is_over() {
            break;
        }
    }
    Ok(())
}

/// Feeds every inner parser changed values of its own kind and of others.
fn parsers(case: &mut Case<'_>, samples: &Samples) -> Check {
    for (name, parse) in mnemic::PARSERS {
        capped(name, || {
            for _ in 0..INNER {
                let mut bytes = samples.of_parser(&mut case.random, name).clone();
                mutate(&mut case.random, &mut bytes);
                parse(&bytes).say(name)?;
            }
            Ok(())
        })?;
        case.pass_many(INNER);
    }
    Ok(())
}

/// What stored and exported bytes look like.
struct Samples {
    /// Whole values, by the parser that takes them.
    whole: Vec<(&'static str, Vec<u8>)>,
    /// Pieces, and noise that begins as values do.
    pieces: Vec<Vec<u8>>,
}

impl Samples {
    fn of(fs: &RecordingFs, export: &[u8]) -> Check<Self> {
        let mut pieces = vec![export.to_vec()];
        pieces.extend(export.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        for file in ["MANIFEST", "KEYRING"] {
            let bytes = read_file(fs, file)?;
            pieces.extend(bytes.chunks(4096).take(6).map(<[u8]>::to_vec));
            pieces.extend(bytes.chunks(256).skip(64).take(2).map(<[u8]>::to_vec));
        }
        pieces.extend((0..4u8).map(|first| vec![first; 200]));
        pieces.extend([b"MNF\x01".to_vec(), b"MNEMIC\0S\x01".repeat(20), [1, 0, 0, 0].repeat(80)]);
        Ok(Self { whole: mnemic::samples().say("samples")?, pieces })
    }

    /// Mostly a value of the parser's own.
    fn of_parser(&self, random: &mut SplitMix64, parser: &str) -> &Vec<u8> {
        let own: Vec<_> = self.whole.iter().filter(|(of, _)| *of == parser).collect();
        if own.is_empty() || random.below(4) == 0 { pick(random, &self.pieces) } else { &pick(random, &own).1 }
    }
}

/// A changed export is refused, or taken as what it says.
fn import(random: &mut SplitMix64, store: &Store, export: &[u8]) -> Check {
    let mut bytes = export.to_vec();
    mutate(random, &mut bytes);
    capped("import", || {
        let outcome = store.user("eve").say("user")?.import(&mut std::io::Cursor::new(&bytes));
        crate::fuzz::check_kind("import", outcome.err().map(|error| error.kind()))
    })
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
