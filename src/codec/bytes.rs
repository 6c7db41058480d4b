//! A little-endian writer and a reader that never reads past its input.

use crate::error::{Error, Result};

/// Appends numbers and length-prefixed bytes.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn f64(&mut self, value: f64) -> &mut Self {
        self.u64(value.to_bits())
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Numbers of a vector, little-endian on every machine.
    pub(crate) fn numbers(&mut self, numbers: &[f32]) -> &mut Self {
        if cfg!(target_endian = "little") {
            return self.raw(bytemuck::cast_slice(numbers));
        }
        numbers.iter().for_each(|number| _ = self.u32(number.to_bits()));
        self
    }

    /// Bytes behind their length.
    pub(crate) fn block(&mut self, bytes: &[u8]) -> &mut Self {
        self.u32(bytes.len() as u32).raw(bytes)
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Reads what [`Writer`] wrote; `what` names the value in errors.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub(crate) fn corrupt(&self) -> Error {
        Error::corrupt(format!("{}: malformed", self.what))
    }

    /// The version byte that every payload begins with. What it says is whole, so another number is a newer version's.
    pub(crate) fn version(&mut self, known: u8) -> Result<()> {
        match self.u8()? {
            0 => Err(self.corrupt()),
            version if version == known => Ok(()),
            version => Err(self.newer("version", version)),
        }
    }

    /// Of a number that no known version writes.
    pub(crate) fn newer(&self, field: &str, number: u8) -> Error {
        Error::newer(format!("{}: {field} {number}", self.what))
    }

    pub(crate) fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.corrupt())?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let raw = self.raw(N)?;
        raw.try_into().map_err(|_| self.corrupt())
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(crate) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.u64()?))
    }

    pub(crate) fn block(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()? as usize;
        self.raw(len)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let bytes = self.block()?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.corrupt())
    }

    /// How many items may follow, each at least `item_bytes` long: a count that cannot be is refused before it
    /// becomes an allocation.
    pub(crate) fn count(&mut self, item_bytes: usize) -> Result<usize> {
        let count = self.u32()? as usize;
        if count.saturating_mul(item_bytes.max(1)) > self.rest.len() {
            return Err(self.corrupt());
        }
        Ok(count)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Everything must have been read.
    pub(crate) fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.corrupt()) }
    }
}
