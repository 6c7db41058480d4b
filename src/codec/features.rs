//! What a store uses beyond its format, by name: how the format grows without a new number.

use std::collections::BTreeSet;

use crate::codec::bytes::{Reader, Writer};
use crate::error::{Error, NEWER, Result};

/// Features that this version knows, of those that an older one must refuse. None yet.
const INCOMPATIBLE: &[&str] = &[];
/// Most features of a set.
const COUNT_MAX: usize = 64;
/// Longest name.
const NAME_BYTES_MAX: usize = 64;

/// The features of a store, in two sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Features {
    /// Who does not know one of these must not open the store.
    pub(crate) incompatible: BTreeSet<String>,
    /// Who does not know one of these may read and write the store, and keeps the name.
    pub(crate) compatible: BTreeSet<String>,
}

impl Features {
    pub(crate) fn put(&self, out: &mut Writer) {
        for set in [&self.incompatible, &self.compatible] {
            out.u32(set.len() as u32);
            set.iter().for_each(|name| _ = out.block(name.as_bytes()));
        }
    }

    /// Reads both sets.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a feature that this version has to know, and does not.
    pub(crate) fn take(input: &mut Reader<'_>) -> Result<Self> {
        let features = Self { incompatible: take_set(input)?, compatible: take_set(input)? };
        match features.incompatible.iter().find(|name| !INCOMPATIBLE.contains(&name.as_str())) {
            None => Ok(features),
            Some(name) => Err(Error::unsupported(format!(
                "MANIFEST: the store uses the feature `{name}`, which this version does not know; it was {NEWER}"
            ))),
        }
    }
}

/// Names in ascending order, each once.
fn take_set(input: &mut Reader<'_>) -> Result<BTreeSet<String>> {
    let count = input.count(4)?;
    let names = (0..count).map(|_| input.text()).collect::<Result<Vec<_>>>()?;
    let is_name = |name: &String| {
        (1..=NAME_BYTES_MAX).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    if count > COUNT_MAX || !names.is_sorted_by(|a, b| a < b) || !names.iter().all(is_name) {
        return Err(input.corrupt());
    }
    Ok(names.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(incompatible: &[&str], compatible: &[&str]) -> Result<Features> {
        let mut out = Writer::default();
        for names in [incompatible, compatible] {
            out.u32(names.len() as u32);
            names.iter().for_each(|name| _ = out.block(name.as_bytes()));
        }
        Features::take(&mut Reader::new(&out.finish(), "MANIFEST"))
    }

    #[test]
    fn an_unknown_feature_is_refused_by_name_or_kept() {
        let kept = read(&[], &["hints", "notes-2"]).unwrap();
        let mut out = Writer::default();
        kept.put(&mut out);
        assert_eq!(Features::take(&mut Reader::new(&out.finish(), "MANIFEST")).unwrap(), kept);
        let refused = read(&["sessions"], &[]).unwrap_err();
        assert_eq!(refused.kind(), crate::ErrorKind::Unsupported);
        assert!(refused.message().contains("`sessions`"), "{refused}");
        let long = "x".repeat(65);
        for odd in [&["b", "a"][..], &["a", "a"], &[""], &["A"], &["a b"], &[&long]] {
            assert_eq!(read(&[], odd).unwrap_err().kind(), crate::ErrorKind::Corrupt, "{odd:?}");
        }
    }
}
