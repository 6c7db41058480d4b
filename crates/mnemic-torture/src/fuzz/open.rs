//! Stores with files from outside.

use mnemic::world::testing::RecordingFs;
use mnemic::{ErrorKind, Query};

use super::is_taken;
use crate::check::{Check, Say, ensure};
use crate::modes::{read_file, write_file};
use crate::work::{DIMS, Game, Setting};

const SETTING: Setting = Setting::durable(1);

thread_local! {
    static CLOSED: Check<RecordingFs> = closed_store();
}

/// A store of one user that was closed.
fn closed_store() -> Check<RecordingFs> {
    let mut game = Game::new(1, SETTING)?;
    game.fill("ada", 3)?;
    game.store.close().say("close")?;
    Ok(game.fs.clone())
}

/// A MANIFEST that can be read is obeyed or refused.
pub(super) fn with_manifest(input: &[u8]) -> Check {
    if is_taken("manifest", input) { with("MANIFEST", input) } else { Ok(()) }
}

/// A KEYRING that begins with a header that can be read is obeyed or refused.
pub(super) fn with_keyring(input: &[u8]) -> Check {
    if !is_taken("keyring header", input) {
        return Ok(());
    }
    let mut whole = CLOSED.with(|closed| read_file(closed.as_ref().map_err(String::clone)?, "KEYRING"))?;
    let len = input.len().min(whole.len());
    whole[..len].copy_from_slice(&input[..len]);
    with("KEYRING", &whole)
}

fn with(file: &str, bytes: &[u8]) -> Check {
    let image = CLOSED.with(|closed| closed.as_ref().map(RecordingFs::snapshot).map_err(String::clone))?;
    write_file(&image, file, bytes)?;
    read_back(SETTING, &image, file)
}

/// Opens a store and asks it what it has: an answer, or an error of the kinds that damage gives.
pub(crate) fn read_back(setting: Setting, image: &RecordingFs, file: &str) -> Check {
    match setting.open(image, 7) {
        Ok(store) => {
            let user = store.user("ada").say("user")?;
            for outcome in [user.stats().map(drop), user.recall(Query::vector(vec![1.0; DIMS])).map(drop)] {
                check_kind(file, outcome.err().map(|error| error.kind()))?;
            }
            Ok(())
        }
        Err(error) => check_kind(file, Some(error.kind())),
    }
}

/// No error, or one of the kinds that bytes from outside may give.
pub(crate) fn check_kind(what: &str, kind: Option<ErrorKind>) -> Check {
    let fits = kind.is_none_or(|kind| {
        matches!(
            kind,
            ErrorKind::Corrupt | ErrorKind::Denied | ErrorKind::Unsupported | ErrorKind::Invalid | ErrorKind::Io
        )
    });
    ensure!(fits, "{what}: {kind:?}");
    Ok(())
}
