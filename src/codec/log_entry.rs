//! One entry of a user's log: what was done to which rows, and what a changed row was before.

use crate::codec::bytes::{Reader, Writer};
use crate::error::{Error, Result};
use crate::memory::{Timestamp, Verb};

const VERSION: u8 = 1;

/// What was done, by its code: one that a newer version added is carried along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Logged(u8);

impl Logged {
    /// The verb.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a newer version's.
    pub(crate) fn verb(self) -> Result<Verb> {
        Verb::from_code(self.0).ok_or_else(|| Error::newer(format!("log entry: verb {}", self.0)))
    }
}

impl From<Verb> for Logged {
    fn from(verb: Verb) -> Self {
        Self(verb.code())
    }
}

/// An entry of the log.
#[derive(Clone)]
pub(crate) struct LogEntry {
    pub(crate) verb: Logged,
    pub(crate) at: Timestamp,
    pub(crate) rows: Vec<RowChange>,
}

/// A row that an entry touched, with its record before the change where there was one.
#[derive(Clone)]
pub(crate) struct RowChange {
    pub(crate) row: u32,
    pub(crate) before: Option<Vec<u8>>,
}

impl LogEntry {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(VERSION).u8(self.verb.0).i64(self.at.as_micros()).u32(self.rows.len() as u32);
        for change in &self.rows {
            out.u32(change.row).block(change.before.as_deref().unwrap_or_default());
        }
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "log entry");
        input.version(VERSION)?;
        let verb = Logged(input.u8()?);
        let at = Timestamp::from_micros(input.i64()?);
        let count = input.count(8)?;
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            let row = input.u32()?;
            let before = input.block()?;
            rows.push(RowChange { row, before: (!before.is_empty()).then(|| before.to_vec()) });
        }
        input.end()?;
        Ok(Self { verb, at, rows })
    }

    /// How many rows it holds images of.
    pub(crate) fn images(&self) -> u64 {
        self.rows.iter().filter(|change| change.before.is_some()).count() as u64
    }
}
