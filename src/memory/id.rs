use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The id of a memory: 16 bytes, shown as a UUID.
///
/// Ids made by the store are `UUIDv7` and rise with time within a process. A caller may bring any UUID of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId([u8; 16]);

impl MemoryId {
    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes, in the order in which they are shown.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The id with the bits of this number.
    pub const fn from_u128(value: u128) -> Self {
        Self(value.to_be_bytes())
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryId({self})")
    }
}

impl FromStr for MemoryId {
    type Err = Error;

    /// Reads a UUID: 32 hexadecimal digits, with or without the hyphens of the usual form.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::invalid("id: not a UUID (32 hexadecimal digits)");
        let hyphens = [8, 13, 18, 23];
        let hyphenated = text.len() == 36;
        let mut digits = [0u8; 32];
        let mut count = 0;
        for (i, byte) in text.bytes().enumerate() {
            if hyphenated && hyphens.contains(&i) {
                if byte != b'-' {
                    return Err(bad());
                }
                continue;
            }
            let digit = char::from(byte).to_digit(16).ok_or_else(bad)?;
            *digits.get_mut(count).ok_or_else(bad)? = digit as u8;
            count += 1;
        }
        if count != 32 {
            return Err(bad());
        }
        let mut bytes = [0u8; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_and_reads_the_same_id() {
        let id = MemoryId::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        assert_eq!(id.to_string(), "01234567-89ab-cdef-0011-223344556677");
        assert_eq!(id.to_string().parse::<MemoryId>().unwrap(), id);
        assert_eq!("0123456789abcdef0011223344556677".parse::<MemoryId>().unwrap(), id);
    }

    #[test]
    fn refuses_what_is_no_uuid() {
        for text in ["", "0123", "0123456789abcdef001122334455667", "01234567-89ab-cdef-0011-22334455667g", "é"] {
            assert!(text.parse::<MemoryId>().is_err(), "{text}");
        }
    }
}
