//! `idempotency completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::Value;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// Print a completion script for a shell.
///
/// For bash: idempotency completions bash > ~/.local/share/bash-completion/completions/idempotency
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "idempotency", &mut script);
    let script = String::from_utf8_lossy(&script);
    Ok(Answer::new(Exit::Success, Value::Null, script.trim_end()))
}
