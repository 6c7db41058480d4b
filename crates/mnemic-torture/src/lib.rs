//! `mnemic-torture`: crashes, faults, damage and random work against the engine, with an oracle.
//!
//! Everything comes from the seed. A failure prints the seed of its case and the command that meets it again. The last
//! line is `N passed, N failed`; the exit code is 1 where anything failed. [`fuzz`] hands the same work to fuzzers.

mod args;
mod check;
pub mod fuzz;
mod meter;
mod modes;
mod report;
mod runner;
mod sabotage;
mod work;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command, MODES, Options};
use modes::Mode;
use runner::{Plan, Report};

pub use meter::{Allocator, measure_by};

/// Seconds of a mode whose short form is a time, and of every mode where nothing is said.
const SECONDS_DEFAULT: f64 = 60.0;

/// Does what the command line asks.
pub fn run() -> ExitCode {
    let command = Args::parse().command;
    if let Command::Child { path, seed, round, sabotage } = &command {
        if *sabotage != 0 && sabotage::begin(*sabotage).is_err() {
            return ExitCode::from(2);
        }
        return modes::child(path, *seed, *round);
    }
    runner::hush_panics();
    let outcome = match command {
        Command::All(options) => run_modes(MODES, &options),
        Command::Sabotage(options) => return sabotage::table(&options),
        Command::One(one) => {
            let (mode, options) = one.parts();
            run_modes(&[mode], &options)
        }
        Command::Child { .. } => Ok(Vec::new()),
    };
    match outcome {
        Ok(reports) => report::finish(&reports),
        Err(says) => {
            eprintln!("{says}");
            ExitCode::from(2)
        }
    }
}

fn run_modes(modes: &[Mode], options: &Options) -> Result<Vec<Report>, String> {
    if let Some(number) = options.sabotage {
        sabotage::begin(number)?;
    }
    let plans = modes.iter().map(|mode| plan(*mode, modes.len(), options)).collect::<Result<Vec<_>, _>>()?;
    let mut reports = Vec::with_capacity(plans.len());
    for plan in plans {
        let report = runner::run(plan);
        println!("{}", report::line(&report));
        reports.push(report);
    }
    if let Some(path) = &options.json {
        report::write_json(path, &reports)?;
    }
    Ok(reports)
}

fn plan(mode: Mode, modes: usize, options: &Options) -> Result<Plan, String> {
    let Options { seed, jobs, cases, .. } = *options;
    let count = match options.count.as_deref() {
        None => None,
        Some("table") => mode.table_count(),
        Some(count) => Some(count.parse().map_err(|_| format!("--count {count}: a number, or table"))?),
    };
    let mut seconds = options.secs.map(|seconds| seconds / modes as f64);
    if seconds.is_none() && cases.is_none() && count.is_none() {
        seconds = Some(SECONDS_DEFAULT);
    }
    Ok(Plan { mode, seed, jobs, count, cases, seconds, until_red: options.sabotage.is_some() })
}
