use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::runner::Report;

/// One line on a mode.
pub(crate) fn line(report: &Report) -> String {
    format!(
        "{:12} seed {:<20} {:>8} cases {:>9} checks {:>3} failed {:>8.1} s",
        report.mode.name(),
        report.seed,
        report.cases,
        report.passed,
        report.failures.len(),
        report.seconds
    )
}

/// The last line, and the exit code.
pub(crate) fn finish(reports: &[Report]) -> ExitCode {
    let passed: u64 = reports.iter().map(|report| report.passed).sum();
    let failed: usize = reports.iter().map(|report| report.failures.len()).sum();
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The results for programs.
pub(crate) fn write_json(path: &Path, reports: &[Report]) -> Result<(), String> {
    let modes: Vec<_> = reports
        .iter()
        .map(|report| {
            json!({
                "mode": report.mode.name(),
                "seed": report.seed,
                "cases": report.cases,
                "passed": report.passed,
                "failed": report.failures.len(),
                "seconds": report.seconds,
                "failures": report.failures,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({ "modes": modes })).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("cannot write {}: {error}", path.display()))
}
