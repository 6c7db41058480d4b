use crate::codec::frame::{self, Frame, NONCE_BYTES};
use crate::codec::{FORMAT, Table, UserHash};
use crate::error::{Error, Result};
use crate::seal::{Key, Plain, Suite};

/// Seals and opens the values of one store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealer {
    pub(crate) suite: Suite,
    pub(crate) store_id: [u8; 16],
}

/// Where a value belongs: all of it is authenticated, so that a value moved elsewhere does not open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) user: UserHash,
    pub(crate) generation: u32,
    pub(crate) table: Table,
    pub(crate) key: &'a [u8],
    /// Epoch of the key that seals it.
    pub(crate) epoch: u64,
}

/// An opened value.
pub(crate) struct Opened {
    pub(crate) version: u64,
    pub(crate) plain: Plain,
}

/// Longest associated data: the fixed parts and the longest key.
const ASSOCIATED_MAX: usize = 128;

impl Sealer {
    /// The frame of `plain` at `place`.
    pub(crate) fn seal(
        &self,
        key: &Key,
        place: &Place<'_>,
        version: u64,
        nonce: [u8; NONCE_BYTES],
        plain: &[u8],
    ) -> Result<Vec<u8>> {
        let mut out = frame::header(place.table, place.key, version, &nonce, plain.len() + frame::TAG_BYTES).finish();
        let start = out.len();
        out.reserve(plain.len() + frame::TAG_BYTES);
        out.extend_from_slice(plain);
        let mut buffer = [0; ASSOCIATED_MAX];
        self.suite.encrypt(key, &nonce, self.associated(place, version, &mut buffer), &mut out, start)?;
        Ok(out)
    }

    /// Opens the frame that stands at `place`.
    ///
    /// # Errors
    ///
    /// `Corrupt`, naming the table and the user's hash, where it does not authenticate.
    pub(crate) fn open(&self, key: &Key, place: &Place<'_>, bytes: &[u8]) -> Result<Opened> {
        let frame = frame::parse(place.table, place.key, bytes)?;
        let plain = self.open_frame(key, place, &frame)?;
        Ok(Opened { version: frame.version, plain })
    }

    /// Opens a frame that was taken apart before.
    pub(crate) fn open_frame(&self, key: &Key, place: &Place<'_>, frame: &Frame<'_>) -> Result<Plain> {
        let mut buffer = [0; ASSOCIATED_MAX];
        self.suite
            .decrypt(key, &frame.nonce, self.associated(place, frame.version, &mut buffer), frame.body)
            .map(Plain::new)
            .ok_or_else(|| damaged(place))
    }

    /// Opens the frame that stands at `place` into `text`, which is as long as its body without the tag.
    pub(crate) fn open_into(&self, key: &Key, place: &Place<'_>, frame: &Frame<'_>, text: &mut [u8]) -> Result<()> {
        let mut buffer = [0; ASSOCIATED_MAX];
        let associated = self.associated(place, frame.version, &mut buffer);
        self.suite.decrypt_into(key, &frame.nonce, associated, frame.body, text).ok_or_else(|| damaged(place))
    }

    fn associated<'b>(&self, place: &Place<'_>, version: u64, buffer: &'b mut [u8; ASSOCIATED_MAX]) -> &'b [u8] {
        let mut len = 0;
        let mut put = |bytes: &[u8]| {
            buffer[len..len + bytes.len()].copy_from_slice(bytes);
            len += bytes.len();
        };
        put(&[FORMAT, self.suite.code(), place.table.code(), place.key.len() as u8]);
        put(&self.store_id);
        put(&place.user.0);
        put(&place.generation.to_le_bytes());
        put(&version.to_le_bytes());
        put(&place.epoch.to_le_bytes());
        put(place.key);
        &buffer[..len]
    }
}

fn damaged(place: &Place<'_>) -> Error {
    let number = crate::codec::table::number_of(place.key).map(|n| format!(", number {n}")).unwrap_or_default();
    Error::corrupt(format!("{}: damaged value of {}{number}", place.table.name(), place.user))
}
