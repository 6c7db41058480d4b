use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use mnemic::memory::{MemoryId, NewMemory, Sensitivity, StatusKind};
use mnemic::{ErrorKind, Update, User};
use serde_json::{Value, json};

use crate::args::{Global, ImportArgs};
use crate::diagnostics::say;
use crate::failure::{Failure, Outcome, Result};
use crate::output;
use crate::progress::Progress;
use crate::record::Incoming;

const BATCH: usize = 1000;
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Lines read but not yet stored.
#[derive(Default)]
struct Batch {
    lines: Vec<usize>,
    retired: Vec<bool>,
    memories: Vec<NewMemory>,
}

/// What came of the lines.
#[derive(Default)]
struct Tally {
    accepted: usize,
    refused: Vec<(usize, ErrorKind, String)>,
}

pub(crate) fn import(global: &Global, args: &ImportArgs) -> Result<Outcome> {
    global.user_id()?;
    let path = args.file.as_path();
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let (mut reader, bytes) = open(path)?;
    let mut first = Vec::new();
    reader.read_until(b'\n', &mut first).map_err(failed)?;
    if is_full(&first) {
        if let Some(mut file) = from_the_start(path).map_err(failed)? {
            return import_full(global, &mut file);
        }
        // A pipe can't be read twice, and a copy on disk would be one in clear.
        reader.read_to_end(&mut first).map_err(failed)?;
        return import_full(global, &mut Cursor::new(first));
    }
    let store = global.open_or_create()?;
    let user = global.handle(&store)?.with_level(Sensitivity::Secret);
    let before = count(&user)?;
    let tally = store_lines(&user, Box::new(Cursor::new(first).chain(reader)), bytes)?;
    let new = count(&user)? - before;
    store.close()?;
    report(global.json, &tally, new)
}

/// Whether a file that begins with this line is a full export, whole or cut: its manifest, or a status in parts.
fn is_full(first: &[u8]) -> bool {
    let is_record = || serde_json::from_slice::<Value>(first).is_ok_and(|line| line["status"].is_array());
    first.starts_with(b"{\"mnemic\":\"export\",") || is_record()
}

/// The file once more, unless it can be read but once.
fn from_the_start(path: &Path) -> std::io::Result<Option<BufReader<File>>> {
    if path == Path::new("-") || !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    Ok(Some(BufReader::new(File::open(path)?)))
}

fn import_full(global: &Global, reader: &mut (impl BufRead + Seek)) -> Result<Outcome> {
    let store = global.open_or_create()?;
    let done = global.handle(&store)?.import(reader)?;
    store.close()?;
    let (stored, unchanged, conflicts, refused) = (done.stored, done.unchanged, done.conflicts, done.refused);
    let document = json!({
        "own": done.own,
        "stored": stored,
        "unchanged": unchanged,
        "conflicts": conflicts,
        "refused": refused,
    });
    let text = format!(
        "{stored} stored, {unchanged} there already, {conflicts} there in another version, {refused} stay forgotten"
    );
    output::answer(global.json, &document, &text)?;
    Ok(if refused > 0 {
        Outcome::Refused(ErrorKind::Denied)
    } else if conflicts > 0 {
        Outcome::Refused(ErrorKind::Conflict)
    } else {
        Outcome::Done
    })
}

fn open(path: &Path) -> Result<(Box<dyn BufRead>, u64)> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(std::io::stdin())), 0));
    }
    let file = File::open(path).map_err(|error| Failure::file(path, &error))?;
    let bytes = file.metadata().map_err(|error| Failure::file(path, &error))?.len();
    Ok((Box::new(BufReader::new(file)), bytes))
}

fn count(user: &User) -> Result<usize> {
    Ok(user.stats()?.by_status.values().sum())
}

fn store_lines(user: &User, mut reader: Box<dyn BufRead>, bytes: u64) -> Result<Tally> {
    let progress = Progress::new("importing", usize::try_from(bytes).unwrap_or_default());
    let (mut tally, mut batch, mut line) = (Tally::default(), Batch::default(), Vec::new());
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        match parse(&line, number) {
            Ok(Some(incoming)) => batch.push(number, incoming),
            Ok(None) => {}
            Err(why) => tally.refuse(number, ErrorKind::Invalid, why),
        }
        if batch.lines.len() == BATCH {
            std::mem::take(&mut batch).store(user, &mut tally)?;
        }
        progress.add(read);
    }
    batch.store(user, &mut tally)?;
    progress.finish();
    tally.refused.sort_by_key(|(line, ..)| *line);
    Ok(tally)
}

fn parse(line: &[u8], number: usize) -> std::result::Result<Option<Incoming>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let text = if number == 1 { text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text) } else { text };
    if text.trim().is_empty() { Ok(None) } else { Incoming::parse(text).map(Some) }
}

impl Batch {
    fn push(&mut self, line: usize, incoming: Incoming) {
        self.lines.push(line);
        self.retired.push(incoming.retired);
        self.memories.push(incoming.memory);
    }

    fn store(self, user: &User, tally: &mut Tally) -> Result<()> {
        let Some(first) = self.lines.first() else { return Ok(()) };
        let outcomes = user.remember_all(self.memories).map_err(|error| {
            let so_far = tally.accepted;
            Failure::new(error.kind(), format!("from line {first} on: {error} ({so_far} lines were accepted before)"))
        })?;
        for ((line, retired), outcome) in self.lines.into_iter().zip(self.retired).zip(outcomes) {
            match outcome.and_then(|id| if retired { retire(user, id) } else { Ok(()) }) {
                Ok(()) => tally.accepted += 1,
                Err(error) => tally.refuse(line, error.kind(), error.to_string()),
            }
        }
        Ok(())
    }
}

/// It was stored as a candidate, which no recall sees; now it is archived.
fn retire(user: &User, id: MemoryId) -> mnemic::Result<()> {
    if user.get(id)?.status().kind() == StatusKind::Candidate {
        user.update(id, Update::new().archive())?;
    }
    Ok(())
}

impl Tally {
    fn refuse(&mut self, line: usize, kind: ErrorKind, why: String) {
        say(&format!("line {line}: {why}"));
        self.refused.push((line, kind, why));
    }
}

fn report(as_json: bool, tally: &Tally, new: usize) -> Result<Outcome> {
    let (accepted, refused) = (tally.accepted, tally.refused.len());
    if as_json {
        let one = |(line, kind, why): &(usize, ErrorKind, String)| json!({"line": line, "kind": kind.as_str(), "message": why});
        let errors: Vec<Value> = tally.refused.iter().map(one).collect();
        let lines = accepted + refused;
        output::json(&json!({"lines": lines, "accepted": accepted, "new": new, "refused": refused, "errors": errors}))?;
    } else {
        output::line(&format!("{accepted} lines accepted ({new} new memories), {refused} refused"))?;
    }
    Ok(tally.refused.first().map_or(Outcome::of_count(accepted), |(_, kind, _)| Outcome::Refused(*kind)))
}
