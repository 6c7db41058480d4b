//! Damaged files: a right answer, a typed error, or an answer that names the damage.

mod bytes;
mod mended;
mod patient;
mod probe;

use bytes::{Frame, PAGE_BYTES, frames, read, write};
use patient::Patient;

use mnemic::world::testing::{RecordingFs, SplitMix64};

use crate::check::Check;
use crate::runner::Case;
use crate::work::pick;

pub(crate) use bytes::{frames as carve, read as read_file, write as write_file};

/// Tables, by the codes in their frames.
const KEYS: u8 = 1;
const RECORDS: u8 = 2;

/// Damages of one store.
const DAMAGES: u64 = 250;

/// Bit flips, replayed values and pages, swaps between users.
pub(crate) fn flips(case: &mut Case<'_>) -> Check {
    let patient = Patient::prepare(case)?;
    treat(case, &patient, flip)
}

/// Files cut, padded, zeroed, swapped, or older.
pub(crate) fn cuts(case: &mut Case<'_>) -> Check {
    let patient = Patient::prepare(case)?;
    treat(case, &patient, cut)
}

/// What was done to which files.
struct Wound {
    files: Vec<String>,
    says: String,
    /// How many memories a repair may lose or bring back older, where that is known.
    most: Option<usize>,
}

impl Wound {
    fn new(file: &str, says: String) -> Self {
        Self { files: vec![file.to_owned()], says, most: None }
    }

    /// In so many values of one table. What hangs on a key of many values is not counted.
    fn in_values(self, table: u8, values: usize) -> Self {
        let most = match table {
            KEYS => None,
            RECORDS => Some(values),
            _ => Some(0),
        };
        Self { most, ..self }
    }
}

fn treat(
    case: &mut Case<'_>,
    patient: &Patient,
    hurt: fn(&Patient, &RecordingFs, &mut SplitMix64) -> Check<Option<Wound>>,
) -> Check {
    for _ in 0..DAMAGES {
        let image = patient.closed.snapshot();
        let Some(wound) = hurt(patient, &image, &mut case.random)? else { continue };
        let (writes, repairs) = (case.below(6) == 0, case.below(4) == 0);
        match crate::runner::run_contained(|| {
            probe::probe(patient, &image, &wound.files, writes, repairs.then_some(mended::Bound(wound.most)))
        }) {
            Ok(()) => case.pass(),
            Err(says) => return Err(format!("{} ({} shards): {says}", wound.says, patient.setting.shards)),
        }
        if case.is_over() {
            break;
        }
    }
    Ok(())
}

fn flip(patient: &Patient, image: &RecordingFs, random: &mut SplitMix64) -> Check<Option<Wound>> {
    let file = patient.some_file(random);
    let mut bytes = read(image, &file)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let sealed = frames(&bytes);
    let wound = match random.below(12) {
        0..4 => Some(flip_bit(&file, &mut bytes, random)),
        4..7 if !sealed.is_empty() => Some(flip_in_frame(&file, &mut bytes, &sealed, random)),
        7..9 if !sealed.is_empty() => replay(patient, &file, &mut bytes, &sealed, random)?,
        9 if sealed.len() > 1 => swap_frames(&file, &mut bytes, &sealed, random),
        10 => old_page(patient, &file, &mut bytes, random)?,
        _ => swap_pages(&file, &mut bytes, random),
    };
    write(image, &file, &bytes)?;
    Ok(wound)
}

fn flip_bit(file: &str, bytes: &mut [u8], random: &mut SplitMix64) -> Wound {
    let at = random.below(bytes.len() as u64) as usize;
    let bit = random.below(8);
    bytes[at] ^= 1 << bit;
    Wound::new(file, format!("bit {bit} of byte {at} of {file} flipped"))
}

fn flip_in_frame(file: &str, bytes: &mut [u8], sealed: &[Frame], random: &mut SplitMix64) -> Wound {
    let frame = pick(random, sealed);
    let at = frame.at + random.below(frame.len as u64) as usize;
    bytes[at] ^= 1 << random.below(8);
    Wound::new(file, format!("byte {at} of {file} changed, in a frame of table {}", frame.table))
        .in_values(frame.table, 1)
}

/// An older value of the same table and key in place of the newer one.
fn replay(
    patient: &Patient,
    file: &str,
    bytes: &mut [u8],
    sealed: &[Frame],
    random: &mut SplitMix64,
) -> Check<Option<Wound>> {
    let old = read(&patient.older, file)?;
    let mut before = frames(&old);
    // Pages that redb has freed hold older values too.
    before.retain(|frame| frame.end() <= old.len());
    let fits = |new: &Frame, frame: &Frame| {
        frame.key == new.key && frame.table == new.table && frame.len == new.len && frame.version < new.version
    };
    let pairs: Vec<(&Frame, &Frame)> =
        sealed.iter().flat_map(|new| before.iter().filter(|f| fits(new, f)).map(move |f| (new, f))).collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    let (new, frame) = *pick(random, &pairs);
    let stale = old[frame.at..frame.end()].to_vec();
    // Every copy, so that the live one is among them.
    for copy in sealed.iter().filter(|copy| copy.key == new.key && copy.table == new.table && copy.len == new.len) {
        bytes[copy.at..copy.end()].copy_from_slice(&stale);
    }
    let says = format!("value of table {} of commit {} replayed over {}", new.table, frame.version, new.version);
    Ok(Some(Wound::new(file, format!("{file}: {says}")).in_values(new.table, 1)))
}

fn swap_frames(file: &str, bytes: &mut [u8], sealed: &[Frame], random: &mut SplitMix64) -> Option<Wound> {
    let one = pick(random, sealed);
    let alike: Vec<&Frame> =
        sealed.iter().filter(|f| f.len == one.len && f.key != one.key && f.table == one.table).collect();
    if alike.is_empty() {
        return None;
    }
    let other = *pick(random, &alike);
    let (a, b) = (bytes[one.at..one.end()].to_vec(), bytes[other.at..other.end()].to_vec());
    bytes[one.at..one.end()].copy_from_slice(&b);
    bytes[other.at..other.end()].copy_from_slice(&a);
    let says = format!("frames of table {} at {} and {} of {file} swapped", one.table, one.at, other.at);
    Some(Wound::new(file, says).in_values(one.table, 2))
}

fn old_page(patient: &Patient, file: &str, bytes: &mut [u8], random: &mut SplitMix64) -> Check<Option<Wound>> {
    let old = read(&patient.older, file)?;
    let pages = bytes.len().min(old.len()) / PAGE_BYTES;
    let differ: Vec<usize> = (0..pages)
        .map(|page| page * PAGE_BYTES)
        .filter(|at| bytes[*at..at + PAGE_BYTES] != old[*at..at + PAGE_BYTES])
        .collect();
    if differ.is_empty() {
        return Ok(None);
    }
    let at = *pick(random, &differ);
    bytes[at..at + PAGE_BYTES].copy_from_slice(&old[at..at + PAGE_BYTES]);
    Ok(Some(Wound::new(file, format!("page at {at} of {file} replaced by an older one"))))
}

fn swap_pages(file: &str, bytes: &mut [u8], random: &mut SplitMix64) -> Option<Wound> {
    let pages = (bytes.len() / PAGE_BYTES) as u64;
    let (a, b) = (random.below(pages) as usize * PAGE_BYTES, random.below(pages) as usize * PAGE_BYTES);
    if pages < 2 || bytes[a..a + PAGE_BYTES] == bytes[b..b + PAGE_BYTES] {
        return None;
    }
    let page = bytes[a..a + PAGE_BYTES].to_vec();
    bytes.copy_within(b..b + PAGE_BYTES, a);
    bytes[b..b + PAGE_BYTES].copy_from_slice(&page);
    Some(Wound::new(file, format!("pages at {a} and {b} of {file} swapped")))
}

fn cut(patient: &Patient, image: &RecordingFs, random: &mut SplitMix64) -> Check<Option<Wound>> {
    let file = patient.some_file(random);
    let mut bytes = read(image, &file)?;
    let len = bytes.len() as u64;
    let says = match random.below(8) {
        0 => {
            bytes.truncate(random.below(len.max(1)) as usize);
            format!("{file} cut from {len} to {} bytes", bytes.len())
        }
        1 => {
            bytes.truncate((random.below(len / PAGE_BYTES as u64 + 1) as usize) * PAGE_BYTES);
            format!("{file} cut from {len} to {} bytes", bytes.len())
        }
        2 => {
            let (more, fill) = (1 + random.below(10_000), random.below(256) as u8);
            bytes.resize((len + more) as usize, fill);
            format!("{file} padded by {more} bytes of {fill}")
        }
        3 => {
            let at = (random.below(len / PAGE_BYTES as u64 + 1) as usize) * PAGE_BYTES;
            let end = (at + PAGE_BYTES).min(bytes.len());
            bytes[at..end].fill(0);
            format!("page at {at} of {file} zeroed")
        }
        4 => {
            bytes = read(&patient.older, &file)?;
            format!("{file} replaced by an older copy")
        }
        5 => {
            bytes = read(&patient.other, &file)?;
            format!("{file} replaced by that of another store")
        }
        6 => return swap_files(patient, image, &file, random),
        _ => {
            bytes::remove(image, &file)?;
            return Ok(Some(Wound::new(&file, format!("{file} removed"))));
        }
    };
    write(image, &file, &bytes)?;
    Ok(Some(Wound::new(&file, says)))
}

fn swap_files(patient: &Patient, image: &RecordingFs, file: &str, random: &mut SplitMix64) -> Check<Option<Wound>> {
    let other = patient.some_file(random);
    if other == file {
        return Ok(None);
    }
    let (a, b) = (read(image, file)?, read(image, &other)?);
    write(image, file, &b)?;
    write(image, &other, &a)?;
    Ok(Some(Wound { says: format!("{file} and {other} swapped"), files: vec![file.to_owned(), other], most: None }))
}
