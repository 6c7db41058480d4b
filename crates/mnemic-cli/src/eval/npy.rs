//! The arrays of numpy, as far as embeddings need them: two dimensions, C order, float16 or float32.

use std::path::Path;

use crate::failure::{Failure, Result};
use crate::half::from_half;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Rows of numbers, one after the other.
pub(crate) struct Matrix {
    columns: usize,
    numbers: Vec<f32>,
}

impl Matrix {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Failure::file(path, &error))?;
        Self::parse(&bytes).map_err(|why| Failure::usage(format!("{}: {why}", path.display())))
    }

    pub(crate) fn rows(&self) -> usize {
        self.numbers.len() / self.columns
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.columns..(row + 1) * self.columns]
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, &'static str> {
        let (header, data) = split(bytes).ok_or("not a .npy file")?;
        if field(header, "fortran_order").is_none_or(|value| !value.starts_with("False")) {
            return Err("not in C order");
        }
        let (rows, columns) = shape(header).ok_or("not an array of two dimensions")?;
        let numbers: Vec<f32> = match field(header, "descr") {
            Some(descr) if descr.starts_with("'<f2'") => {
                data.as_chunks().0.iter().map(|half| from_half(u16::from_le_bytes(*half))).collect()
            }
            Some(descr) if descr.starts_with("'<f4'") => {
                data.as_chunks().0.iter().map(|single| f32::from_le_bytes(*single)).collect()
            }
            _ => return Err("not of type float16 or float32, little-endian"),
        };
        if columns == 0 || rows.checked_mul(columns) != Some(numbers.len()) {
            return Err("its length is not that of its shape");
        }
        Ok(Self { columns, numbers })
    }
}

/// The header's text and the data after it.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, rest) = if *rest.first()? == 1 {
        (usize::from(u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?)), rest.get(4..)?)
    } else {
        (u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?) as usize, rest.get(6..)?)
    };
    Some((std::str::from_utf8(rest.get(..length)?).ok()?, rest.get(length..)?))
}

fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{name}':"))?;
    Some(after.trim_start())
}

fn shape(header: &str) -> Option<(usize, usize)> {
    let (inside, _) = field(header, "shape")?.strip_prefix('(')?.split_once(')')?;
    let (rows, columns) = inside.split_once(',')?;
    Some((rows.trim().parse().ok()?, columns.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn reads_halves_row_by_row() {
        let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }\n";
        let data: Vec<u8> = [0x3c00u16, 0x4000, 0x4200, 0x4400].iter().flat_map(|half| half.to_le_bytes()).collect();
        let matrix = Matrix::parse(&file(header, &data)).unwrap();
        assert_eq!((matrix.rows(), matrix.columns(), matrix.row(1)), (2, 2, &[3.0, 4.0][..]));
    }

    #[test]
    fn refuses_what_it_would_misread() {
        for header in [
            "{'descr': '<f2', 'fortran_order': True, 'shape': (1, 1), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }",
            "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }",
            "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1), }",
            "{}",
        ] {
            assert!(Matrix::parse(&file(header, &[0, 0])).is_err(), "{header}");
        }
        assert!(Matrix::parse(b"PK").is_err());
    }
}
