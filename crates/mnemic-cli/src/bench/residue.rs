//! What the files still show of a user: texts and vectors, byte for byte.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::process::files;
use crate::bench::workload::{Workload, marker};
use crate::failure::Result;
use crate::half::to_half;

/// Rows of the user whose vectors are looked for.
const ROWS: [usize; 8] = [0, 3, 50, 111, 222, 333, 444, 999];
/// Where in a vector the windows begin.
const WINDOWS: [usize; 2] = [0, 200];

/// Byte strings to be found in one pass.
pub(crate) struct Residue {
    marker: Vec<u8>,
    windows: Vec<(usize, Vec<u8>)>,
    /// Which first two bytes any of them has.
    starts: Vec<bool>,
}

impl Residue {
    pub(crate) fn of(data: &Workload, user: usize) -> Result<Self> {
        let (vectors, dims) = (data.vectors()?, data.dims());
        let mut windows = Vec::new();
        for row in ROWS.into_iter().filter(|row| *row < data.rows_per_user()) {
            let start = (user * data.rows_per_user() + row) * dims;
            for at in WINDOWS.into_iter().filter(|at| at + 8 <= dims) {
                let numbers = &vectors[start + at..start + at + 8];
                windows.push((row, numbers[..4].iter().flat_map(|x| x.to_le_bytes()).collect()));
                windows.push((row, numbers.iter().flat_map(|x| to_half(*x).to_le_bytes()).collect()));
            }
        }
        let marker = marker(user).into_bytes();
        let mut starts = vec![false; 1 << 16];
        for bytes in windows.iter().map(|(_, bytes)| bytes).chain([&marker]) {
            starts[start_of(bytes)] = true;
        }
        Ok(Self { marker, windows, starts })
    }

    pub(crate) fn look(&self, db: &Path) -> Result<Value> {
        let (mut texts, mut rows) = (0, HashSet::<usize>::new());
        for file in files(db)? {
            let bytes = std::fs::read(&file)?;
            for at in 0..bytes.len().saturating_sub(1) {
                let here = &bytes[at..];
                if self.starts[start_of(here)] {
                    texts += usize::from(here.starts_with(&self.marker));
                    rows.extend(self.windows.iter().filter(|(_, bytes)| here.starts_with(bytes)).map(|(row, _)| *row));
                }
            }
        }
        Ok(json!({"text": texts, "vectors_of_8": rows.len()}))
    }
}

fn start_of(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}
