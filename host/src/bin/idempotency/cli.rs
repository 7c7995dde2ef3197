//! The command line: what there is to say, and what every command shares.

use clap::{Args, Parser, Subcommand};

use crate::commands::begin::BeginArgs;
use crate::commands::complete::CompleteArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::forget::ForgetArgs;
use crate::commands::get::GetArgs;
use crate::commands::hold::{ReleaseArgs, RenewArgs};
use crate::commands::purge::PurgeArgs;
use crate::commands::sweep::SweepArgs;
use crate::exit;
use crate::run::RunArgs;

/// Record each operation's outcome once: run a command at most once per key, or keep a ledger
/// of idempotency keys from a script.
#[derive(Parser, Debug)]
#[command(name = "idempotency", version, after_help = exit::TABLE, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) store: StoreArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Run(RunArgs),
    Begin(BeginArgs),
    Complete(CompleteArgs),
    Renew(RenewArgs),
    Release(ReleaseArgs),
    Get(GetArgs),
    Purge(PurgeArgs),
    Sweep(SweepArgs),
    Forget(ForgetArgs),
    Doctor(DoctorArgs),
    Demo(DemoArgs),
    Completions(CompletionsArgs),
}

/// Where the ledger is kept.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// Where the ledger is kept: `sqlite:PATH`, `redis://HOST`, `nats://HOST/BUCKET`,
    /// `postgres://HOST/DATABASE`, or `memory:`, which this process alone sees
    ///
    /// Options follow as in a query, `?replicas=3`; docs/stores.md lists them. A password is
    /// better given in IDEMPOTENCY_STORE than here, where other users of the machine see it.
    ///
    /// Not given: sqlite:$XDG_STATE_HOME/idempotency/ledger.db, or
    /// sqlite:~/.local/state/idempotency/ledger.db.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "IDEMPOTENCY_STORE",
        hide_env_values = true
    )]
    pub(crate) store: Option<String>,
}

/// Which key.
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    /// What makes the operation the same one again: 1 to 1024 bytes
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) key: String,

    /// Keys of different scopes never meet: 1 to 256 bytes, `global` if not given
    #[arg(long, value_name = "SCOPE", allow_hyphen_values = true)]
    pub(crate) scope: Option<String>,
}

/// For programs.
#[derive(Args, Debug)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
