//! What a forgetting hands out: which keys were destroyed, sealed with a tag of the store.

use std::fmt;
use std::str::FromStr;

use crate::codec::UserHash;
use crate::codec::bytes::{Reader, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Timestamp;

const VERSION: u8 = 1;
/// What the text form begins with.
const PREFIX: &str = "mnemic-receipt-";
/// Bytes of a receipt with its tag.
const BYTES: usize = 1 + 16 + 4 + 8 + 1 + 16 + 8 + 32;

/// Proof that a memory or a user was forgotten: [`Store::verify_receipt`](crate::Store::verify_receipt) checks it.
///
/// It names keyed hashes, counters and a time, so it tells nothing of what was forgotten. Its text form (`to_string`,
/// and back by `parse`) stays the same across versions and may be kept anywhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Receipt {
    pub(crate) user: UserHash,
    pub(crate) generation: u32,
    /// The last epoch of which no key is left.
    pub(crate) epoch: u64,
    /// Keyed hash of the memory's id; none where the whole user was forgotten.
    pub(crate) memory: Option<[u8; 16]>,
    pub(crate) at: i64,
    pub(crate) tag: [u8; 32],
}

impl Receipt {
    /// When it was forgotten.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }

    /// Whether it is of a whole user, not of one memory.
    pub fn is_of_user(&self) -> bool {
        self.memory.is_none()
    }

    /// What the tag is of.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(BYTES);
        out.u8(VERSION).raw(&self.user.0).u32(self.generation).u64(self.epoch);
        out.u8(u8::from(self.memory.is_some())).raw(&self.memory.unwrap_or_default()).i64(self.at);
        out.finish()
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes, "receipt");
        input.version(VERSION)?;
        let (user, generation, epoch) = (UserHash(input.array()?), input.u32()?, input.u64()?);
        let (has_memory, memory, at) = (input.u8()?, input.array()?, input.i64()?);
        let tag = input.array()?;
        input.end()?;
        let memory = match has_memory {
            0 if memory == [0; 16] => None,
            1 => Some(memory),
            _ => return Err(input.corrupt()),
        };
        Ok(Self { user, generation, epoch, memory, at, tag })
    }
}

impl fmt::Display for Receipt {
    /// `mnemic-receipt-` and 172 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.body().iter().chain(&self.tag).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receipt({self})")
    }
}

impl FromStr for Receipt {
    type Err = Error;

    /// Reads a receipt as it was shown; white space around it does not matter.
    fn from_str(text: &str) -> Result<Self> {
        let malformed = || Error::invalid(format!("receipt: not {PREFIX} and {} hexadecimal digits", 2 * BYTES));
        let digits = text.trim().strip_prefix(PREFIX).filter(|digits| digits.len() % 2 == 0);
        let nibble = |digit: &u8| char::from(*digit).to_digit(16).map(|nibble| nibble as u8);
        let byte = |pair: &[u8; 2]| Some(nibble(&pair[0])? << 4 | nibble(&pair[1])?);
        let pairs = digits.ok_or_else(malformed)?.as_bytes().as_chunks::<2>().0;
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        Self::decode(&bytes.ok_or_else(malformed)?).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => error,
            _ => malformed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_read_back_and_nothing_else_is() {
        for memory in [None, Some([7; 16])] {
            let (user, tag) = (UserHash([3; 16]), [9; 32]);
            let receipt = Receipt { user, generation: 2, epoch: 1 << 40, memory, at: -5, tag };
            let text = receipt.to_string();
            assert_eq!(format!(" {text}\n").parse::<Receipt>().unwrap(), receipt);
            assert_eq!(text.to_uppercase().replace("MNEMIC-RECEIPT-", PREFIX).parse::<Receipt>().unwrap(), receipt);
            for bad in [&text[1..], &text[..text.len() - 1], &format!("{text}00"), "", PREFIX] {
                assert_eq!(bad.parse::<Receipt>().unwrap_err().kind(), crate::ErrorKind::Invalid);
            }
            let newer = format!("{}00", text.replacen("-01", "-02", 1)).parse::<Receipt>().unwrap_err();
            assert_eq!(newer.kind(), crate::ErrorKind::Unsupported, "of a newer version: {newer}");
            assert!(text.replacen('0', "é", 1).parse::<Receipt>().is_err());
        }
    }
}
