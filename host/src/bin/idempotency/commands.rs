//! The commands besides `run`: each takes its arguments and a ledger, and gives an [`Answer`].

pub(crate) mod begin;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod hold;
pub(crate) mod purge;
pub(crate) mod sweep;

use crate::cli::{Command, StoreArgs};
use crate::failure::Failure;
use crate::output::{Answer, print, print_failure};

/// Runs any command but `run`; answers the exit code.
pub(crate) async fn execute(command: &Command, store: &StoreArgs) -> Result<u8, Failure> {
    let json = wants_json(command);
    match answer(command, store).await {
        Ok(answer) => {
            match (json, answer.human.is_empty()) {
                (true, _) => print(&answer.json.to_string()),
                (false, false) => print(&answer.human),
                (false, true) => {}
            }
            Ok(answer.exit.code())
        }
        Err(failure) if json => {
            print_failure(&failure);
            Ok(failure.exit.code())
        }
        Err(failure) => Err(failure),
    }
}

async fn answer(command: &Command, store: &StoreArgs) -> Result<Answer, Failure> {
    match command {
        Command::Begin(args) => begin::begin(args, &store.ledger().await?).await,
        Command::Complete(args) => complete::complete(args, store).await,
        Command::Renew(args) => hold::renew(args, &store.ledger().await?).await,
        Command::Release(args) => hold::release(args, &store.ledger().await?).await,
        Command::Get(args) => get::get(args, &store.ledger().await?).await,
        Command::Purge(args) => purge::purge(args, &store.ledger().await?).await,
        Command::Sweep(args) => sweep::sweep(args, &store.ledger().await?).await,
        Command::Forget(args) => forget::forget(args, &store.ledger().await?).await,
        Command::Doctor(args) => doctor::doctor(args, store).await,
        Command::Demo(args) => demo::demo(args).await,
        Command::Completions(args) => completions::completions(args),
        Command::Run(_) => {
            Err(Failure::usage("`run` is not one of these", "This is a mistake in the program."))
        }
    }
}

fn wants_json(command: &Command) -> bool {
    match command {
        Command::Begin(args) => args.json.json,
        Command::Complete(args) => args.json.json,
        Command::Renew(args) => args.json.json,
        Command::Release(args) => args.json.json,
        Command::Get(args) => args.json.json,
        Command::Purge(args) => args.json.json,
        Command::Forget(args) => args.json.json,
        Command::Doctor(args) => args.json.json,
        Command::Run(_) | Command::Sweep(_) | Command::Demo(_) | Command::Completions(_) => false,
    }
}
