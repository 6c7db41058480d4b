//! Exports that somebody else made.

use std::io::Cursor;

use mnemic::memory::Sensitivity;
use mnemic::world::testing::RecordingFs;
use mnemic::{Store, User};

use super::is_taken;
use super::open::check_kind;
use crate::check::{Check, Say, ensure};
use crate::work::Setting;

const SETTING: Setting = Setting::durable(1);
/// Lines of one input, at most.
const LINES_MAX: usize = 40;

/// Takes the lines of an input as another store's export. What is stored of it is exported as it stands: imported again
/// nothing changes, and a third store makes the same lines of it.
pub(super) fn twice(input: &[u8]) -> Check {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains('\r')).take(LINES_MAX).collect();
    if !lines.first().is_some_and(|line| is_taken("export line", line.as_bytes())) {
        return Ok(());
    }
    let (store, user) = new_store(1)?;
    let imported = match user.import(&mut Cursor::new(with_manifest(&lines))) {
        Ok(imported) => imported,
        Err(error) => return check_kind("import", Some(error.kind())),
    };
    let told = imported.stored + imported.unchanged + imported.conflicts + imported.refused;
    ensure!(!imported.own && told == lines.len() as u64, "{} lines, told {imported:?}", lines.len());
    let export = export_of(&user, imported.stored)?;
    let again = user.import(&mut Cursor::new(&export)).say("own export")?;
    ensure!(again.own && again.unchanged == imported.stored, "own export of {}: {again:?}", imported.stored);
    let (other_store, other) = new_store(2)?;
    other.import(&mut Cursor::new(&export)).say("another's export")?;
    let exported = export_of(&other, imported.stored)?;
    ensure!(lines_of(&exported) == lines_of(&export), "the same memories are exported in other words");
    store.close().and_then(|()| other_store.close()).say("close")
}

fn new_store(seed: u64) -> Check<(Store, User)> {
    let store = SETTING.open(&RecordingFs::new(), seed).say("creation")?;
    let user = store.user("ada").say("user")?.with_level(Sensitivity::Secret);
    Ok((store, user))
}

fn export_of(user: &User, memories: u64) -> Check<Vec<u8>> {
    let mut out = Vec::new();
    let exported = user.export(&mut out).say("export")?;
    ensure!(exported.memories == memories && exported.damaged.is_empty(), "{memories} stored, exported {exported:?}");
    Ok(out)
}

/// The lines before the manifest.
fn lines_of(export: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    lines.pop();
    lines.sort_unstable();
    lines
}

/// The lines with the manifest of a store that nobody knows: nothing but its hash is checked.
fn with_manifest(lines: &[&str]) -> Vec<u8> {
    let mut export: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let hash = blake3::hash(export.as_bytes()).to_hex();
    let (id, tag, memories) = ("ab".repeat(16), "cd".repeat(32), lines.len());
    let manifest = format!(
        "{{\"mnemic\":\"export\",\"format\":1,\"store\":\"{id}\",\"user\":\"{id}\",\"generation\":0,\"as_of\":0,\
         \"memories\":{memories},\"exported_at\":0,\"blake3\":\"{hash}\",\"tag\":\"{tag}\"}}\n"
    );
    export.push_str(&manifest);
    export.into_bytes()
}
