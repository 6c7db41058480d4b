//! One shard: its pages, its users, and values that are nobody's.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Damage, told};
use crate::codec::head::SlotRef;
use crate::codec::{Table, UserHash};
use crate::engine::core::Core;
use crate::engine::doctor::user::Examiner;
use crate::engine::head::{self, Found, Head, Repair};
use crate::error::{Error, Result};
use crate::storage::{Look, ReadView};

/// A user as the doctor found it.
pub(crate) enum Patient {
    /// Every value of the user is as it was written.
    Whole,
    /// The keys are there, but values are damaged.
    Ill(Option<Box<Head>>),
    /// The user was forgotten.
    Erased,
    /// No key opens anything of the user.
    Lost,
}

/// What was found in a shard.
pub(crate) struct ShardReport {
    pub(crate) number: u32,
    pub(crate) view: Option<ReadView>,
    pub(crate) last_seq: Option<u64>,
    /// Whether redb's pages, or the file, are damaged.
    pub(crate) pages_damaged: bool,
    pub(crate) patients: BTreeMap<UserHash, Patient>,
    pub(crate) values: u64,
    pub(crate) damaged: Vec<Damage>,
}

impl ShardReport {
    pub(crate) fn live_users(&self) -> usize {
        self.patients.values().filter(|patient| matches!(patient, Patient::Whole | Patient::Ill(_))).count()
    }
}

impl Core {
    /// Looks at a shard on the disk. Nothing may be committed to it meanwhile.
    pub(crate) fn examine_shard(&self, number: u32) -> Result<ShardReport> {
        let Look { view, last_seq, damaged } = self.directory.look(number)?;
        let mut report = ShardReport {
            number,
            view: None,
            last_seq,
            pages_damaged: !damaged.is_empty(),
            patients: BTreeMap::new(),
            values: 0,
            damaged: Vec::new(),
        };
        for error in damaged {
            report.damaged.push(Damage::in_shard(number, "pages", told(error)?));
        }
        if let Err(error) = self.shard_at(number as usize).serving()
            && let says = told(error)?
            && !report.damaged.iter().any(|known| known.what == says)
        {
            report.pages_damaged = true;
            report.damaged.push(Damage::in_shard(number, "file", says));
        }
        if let Some(view) = view {
            self.examine_users(&view, &mut report)?;
            examine_strangers(&view, &mut report)?;
            report.view = Some(view);
        }
        Ok(report)
    }

    fn examine_users(&self, view: &ReadView, report: &mut ShardReport) -> Result<()> {
        let mut rows = Vec::new();
        let scanned = view.scan_from(Table::Users, &[], |key, row| {
            match key.try_into() {
                Ok(hash) => rows.push((UserHash(hash), row.to_vec())),
                Err(_) => report.damaged.push(Damage::in_shard(report.number, "users", "malformed key")),
            }
            Ok(ControlFlow::Continue(()))
        });
        note(report, Table::Users, scanned)?;
        for (user, row) in rows {
            let patient = self.examine_user(view, user, &row, report)?;
            report.patients.insert(user, patient);
        }
        Ok(())
    }

    fn examine_user(&self, view: &ReadView, user: UserHash, row: &[u8], report: &mut ShardReport) -> Result<Patient> {
        let mut ill = |what: String| {
            report.damaged.push(Damage::in_table(report.number, Table::Users, user.to_string(), None, &what));
        };
        let slot = match SlotRef::decode(row) {
            Ok((slot, _)) => slot,
            Err(error) => {
                ill(told(error)?);
                return Ok(Patient::Ill(None));
            }
        };
        let loaded = self.keyring.standing(user, &slot).and_then(|_| head::load(self, view, user, Repair::No));
        let head = match loaded {
            Ok(Found::Live(head)) => head,
            Ok(Found::Absent(_)) => return Ok(Patient::Erased),
            Err(error) => {
                ill(told(error)?);
                let has_keys = self.keyring.standing(user, &slot).is_ok();
                return Ok(if has_keys { Patient::Ill(None) } else { Patient::Lost });
            }
        };
        let is_unnamed = head.facts.user_id.as_str() == head::unnamed(user);
        if self.user_hash(&head.facts.user_id) != user && !is_unnamed {
            ill("the id is not that of this row".to_owned());
            return Ok(Patient::Ill(None));
        }
        let mut examiner = Examiner::new(self, view, &head, report.number);
        examiner.examine()?;
        report.values += examiner.values;
        let whole = examiner.damaged.is_empty();
        report.damaged.append(&mut examiner.damaged);
        Ok(if whole { Patient::Whole } else { Patient::Ill(Some(head)) })
    }
}

/// Values whose user has no row in table `users`.
fn examine_strangers(view: &ReadView, report: &mut ShardReport) -> Result<()> {
    for table in Table::OF_USERS {
        let mut start = Vec::new();
        loop {
            let mut next = None;
            let scanned = view.scan_from(table, &start, |key, _| {
                next = Some(key.to_vec());
                Ok(ControlFlow::Break(()))
            });
            note(report, table, scanned)?;
            let Some(key) = next else { break };
            let Some(user) = key.first_chunk().map(|hash| UserHash(*hash)) else {
                report.damaged.push(Damage::in_shard(report.number, table.name(), "malformed key"));
                break;
            };
            if !report.patients.contains_key(&user) {
                let says = "values of a user who has no row in table users";
                report.damaged.push(Damage::in_table(report.number, table, user.to_string(), None, says));
                report.patients.insert(user, Patient::Ill(None));
            }
            // Damaged pages may hold keys out of order, and the way must go on.
            if start.as_slice() > user.0.as_slice() {
                report.damaged.push(Damage::in_shard(report.number, table.name(), "keys out of order"));
                break;
            }
            match u128::from_be_bytes(user.0).checked_add(1) {
                Some(after) => start = after.to_be_bytes().to_vec(),
                None => break,
            }
        }
    }
    Ok(())
}

fn note(report: &mut ShardReport, table: Table, outcome: Result<()>) -> Result<()> {
    if let Err(error) = outcome {
        let says = told(error)?;
        report.damaged.push(Damage::in_shard(report.number, table.name(), says));
    }
    Ok(())
}

/// A value of a user that is not as it should be.
pub(super) fn missing(what: impl Into<String>) -> Error {
    Error::corrupt(what)
}
