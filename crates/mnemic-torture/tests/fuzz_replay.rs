//! The corpus of the fuzz targets and what fuzzing once found, replayed without a fuzzer, each as it is and changed.

use std::path::{Path, PathBuf};

use mnemic_torture::{Allocator, fuzz, measure_by};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new(std::alloc::System, usize::MAX);

/// Changed copies of each input.
const CHANGED: u64 = 200;
/// Of one that works a whole store.
const CHANGED_STORES: u64 = 20;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files
}

#[track_caller]
fn replay(target: &str, file: &Path) {
    let input = std::fs::read(file).unwrap();
    fuzz::check(target, &input).unwrap_or_else(|says| panic!("{}: {says}", file.display()));
    let changed = if ["import", "stateful"].contains(&target) { CHANGED_STORES } else { CHANGED };
    for seed in 0..changed {
        let says = fuzz::check(target, &fuzz::mutated(&input, seed)).err();
        assert_eq!(says, None, "{} changed by seed {seed}", file.display());
    }
}

/// One test: what others allocate beside it would count.
#[test]
fn every_input_of_every_target_is_taken_or_refused_within_64_mib() {
    measure_by(&ALLOCATOR);
    for target in fuzz::names() {
        let inputs = files(&root().join("corpus").join(target));
        assert!(!inputs.is_empty(), "{target}: no corpus");
        inputs.iter().for_each(|file| replay(target, file));
        files(&root().join("regressions").join(target)).iter().for_each(|file| replay(target, file));
    }
}

#[test]
fn every_target_has_its_file_and_its_row_in_the_manifest() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for target in fuzz::names() {
        let body = std::fs::read_to_string(root().join(format!("fuzz_targets/{target}.rs"))).unwrap();
        assert!(body.contains(&format!("run(\"{target}\", input)")), "{target}");
        assert!(manifest.contains(&format!("name = \"{target}\"\npath = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
    assert_eq!(files(&root().join("fuzz_targets")).len(), fuzz::names().count());
}
