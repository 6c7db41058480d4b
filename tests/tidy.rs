//! The law of the house: who may import whom, where `unsafe` and the outside world may be named, how
//! long things may be. It reads the sources as text, roughly; `tidy/samples.rs` shows what it catches.

#[path = "tidy/doors.rs"]
mod doors;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/samples.rs"]
mod samples;
#[path = "tidy/source.rs"]
mod source;

use std::path::Path;

use source::{Source, read_tree};

const CODE: [&str; 6] = ["src", "crates", "tests", "benches", "examples", "fuzz"];
const PAPERS: [&str; 2] = ["docs", ".ci"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn library() -> Vec<Source> {
    let sources = read_tree(root(), "src", "rs");
    assert!(sources.len() > 3, "the sources were not found");
    sources
}

fn all_code() -> Vec<Source> {
    CODE.iter().flat_map(|dir| read_tree(root(), dir, "rs")).collect()
}

#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n{} fault(s)", faults.join("\n"), faults.len());
}

#[test]
fn rooms_use_only_their_doors() {
    let sources = library();
    let exports = doors::exports(&sources);
    assert_none(&sources.iter().flat_map(|source| doors::faults(source, &exports)).collect::<Vec<_>>());
}

#[test]
fn unsafe_stays_in_the_kernel_and_says_why() {
    assert_none(&library().iter().flat_map(rules::unsafe_faults).collect::<Vec<_>>());
}

#[test]
fn the_outside_is_named_only_where_it_enters() {
    assert_none(&library().iter().flat_map(rules::outside_faults).collect::<Vec<_>>());
}

#[test]
fn the_library_never_panics_or_prints() {
    assert_none(&library().iter().flat_map(rules::panic_faults).collect::<Vec<_>>());
}

#[test]
fn files_and_functions_stay_short() {
    let sources = all_code();
    assert_none(&sources.iter().flat_map(rules::size_faults).collect::<Vec<_>>());
}

#[test]
fn no_path_leads_to_a_home() {
    let mut sources = all_code();
    for dir in PAPERS {
        sources.extend(read_tree(root(), dir, ""));
    }
    sources.extend(source::read_top(root()));
    assert_none(&sources.iter().flat_map(rules::path_faults).collect::<Vec<_>>());
}
