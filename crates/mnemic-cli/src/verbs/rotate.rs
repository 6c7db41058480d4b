use mnemic::MasterKey;
use serde_json::json;

use crate::access::passphrase;
use crate::args::{Global, RotateArgs};
use crate::diagnostics;
use crate::failure::{Failure, Outcome, Result};
use crate::output;

pub(crate) fn rotate_keys(global: &Global, args: &RotateArgs) -> Result<Outcome> {
    global.refuse("rotate-keys", &["--level"])?;
    match (&global.user, new_master(global, args)?) {
        (Some(_), Some(_)) => Err(Failure::usage("a user's key is no passphrase: leave --user out")),
        (Some(user), None) => rotate_user(global, user),
        (None, new) => {
            let missing = || Failure::usage("name the new master key: --new-passphrase-env VAR, or --new-key-file");
            let new = new.ok_or_else(missing)?;
            let store = global.open()?;
            store.rotate_keys(&new)?;
            store.close()?;
            output::answer(global.json, &json!({"rotated": "master"}), "the store has a new master key")?;
            Ok(Outcome::Done)
        }
    }
}

fn new_master(global: &Global, args: &RotateArgs) -> Result<Option<MasterKey>> {
    Ok(match &args.new_passphrase_env {
        Some(variable) => Some(MasterKey::passphrase(passphrase(variable)?)),
        None if args.new_key_file => Some(MasterKey::local_file()),
        // Another of the same kind.
        None if global.user.is_none() && global.passphrase_env.is_none() => Some(MasterKey::local_file()),
        None => None,
    })
}

fn rotate_user(global: &Global, user: &str) -> Result<Outcome> {
    let store = global.open()?;
    let lost = store.user(user)?.rotate_keys()?;
    store.close()?;
    if lost > 0 {
        diagnostics::say(&format!("{lost} snapshots have nothing of this user any more"));
    }
    output::answer(global.json, &json!({"rotated": "user", "snapshots_lost": lost}), "the user has a new key")?;
    Ok(Outcome::Done)
}
