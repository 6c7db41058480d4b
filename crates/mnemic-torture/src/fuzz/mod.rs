//! What fuzzers feed, and what must hold of it. `fuzz/` hands these to cargo-fuzz; `tests/fuzz_replay.rs` replays its
//! corpus without a fuzzer.

mod corpus;
mod filter;
mod import;
mod mutate;
mod open;
mod stateful;

pub use corpus::corpus;
pub use mutate::mutated;

pub(crate) use mutate::mutate;
pub(crate) use open::{check_kind, read_back};

use crate::check::Check;
use crate::meter::capped;

/// What one input is fed to: some of the library's parsers, and then the body, where there is one.
struct Target {
    name: &'static str,
    parsers: &'static [&'static str],
    body: Option<fn(&[u8]) -> Check>,
}

const TARGETS: &[Target] = &[
    Target { name: "record", parsers: &["record"], body: None },
    Target { name: "block", parsers: &["block", "overlay", "attributes"], body: None },
    Target { name: "terms", parsers: &["terms", "terms of a block"], body: None },
    Target { name: "vectors", parsers: &["pack", "vector"], body: None },
    Target { name: "manifest", parsers: &["manifest"], body: Some(open::with_manifest) },
    Target { name: "keyring", parsers: &["keyring header", "keyring slot", "intent"], body: Some(open::with_keyring) },
    Target { name: "values", parsers: VALUES, body: None },
    Target { name: "export", parsers: &["json", "export line", "export manifest"], body: None },
    Target { name: "import", parsers: &[], body: Some(import::twice) },
    Target { name: "names", parsers: &["ids and times"], body: None },
    Target { name: "texts", parsers: &["words", "times told", "prompt line"], body: None },
    Target { name: "filter", parsers: &[], body: Some(filter::against_brute_force) },
    Target { name: "stateful", parsers: &[], body: Some(stateful::against_a_model) },
];

const VALUES: &[&str] = &[
    "log entry",
    "trace",
    "frame",
    "row of users",
    "head",
    "chunk key",
    "tombstone",
    "last_seq",
    "snapshot tail",
    "snapshot entry",
    "snapshot section",
    "snapshot row",
];

/// An input to start from: its target, its name and its bytes.
pub type Seed = (&'static str, String, Vec<u8>);

/// The name of every target.
pub fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|target| target.name)
}

/// Feeds an input to a target.
///
/// # Errors
///
/// What does not hold, in words. An input that takes more than 64 MiB fails too where the program measures
/// ([`measure_by`](crate::measure_by)).
pub fn check(target: &str, input: &[u8]) -> Result<(), String> {
    let target = TARGETS.iter().find(|known| known.name == target).ok_or_else(|| format!("no target {target}"))?;
    for (name, parse) in mnemic::PARSERS.iter().filter(|(name, _)| target.parsers.contains(name)) {
        capped(name, || parse(input).map_err(|error| format!("{name}: {error}")))?;
    }
    target.body.map_or(Ok(()), |body| capped(target.name, || body(input)))
}

/// Feeds an input to a target, as a fuzzer wants it.
///
/// # Panics
///
/// Where something does not hold.
pub fn run(target: &str, input: &[u8]) {
    if let Err(says) = check(target, input) {
        panic!("{target}: {says}");
    }
}

/// Whether a parser takes the bytes.
fn is_taken(parser: &str, input: &[u8]) -> bool {
    mnemic::PARSERS.iter().any(|(name, parse)| *name == parser && matches!(parse(input), Ok(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parser_is_fed_by_one_target() {
        for (name, _) in mnemic::PARSERS {
            assert_eq!(TARGETS.iter().filter(|target| target.parsers.contains(name)).count(), 1, "{name}");
        }
    }
}
