//! The `mnemic` program.

mod access;
mod args;
mod bench;
mod demo;
mod diagnostics;
mod eval;
mod failure;
mod half;
mod output;
mod progress;
mod record;
mod scratch;
mod time;
mod verbs;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome, Result};

fn main() -> ExitCode {
    diagnostics::show_warnings();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => return report(&misuse(&error), std::env::args_os().any(|argument| argument == "--json")),
    };
    match run(&cli) {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(failure) => report(&failure, cli.global.json),
    }
}

fn run(cli: &Cli) -> Result<Outcome> {
    let global = &cli.global;
    match &cli.command {
        Command::Demo => demo::run(global),
        Command::Remember(args) => verbs::remember(global, args),
        Command::Recall(args) => verbs::recall(global, args),
        Command::List(args) => verbs::list(global, args),
        Command::Show { id, history } => verbs::show(global, id, *history),
        Command::Context(args) => verbs::context(global, args),
        Command::Why(args) => verbs::why(global, args),
        Command::Forget(args) => verbs::forget(global, args),
        Command::VerifyReceipt { receipt } => verbs::verify_receipt(global, receipt),
        Command::Correct(args) => verbs::correct(global, args),
        Command::Update(args) => verbs::update(global, args),
        Command::Confirm { id } => verbs::confirm(global, id),
        Command::Contradict { id } => verbs::contradict(global, id),
        Command::Used { ids } => verbs::used(global, ids),
        Command::Users => verbs::users(global),
        Command::Import(args) => verbs::import(global, args),
        Command::Export(args) => verbs::export(global, args),
        Command::Embed { change_model } => verbs::embed(global, *change_model),
        Command::Stats => verbs::stats(global),
        Command::Snapshot(args) => verbs::snapshot(global, args),
        Command::Restore(args) => verbs::restore(global, args),
        Command::RotateKeys(args) => verbs::rotate_keys(global, args),
        Command::Maintain(args) => verbs::maintain(global, args),
        Command::Doctor(args) => verbs::doctor(global, args),
        Command::Eval(args) => eval::run(global, args),
        Command::Bench(args) => bench::run(global, args),
    }
}

/// What clap says and its tips, without the usage.
fn misuse(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("no command; mnemic --help lists them, mnemic demo shows the main job");
    }
    let text = error.to_string();
    let mut parts = text.split("\n\n");
    let says = parts.next().unwrap_or_default();
    let tips = parts.filter(|part| part.trim_start().starts_with("tip: "));
    let all: Vec<&str> =
        [says.strip_prefix("error: ").unwrap_or(says)].into_iter().chain(tips).map(str::trim).collect();
    Failure::usage(all.join("; "))
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    if failure.is_unheard() {
        return ExitCode::from(failure.exit_code());
    }
    if json {
        let document = serde_json::json!({"error": {"kind": failure.kind(), "message": failure.to_string()}});
        let _ = output::json(&document);
    }
    diagnostics::say(&format!("error: {failure}"));
    ExitCode::from(failure.exit_code())
}
