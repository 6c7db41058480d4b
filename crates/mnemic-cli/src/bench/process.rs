//! What the process and its files take.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The most memory that the process has held, in MiB.
pub(crate) fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Every file below a directory.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).map_err(|error| Failure::file(&dir, &error))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                dirs.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// What the files below a directory take of the disk, in MB.
pub(crate) fn disk_mb(dir: &Path) -> Result<f64> {
    let sizes = files(dir)?.iter().map(|file| Ok(allocated(&std::fs::metadata(file)?))).collect::<Result<Vec<u64>>>();
    Ok(sizes?.iter().sum::<u64>() as f64 / 1e6)
}

#[cfg(unix)]
fn allocated(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}

/// The value at a fraction of the sorted samples, between neighbours as numpy reads it.
pub(crate) fn percentile(samples: &mut [f64], fraction: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let Some(last) = samples.len().checked_sub(1) else { return 0.0 };
    let at = last as f64 * fraction;
    let (below, above) = (samples[at as usize], samples[(at as usize + 1).min(last)]);
    below + (above - below) * at.fract()
}
