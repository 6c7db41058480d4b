//! Single values of every kind: their bytes, and what they say.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::files::{FROZEN, root};

fn dir() -> PathBuf {
    root().join("golden")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// One value as it is committed.
struct Golden {
    name: String,
    bytes: Vec<u8>,
    says: String,
}

impl Golden {
    fn parse(text: &str) -> Self {
        let (head, says) = text.split_once("\n\n").unwrap();
        let (name, bytes) = head.split_once('\n').unwrap();
        Self {
            name: name.to_owned(),
            bytes: unhex(&bytes.replace('\n', "")),
            says: says.strip_suffix('\n').unwrap().to_owned(),
        }
    }

    fn show(&self) -> String {
        let hex = hex(&self.bytes);
        let lines: Vec<&str> = hex.as_bytes().chunks(128).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("{}\n{}\n\n{}\n", self.name, lines.join("\n"), self.says)
    }
}

fn committed() -> Vec<(PathBuf, Golden)> {
    let files = fs::read_dir(dir()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), Golden::parse(&fs::read_to_string(path).unwrap()))).collect()
}

#[test]
fn every_committed_value_is_read_and_written_again_to_the_bit() {
    for (path, Golden { name, bytes, says }) in committed() {
        let (_, again, show) = mnemic::READINGS.iter().find(|(known, ..)| *known == name).expect("a kind of value");
        let path = path.display();
        assert_eq!(show(&bytes).unwrap(), says, "{path}: read as another value; {FROZEN}");
        assert_eq!(hex(&again(&bytes).unwrap()), hex(&bytes), "{path}: written in other bytes; {FROZEN}");
    }
}

#[test]
fn every_kind_of_value_has_committed_bytes() {
    let kinds: BTreeSet<String> = committed().into_iter().map(|(_, golden)| golden.name).collect();
    let known: BTreeSet<String> = mnemic::READINGS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(kinds, known, "a new kind of value gets its own file in tests/format/golden");
}

#[test]
fn a_change_of_any_byte_is_seen() {
    for (path, Golden { name, bytes, says }) in committed() {
        let (_, again, show) = mnemic::READINGS.iter().find(|(known, ..)| *known == name).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            // Copies, and what is written back in one form, hide a change from the reading, not from the bytes.
            let unseen = show(&changed).is_ok_and(|read| read == says) && again(&changed).is_ok_and(|b| b == changed);
            assert!(!unseen, "{}: byte {at} says nothing", path.display());
        }
    }
}

/// Receipts are handed out as text.
const RECEIPT: &str = "mnemic-receipt-";

pub(crate) fn write() {
    let _ = fs::remove_dir_all(dir());
    fs::create_dir_all(dir()).unwrap();
    let mut count = 0;
    for (name, bytes) in mnemic::samples().unwrap() {
        let name = if bytes.starts_with(RECEIPT.as_bytes()) { "receipt" } else { name };
        let Some((_, _, show)) = mnemic::READINGS.iter().find(|(known, ..)| *known == name) else { continue };
        count += 1;
        let golden = Golden { name: name.to_owned(), says: show(&bytes).unwrap(), bytes };
        let file = format!("{count:02}-{}.txt", name.replace(' ', "-"));
        fs::write(dir().join(file), golden.show()).unwrap();
    }
}
