use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::memory::limits::{METADATA_BYTES_MAX, METADATA_ENTRIES_MAX, METADATA_KEY_BYTES_MAX};
use crate::memory::record::check_name;

/// Free, typed metadata of a memory, in the order of its keys.
pub type Metadata = BTreeMap<String, MetaValue>;

/// One typed value of metadata. Integers and floats are one type, *number*, in comparisons.
#[derive(Clone, PartialEq)]
pub enum MetaValue {
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A list of texts.
    List(Vec<String>),
}

impl MetaValue {
    /// The name of the type, as error messages say it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) | Self::Float(_) => "number",
            Self::Bool(_) => "bool",
            Self::List(_) => "list",
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Integer(_) | Self::Float(_) => 8,
            Self::Bool(_) => 1,
            Self::List(texts) => texts.iter().map(|text| text.len() + 4).sum(),
        }
    }
}

impl From<&str> for MetaValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for MetaValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for MetaValue {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for MetaValue {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<bool> for MetaValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<String>> for MetaValue {
    fn from(texts: Vec<String>) -> Self {
        Self::List(texts)
    }
}

pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    if metadata.len() > METADATA_ENTRIES_MAX {
        return Err(Error::invalid(format!("metadata: {} entries, at most {METADATA_ENTRIES_MAX}", metadata.len())));
    }
    let mut bytes = 0;
    for (key, value) in metadata {
        check_name("metadata key", key, METADATA_KEY_BYTES_MAX)?;
        if matches!(value, MetaValue::Float(number) if !number.is_finite()) {
            return Err(Error::invalid(format!("metadata {key:?}: not a finite number")));
        }
        bytes += key.len() + value.bytes();
    }
    if bytes > METADATA_BYTES_MAX {
        return Err(Error::invalid(format!("metadata: {bytes} bytes, at most {METADATA_BYTES_MAX}")));
    }
    Ok(())
}

impl std::fmt::Debug for MetaValue {
    /// Shows type and size, never the value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MetaValue({}, {} bytes)", self.type_name(), self.bytes())
    }
}
