//! Records an outcome, trying again as long as the claim lives.

use std::time::Duration;

use idempotency_ledger_host::{
    Claim, Clock, Complete, CompleteOptions, EntryState, Error, Ledger, LostReason, Recorded,
    SystemClock,
};

use super::args::RunArgs;
use super::outcome::Outcome;
use crate::exit::Exit;
use crate::failure::Failure;

const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Enough for the longest lease that renewals give.
const TRIES_MAX: u32 = 600;

/// What became of it.
pub(super) enum Recording {
    /// It stands; so many bytes of output were too many.
    Recorded(Recorded, u64),
    Lost(LostReason),
    Unknown(Failure),
}

/// Records `outcome` under `claim`, which lives until `expires_at_ms`.
pub(super) async fn record(
    ledger: &Ledger,
    args: &RunArgs,
    claim: &Claim,
    outcome: &Outcome,
    expires_at_ms: u64,
) -> Recording {
    let fitted = outcome.clone().fit();
    let missing_bytes = fitted.stdout.missing_bytes().saturating_add(fitted.stderr.missing_bytes());
    let payload = match fitted.encode() {
        Ok(payload) => payload,
        Err(failure) => return Recording::Unknown(failure),
    };
    let options = CompleteOptions {
        scope: args.key.scope.clone(),
        token: Some(claim.token),
        ttl: Some(args.keep),
        upsert_on_missing: false,
    };
    let mut pause = PAUSE_MIN;
    let mut tries = Tries::default();
    for _ in 0..TRIES_MAX {
        match ledger.complete(&args.key.key, Some(payload.clone()), &options).await {
            Ok(Complete::Recorded(recorded)) => {
                return Recording::Recorded(recorded, missing_bytes);
            }
            Ok(Complete::Lost(LostReason::AlreadyDone)) if tries.unsure => {
                return match landed_before(ledger, args, claim).await {
                    Ok(Some(recorded)) => Recording::Recorded(recorded, missing_bytes),
                    Ok(None) => Recording::Lost(LostReason::AlreadyDone),
                    Err(error) => Recording::Unknown(unknown(outcome, true, &error)),
                };
            }
            Ok(Complete::Lost(reason)) => return Recording::Lost(reason),
            Err(error) => tries.failed(error),
        }
        if tries.is_final() || SystemClock.now_ms() >= expires_at_ms {
            break;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
    Recording::Unknown(unknown(outcome, tries.unsure, &tries.last))
}

/// What the tries so far leave open.
struct Tries {
    last: Error,
    /// One of them may have been recorded, or may be yet.
    unsure: bool,
}

impl Default for Tries {
    fn default() -> Self {
        Self { last: Error::DeadlineExceeded, unsure: false }
    }
}

impl Tries {
    fn failed(&mut self, error: Error) {
        self.unsure |= matches!(error, Error::OutcomeUnknown(_));
        self.last = error;
    }

    /// Another try would be answered the same.
    fn is_final(&self) -> bool {
        matches!(
            self.last,
            Error::InvalidKey(_)
                | Error::InvalidTtl(_)
                | Error::PayloadTooLarge { .. }
                | Error::NoSuchStore
                | Error::AccessDenied
                | Error::Corrupt(_)
        )
    }
}

/// The outcome, if an earlier try of ours was recorded although its answer got lost.
async fn landed_before(
    ledger: &Ledger,
    args: &RunArgs,
    claim: &Claim,
) -> Result<Option<Recorded>, Error> {
    let entry = ledger.get(&args.key.key, args.key.scope.as_deref()).await?;
    Ok(entry.and_then(|entry| {
        let ours = matches!(entry.state, EntryState::Done(_)) && entry.token == claim.token;
        ours.then_some(Recorded {
            token: entry.token,
            completed_at_ms: entry.completed_at_ms?,
            expires_at_ms: entry.expires_at_ms,
        })
    }))
}

fn unknown(outcome: &Outcome, unsure: bool, error: &Error) -> Failure {
    let known = if unsure { "it may be recorded" } else { "it was not recorded" };
    Failure::new(
        Exit::OutcomeUnknown,
        format!("the command ended with {}, and {known}: {error}", outcome.exit_code),
        "Its output is above. If it is not recorded, it runs again when the lease has ended.",
    )
}
