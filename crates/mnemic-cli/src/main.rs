//! The `mnemic` program.

mod args;
mod bench;
mod eval;
mod failure;
mod half;
mod output;
mod progress;
mod scratch;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome, Result};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => return report(&misuse(&error), std::env::args().any(|argument| argument == "--json")),
    };
    match run(&cli) {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(failure) => report(&failure, cli.global.json),
    }
}

fn run(cli: &Cli) -> Result<Outcome> {
    match &cli.command {
        Command::Eval(args) => eval::run(&cli.global, args),
        Command::Bench(args) => bench::run(args),
    }
}

/// What clap says, up to its advice.
fn misuse(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let says = text.split("\n\nUsage:").next().unwrap_or_default();
    Failure::usage(says.strip_prefix("error: ").unwrap_or(says))
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        let document = serde_json::json!({"error": {"kind": failure.kind(), "message": failure.to_string()}});
        let _ = output::json(&document);
    }
    eprintln!("error: {failure}");
    ExitCode::from(failure.exit_code())
}
