use std::fmt;

use crate::error::{Error, Result};
use crate::memory::limits::USER_ID_BYTES_MAX;

/// Who owns memories: 1 to 512 bytes of UTF-8 that are not only white space, compared byte for byte.
///
/// A user id is never a path, a pattern or a prefix: `foo`, `foo/` and `foo*` are three users.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(Box<str>);

impl UserId {
    /// Checks and takes an id.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): it is empty, only white space, or over
    /// [`USER_ID_BYTES_MAX`] bytes.
    pub fn new(id: &str) -> Result<Self> {
        if id.trim().is_empty() {
            return Err(Error::invalid("user id: empty or only white space"));
        }
        if id.len() > USER_ID_BYTES_MAX {
            return Err(Error::invalid(format!("user id: {} bytes, at most {USER_ID_BYTES_MAX}", id.len())));
        }
        Ok(Self(id.into()))
    }

    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for UserId {
    /// Hides the id: it is often a name or an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserId({} bytes)", self.0.len())
    }
}
