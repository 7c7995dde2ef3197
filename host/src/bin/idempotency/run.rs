//! `idempotency run`: a command at most once per key.

mod args;

mod claim;

mod guard;

mod child;

mod signals;
mod terminal;

mod capture;
mod lease;

mod supervise;

mod outcome;
mod record;
mod work;

mod replay;
mod report;

use std::time::Duration;

use idempotency_ledger_host::Lease;

pub(crate) use args::RunArgs;
use claim::Taken;
pub(crate) use guard::{ARGUMENT as GUARD_ARGUMENT, watch as guard};
use report::Report;
pub(crate) use report::Reporter;
use signals::Signals;

use crate::cli::StoreArgs;
use crate::duration::human;
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::output::name_of_scope;

/// The longest that a ledger keeps an outcome: 10 years.
const KEEP_MAX: Duration = Duration::from_secs(3_650 * 86_400);

/// What to exit with, and what to say of it.
struct Ending {
    report: Report,
    failure: Option<Failure>,
}

impl Ending {
    fn new(status: &'static str, exit_code: u8) -> Self {
        Self { report: Report { status, exit_code, ..Report::default() }, failure: None }
    }

    fn failed(status: &'static str, failure: Failure) -> Self {
        let mut ending = Self::new(status, failure.exit.code());
        ending.failure = Some(failure);
        ending
    }
}

/// Runs or replays; answers the exit code.
pub(crate) async fn run(args: &RunArgs, store: &StoreArgs, mut reporter: Reporter) -> u8 {
    let ending = match attempt(args, store).await {
        Ok(ending) => ending,
        Err(failure) => Ending::failed("error", failure),
    };
    let Ending { mut report, failure } = ending;
    report.key.clone_from(&args.key.key);
    report.scope = name_of_scope(args.key.scope.as_deref()).into();
    report.message = failure.as_ref().map(|failure| failure.what.clone());
    reporter.write(&report);
    if let Some(failure) = failure {
        eprintln!("{failure}");
    }
    report.exit_code
}

async fn attempt(args: &RunArgs, store: &StoreArgs) -> Result<Ending, Failure> {
    // Found out after the command ran, this would leave it without a record.
    if args.keep.is_zero() || args.keep > KEEP_MAX {
        return Err(Failure::usage(
            "--keep is outside its range",
            "An outcome is kept for 1ms to 3650d. The command was not run.",
        ));
    }
    let mut signals =
        Signals::listen().map_err(|error| not_started("signals cannot be watched", &error))?;
    let ledger = store.ledger().await?;
    let taken = claim::take(&ledger, args, &mut signals).await.map_err(before_start)?;
    Ok(match taken {
        Taken::Fresh(claim) => work::run(&ledger, args, &claim, &mut signals).await,
        Taken::Done(outcome) => replay::replay(&outcome).await?,
        Taken::Inflight(lease) => inflight(&lease),
        Taken::WaitedInVain(lease) => waited_in_vain(args, &lease),
        Taken::Mismatch => Ending::failed("mismatch", mismatch()),
        Taken::Interrupted(signal) => Ending::new("interrupted", exit::of_signal(signal as i32)),
    })
}

/// Whatever the ledger answers before the start: the command was not run.
fn before_start(error: idempotency_ledger_host::Error) -> Failure {
    let mut failure = Failure::from(error);
    if failure.exit == Exit::OutcomeUnknown {
        failure.exit = Exit::LedgerFailed;
        failure.advice = "If the key was claimed, it is free when the lease ends.".into();
    }
    failure.advice = format!("The command was not run. {}", failure.advice);
    failure
}

fn not_started(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::LedgerFailed,
        format!("{what}: {error}"),
        "The command was not run. Try again.",
    )
}

fn inflight(lease: &Lease) -> Ending {
    let failure = Failure::new(
        Exit::Inflight,
        format!(
            "another call holds this key; retry after {} ms ({})",
            lease.retry_after_ms,
            human(lease.retry_after_ms)
        ),
        "The command was not run. With --wait this call waits for that one's outcome.",
    );
    with_lease(Ending::failed("inflight", failure), lease)
}

fn waited_in_vain(args: &RunArgs, lease: &Lease) -> Ending {
    let waited_ms = u64::try_from(args.wait_timeout.as_millis()).unwrap_or(u64::MAX);
    let failure = Failure::new(
        Exit::WaitTimeout,
        format!(
            "another call still holds this key after {}; retry after {} ms",
            human(waited_ms),
            lease.retry_after_ms
        ),
        "The command was not run. Wait longer with --wait-timeout.",
    );
    with_lease(Ending::failed("wait-timeout", failure), lease)
}

fn with_lease(mut ending: Ending, lease: &Lease) -> Ending {
    ending.report.expires_at_ms = Some(lease.expires_at_ms);
    ending.report.retry_after_ms = Some(lease.retry_after_ms);
    ending
}

fn mismatch() -> Failure {
    Failure::new(
        Exit::Mismatch,
        "this key is in use with another fingerprint",
        "The command was not run. Take another --key for another request.",
    )
}
