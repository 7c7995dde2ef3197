//! Recording what the work answered, through a failing store if need be.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::Error;
use crate::ledger::Ledger;
use crate::types::{Complete, CompleteOptions, EntryState, LostReason, Outcome, Token};

/// Attempts at a `complete`, and the pauses between them: from the first, doubling, to the
/// longest.
const ATTEMPTS: u32 = 12;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How a `complete` ended after all attempts.
pub(super) enum Finish {
    Recorded(Outcome),
    Lost(LostReason),
    Failed(Error),
}

/// Complete the claim `token`; where that fails for a reason that may pass, repeat it until
/// `lease_end`.
pub(super) async fn complete(
    ledger: &Ledger,
    key: &str,
    payload: Option<Vec<u8>>,
    token: Token,
    options: &CompleteOptions,
    lease_end: Instant,
) -> Finish {
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        let error = match attempt(ledger, key, payload.as_ref(), token, options).await {
            Ok(finish) => return finish,
            Err(error) => error,
        };
        let wait = match &error {
            Error::Contended { retry_after_ms } => {
                Duration::from_millis(*retry_after_ms).min(LONGEST_PAUSE)
            }
            Error::Unavailable(_) | Error::OutcomeUnknown(_) | Error::DeadlineExceeded => pause,
            _ => return Finish::Failed(error),
        };
        if Instant::now() + wait >= lease_end {
            return Finish::Failed(error);
        }
        sleep(wait).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    attempt(ledger, key, payload.as_ref(), token, options).await.unwrap_or_else(Finish::Failed)
}

/// One `complete`. If an outcome is there already, it may be this one: an earlier attempt that
/// was answered `OutcomeUnknown`. Token and payload tell.
async fn attempt(
    ledger: &Ledger,
    key: &str,
    payload: Option<&Vec<u8>>,
    token: Token,
    options: &CompleteOptions,
) -> Result<Finish, Error> {
    let (completed_at_ms, expires_at_ms) =
        match ledger.complete(key, payload.cloned(), options).await? {
            Complete::Recorded(recorded) => (recorded.completed_at_ms, recorded.expires_at_ms),
            Complete::Lost(LostReason::AlreadyDone) => {
                match ledger.get(key, options.scope.as_deref()).await? {
                    Some(entry) if entry.token == token && is_done_with(&entry.state, payload) => {
                        (entry.completed_at_ms.unwrap_or_default(), entry.expires_at_ms)
                    }
                    _ => return Ok(Finish::Lost(LostReason::AlreadyDone)),
                }
            }
            Complete::Lost(reason) => return Ok(Finish::Lost(reason)),
        };
    Ok(Finish::Recorded(Outcome {
        payload: payload.cloned(),
        token,
        completed_at_ms,
        expires_at_ms,
    }))
}

fn is_done_with(state: &EntryState, payload: Option<&Vec<u8>>) -> bool {
    matches!(state, EntryState::Done(recorded) if recorded.as_ref() == payload)
}
