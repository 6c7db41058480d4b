//! Rows between the index and the disk.

use crate::codec::block::{Quantised, StoredRow, StoredVector};
use crate::error::{Error, Result};
use crate::index::attributes::Attributes;
use crate::index::vector::{Facts, VectorSource};
use crate::kernel::RowScale;
use crate::memory::{Kind, Sensitivity, StatusKind, Visibility};

/// A row as a block or an overlay keeps it.
pub(crate) fn to_stored<'a>(facts: &Facts, vector: StoredVector<'a>, attributes: &'a [u8]) -> StoredRow<'a> {
    StoredRow {
        row: facts.row,
        id: facts.id,
        version: facts.version,
        time: facts.time,
        created_at: facts.created_at,
        valid_from: facts.valid_from,
        valid_to: facts.valid_to,
        importance: facts.importance,
        confidence: facts.confidence,
        codes: [facts.kind, facts.status, facts.sensitivity, facts.visibility],
        pinned: facts.pinned,
        turn: facts.turn,
        space: facts.space,
        vector,
        attributes,
    }
}

/// Whether this version knows kind, status, sensitivity and visibility of a row.
pub(crate) fn check_codes(row: u32, [kind, status, sensitivity, visibility]: [u8; 4]) -> Result<()> {
    let known = [
        ("kind", kind, Kind::from_code(kind).is_some()),
        ("status", status, StatusKind::from_code(status).is_some()),
        ("sensitivity", sensitivity, Sensitivity::from_code(sensitivity).is_some()),
        ("visibility", visibility, Visibility::from_code(visibility).is_some()),
    ];
    match known.iter().find(|(.., known)| !known) {
        None => Ok(()),
        Some((field, code, _)) => Err(Error::newer(format!("row {row}: {field} {code}"))),
    }
}

/// The facts of a kept row.
pub(crate) fn facts_of(row: &StoredRow<'_>) -> Facts {
    Facts {
        id: row.id,
        row: row.row,
        version: row.version,
        time: row.time,
        created_at: row.created_at,
        valid_from: row.valid_from,
        valid_to: row.valid_to,
        importance: row.importance,
        confidence: row.confidence,
        kind: row.codes[0],
        status: row.codes[1],
        sensitivity: row.codes[2],
        visibility: row.codes[3],
        pinned: row.pinned,
        turn: row.turn,
        space: row.space,
        has_vector: false,
    }
}

/// What filters ask of a kept row.
pub(crate) fn attributes_of(row: &StoredRow<'_>) -> Result<Option<Box<Attributes>>> {
    if row.attributes.is_empty() { Ok(None) } else { Ok(Some(Box::new(Attributes::decode(row.attributes)?))) }
}

/// The quantised vector of a kept row, for the index.
pub(crate) fn source_of<'a>(quantised: &Quantised<'a>) -> VectorSource<'a> {
    let scale = RowScale { scale: quantised.scale, err_norm: quantised.err_norm, norm: quantised.norm };
    VectorSource::Quantised(quantised.bytes, scale)
}
