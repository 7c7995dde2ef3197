//! `idempotency`: run a command at most once per key, and keep a ledger of keys from a shell.
//!
//! The map, in reading order: what can be said (`cli`) and answered (`exit`, `failure`,
//! `output`); where the ledger is (`place`); the commands, of which `run` is the one that
//! matters.

#[cfg(not(unix))]
compile_error!("the command needs process groups and signals; the library works everywhere");

mod cli;
mod exit;
mod failure;

mod duration;
mod output;
mod place;

mod run;

mod commands;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use exit::Exit;
use failure::Failure;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == run::GUARD_ARGUMENT) {
        return run::guard();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Success };
            // Nobody is left to be told that help could not be printed.
            let _ = error.print();
            return ExitCode::from(code.code());
        }
    };
    match execute(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.exit.code())
        }
    }
}

/// On this thread alone: the command that `run` starts dies with the thread that started it.
fn execute(cli: Cli) -> Result<u8, Failure> {
    let reporter = match &cli.command {
        // Before anything else opens a descriptor that could be the one named.
        Command::Run(args) => Some(run::Reporter::open(args.json.as_ref())?),
        _ => None,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(
                Exit::LedgerFailed,
                format!("no runtime: {error}"),
                "Nothing was changed. Try again.",
            )
        })?;
    let code = runtime.block_on(async {
        match (&cli.command, reporter) {
            (Command::Run(args), Some(reporter)) => Ok(run::run(args, &cli.store, reporter).await),
            (command, _) => commands::execute(command, &cli.store).await,
        }
    });
    // A reader that stalls must not keep us.
    runtime.shutdown_background();
    code
}
