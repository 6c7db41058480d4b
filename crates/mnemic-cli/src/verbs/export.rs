use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use mnemic::memory::Memory;
use mnemic::{Cursor, ErrorKind, ListOptions, User};
use serde_json::json;

use crate::args::{ExportArgs, Global};
use crate::diagnostics::say;
use crate::failure::{Failure, Outcome, Result};
use crate::output;
use crate::progress::Progress;
use crate::record::Record;

const PAGE: usize = 1000;

/// What went out.
#[derive(Default)]
struct Tally {
    memories: usize,
    damaged: Vec<String>,
}

pub(crate) fn export(global: &Global, args: &ExportArgs) -> Result<Outcome> {
    let store = global.open()?;
    let user = global.handle(&store)?;
    let tally = match &args.out {
        _ if args.full && global.json => {
            return Err(Failure::usage("a full export is no JSON document: leave --json out"));
        }
        Some(path) if args.full => to_file(path, false, |out| full(&user, out))?,
        None if args.full => full(&user, &mut BufWriter::new(std::io::stdout().lock()))?,
        Some(path) => to_file(path, global.json, |out| each(&user, |memory| write_line(out, memory)))?,
        None if global.json => as_document(&user)?,
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            let tally = each(&user, |memory| write_line(&mut out, memory))?;
            out.flush()?;
            tally
        }
    };
    store.close()?;
    match tally.damaged.len() {
        0 => Ok(Outcome::of_count(tally.memories)),
        count => Err(Failure::new(ErrorKind::Corrupt, format!("{count} damaged values: the export is not complete"))),
    }
}

/// Writes beside the file and puts it in place when it is whole; what is no file, such as a pipe, is written to.
fn to_file(path: &Path, json: bool, write: impl FnOnce(&mut BufWriter<File>) -> Result<Tally>) -> Result<Tally> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let tally = if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
        let tally = write(&mut out)?;
        out.flush().map_err(failed)?;
        tally
    } else {
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let partial = Path::new(&name);
        let written = in_place(partial, path, write);
        if written.is_err() {
            let _ = std::fs::remove_file(partial);
        }
        written?
    };
    if json {
        output::json(&json!({"memories": tally.memories, "damaged": tally.damaged}))?;
    } else {
        output::line(&format!("{} memories exported", tally.memories))?;
    }
    Ok(tally)
}

fn in_place(partial: &Path, path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<Tally>) -> Result<Tally> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let mut out = BufWriter::new(create_private(partial).map_err(failed)?);
    let tally = write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    std::fs::rename(partial, path).map_err(failed)?;
    Ok(tally)
}

/// A new file for its owner alone: memories stand in it in clear.
fn create_private(path: &Path) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn full(user: &User, out: &mut impl Write) -> Result<Tally> {
    let done = user.export(out)?;
    out.flush()?;
    done.damaged.iter().for_each(|name| say(&format!("warning: damaged and not exported: {name}")));
    Ok(Tally { memories: usize::try_from(done.memories).unwrap_or(usize::MAX), damaged: done.damaged })
}

fn as_document(user: &User) -> Result<Tally> {
    let mut records = Vec::new();
    let tally = each(user, |memory| {
        records.push(Record::of(memory));
        Ok(())
    })?;
    output::json(&json!({"memories": records, "damaged": tally.damaged}))?;
    Ok(tally)
}

/// Visits every memory that the handle sees, in the order in which they were stored.
fn each(user: &User, mut visit: impl FnMut(&Memory) -> Result<()>) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut after: Option<Cursor> = None;
    let mut progress = None;
    loop {
        let options = after.into_iter().fold(ListOptions::new().limit(PAGE), ListOptions::after);
        let page = user.list(&options)?;
        let progress = progress.get_or_insert_with(|| Progress::new("exporting", page.total));
        page.memories.iter().try_for_each(&mut visit)?;
        tally.memories += page.memories.len();
        page.damaged.iter().for_each(|name| say(&format!("warning: damaged and not exported: {name}")));
        tally.damaged.extend(page.damaged);
        progress.add(page.memories.len());
        after = page.next;
        if after.is_none() {
            progress.finish();
            return Ok(tally);
        }
    }
}

fn write_line(out: &mut impl Write, memory: &Memory) -> Result<()> {
    serde_json::to_writer(&mut *out, &Record::of(memory))?;
    Ok(out.write_all(b"\n")?)
}
