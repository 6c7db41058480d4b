//! What may be true of a store whose disk fails now and then.

use mnemic::{Error, ErrorKind, Result, Store};

use super::{Answer, Expected, Model, Step, advance, check_deeply, found_of, settle_ids, show_difference, shown_by};
use crate::check::{Check, ensure};

/// What a caller can be told when the disk fails.
const KINDS: [ErrorKind; 3] = [ErrorKind::Io, ErrorKind::Corrupt, ErrorKind::Closed];

/// What the calls of a run told.
pub(crate) struct Told {
    /// The states that may be; each error can double them.
    pub(crate) possible: Vec<Model>,
    pub(crate) errors: Vec<String>,
}

impl Told {
    /// One state, for certain.
    pub(crate) fn new(model: Model) -> Self {
        Self { possible: vec![model], errors: Vec::new() }
    }

    /// Takes in the outcome of a call at `now`.
    pub(crate) fn hear(&mut self, step: &Step, outcome: &Result<Answer>, now: i64) -> Check {
        let possible = &mut self.possible;
        match outcome {
            Ok(answer) => follow(step, answer, now, possible),
            Err(error) if possible.iter().any(|m| step.expected(m) == Expected::Refused(error.kind())) => {
                // Where an outcome is unknown, what is held in memory proves nothing before the store is reopened.
                if self.errors.is_empty() {
                    possible.retain(|m| step.expected(m) == Expected::Refused(error.kind()));
                }
                Ok(())
            }
            Err(error) => {
                check_kind(step.name(), error)?;
                self.errors.push(format!("{}: {error}", step.name()));
                // What is said not to be committed must not be there.
                if !error.message().contains("not committed") {
                    let done: Vec<Model> = possible.iter().map(|model| after(model, step, now)).collect();
                    possible.extend(done);
                }
                Ok(())
            }
        }
    }

    /// The store shows one of the states that may be, the latest of them that it can be.
    pub(crate) fn check(&self, store: &Store) -> Check<&Model> {
        let found = found_of(store)?;
        let mut differs = String::new();
        for model in self.possible.iter().rev() {
            let shown = shown_by(model);
            if settle_ids(found.clone(), &shown) == shown {
                return check_deeply(store, model).map(|()| model);
            }
            differs = show_difference(&shown, &found);
        }
        Err(format!("none of the {} states that were told: {differs}", self.possible.len()))
    }
}

fn follow(step: &Step, answer: &Answer, now: i64, possible: &mut Vec<Model>) -> Check {
    possible.retain(|model| step.expected(model) == Expected::Done);
    ensure!(!possible.is_empty(), "{}: was done, and should have been refused", step.name());
    possible.iter_mut().for_each(|model| advance(model, step, answer, now));
    Ok(())
}

fn after(model: &Model, step: &Step, now: i64) -> Model {
    let mut model = model.clone();
    advance(&mut model, step, &Answer::default(), now);
    model
}

/// An error is of a kind that a failing disk gives.
pub(crate) fn check_kind(doing: &str, error: &Error) -> Check {
    ensure!(KINDS.contains(&error.kind()), "{doing}: {error:?}");
    Ok(())
}
