//! The key is ours: run the command, then record what it did or give the key back.

use idempotency_ledger_host::{Claim, Ledger, LostReason, Purger, PurgerOptions, Recorded};
use tokio::process::Child;

use super::Ending;
use super::args::RunArgs;
use super::guard::Guard;
use super::lease::Keeper;
use super::outcome::Outcome;
use super::record::{Recording, record};
use super::signals::Signals;
use super::supervise::{Ended, Supervisor};
use super::{child, not_started};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{name_of_reason, name_of_scope};

const LEFT_BEHIND: &str = "the command left processes behind that hold its output; \
                           what they write from now on is not recorded";

/// Runs the command under a claim.
pub(super) async fn run(
    ledger: &Ledger,
    args: &RunArgs,
    claim: &Claim,
    signals: &mut Signals,
) -> Ending {
    let mut ending = match start(args, claim) {
        Ok((guard, child)) => supervise(ledger, args, claim, signals, guard, child).await,
        Err(failure) => {
            release(ledger, args, claim).await;
            Ending::failed("not-started", failure)
        }
    };
    ending.report.token = Some(claim.token);
    ending.report.attempt = Some(claim.attempt);
    ending
}

fn start(args: &RunArgs, claim: &Claim) -> Result<(Guard, Child), Failure> {
    let guard = Guard::start()
        .map_err(|error| not_started("the guard process cannot be started", &error))?;
    let environment = [
        ("IDEMPOTENCY_KEY", args.key.key.clone()),
        ("IDEMPOTENCY_SCOPE", name_of_scope(args.key.scope.as_deref()).to_string()),
        ("IDEMPOTENCY_TOKEN", claim.token.to_string()),
        ("IDEMPOTENCY_ATTEMPT", claim.attempt.to_string()),
    ];
    let child = child::spawn(&args.command, guard.group(), &environment)?;
    Ok((guard, child))
}

async fn supervise(
    ledger: &Ledger,
    args: &RunArgs,
    claim: &Claim,
    signals: &mut Signals,
    guard: Guard,
    child: Child,
) -> Ending {
    let scope = args.key.scope.as_deref();
    let mut keeper = Keeper::start(ledger, &args.key.key, scope, claim, args.lease);
    // Long work pays for the upkeep; dropped, it stops.
    let _purger = Purger::start(ledger.clone(), PurgerOptions::default(), |_| {});
    let supervisor =
        Supervisor { child, guard, keeper: &mut keeper, signals, on_lost: args.on_lost };
    let ended = supervisor.until_end().await;
    let lease = keeper.stop().await;
    match ended {
        Ok(ended) => {
            if ended.left_behind {
                eprintln!("idempotency: {LEFT_BEHIND}");
            }
            let mut ending = conclude(ledger, args, claim, &ended, lease).await;
            describe(&mut ending, &ended.outcome);
            ending
        }
        Err(failure) => Ending::failed("outcome-unknown", failure),
    }
}

async fn conclude(
    ledger: &Ledger,
    args: &RunArgs,
    claim: &Claim,
    ended: &Ended,
    lease: Result<u64, LostReason>,
) -> Ending {
    let lost = ended.lost.or(lease.err());
    if let Some(reason) = lost {
        return lost_lease(&ended.outcome, reason);
    }
    if ended.outcome.exit_code != 0 && !args.keep_failures {
        release(ledger, args, claim).await;
        return Ending::new("failed", ended.outcome.exit_code);
    }
    match record(ledger, args, claim, &ended.outcome, lease.unwrap_or(claim.expires_at_ms)).await {
        Recording::Recorded(recorded, missing_bytes) => {
            ran(&ended.outcome, &recorded, missing_bytes)
        }
        Recording::Lost(reason) => lost_lease(&ended.outcome, reason),
        Recording::Unknown(failure) => Ending::failed("outcome-unknown", failure),
    }
}

/// Best effort: the lease ends by itself.
async fn release(ledger: &Ledger, args: &RunArgs, claim: &Claim) {
    let answer = ledger.release(&args.key.key, claim.token, args.key.scope.as_deref()).await;
    if let Err(error) = answer {
        eprintln!("idempotency: the key could not be released before its lease ends: {error}");
    }
}

fn ran(outcome: &Outcome, recorded: &Recorded, missing_bytes: u64) -> Ending {
    let mut ending = Ending::new("ran", outcome.exit_code);
    ending.report.completed_at_ms = Some(recorded.completed_at_ms);
    ending.report.expires_at_ms = Some(recorded.expires_at_ms);
    ending.report.missing_bytes = Some(missing_bytes);
    if missing_bytes > 0 {
        eprintln!("idempotency: {missing_bytes} bytes of output were too many to record");
    }
    ending
}

fn lost_lease(outcome: &Outcome, reason: LostReason) -> Ending {
    let name = name_of_reason(reason);
    let failure = Failure::new(
        Exit::LeaseLost,
        format!(
            "the lease was lost ({name}) while the command ran; its end, exit code {}, \
             was not recorded",
            outcome.exit_code
        ),
        "Another call may run it, or have run it: look with `idempotency get`.",
    );
    let mut ending = Ending::failed("lost", failure);
    ending.report.lost_reason = Some(name);
    ending
}

pub(super) fn describe(ending: &mut Ending, outcome: &Outcome) {
    ending.report.command_exit_code = Some(outcome.exit_code);
    ending.report.command_signal = outcome.signal;
    ending.report.stdout_bytes = Some(outcome.stdout.size_bytes());
    ending.report.stderr_bytes = Some(outcome.stderr.size_bytes());
}
