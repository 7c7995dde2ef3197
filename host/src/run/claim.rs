//! `begin`, again and again for as long as the caller wants to wait.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Run, RunOptions};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::types::{Begin, BeginOptions, Claim};

/// The first and the longest pause between two looks at a key that somebody else holds.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Attempts at a `begin` that is answered `Contended`, whether the caller waits or not.
const CONTENDED_ATTEMPTS: u32 = 5;

/// What came of the `begin`s.
pub(super) enum Claimed {
    /// The claim, and when the `begin` that made it was issued.
    Fresh(Claim, Instant),
    /// The work must not run.
    Not(Run),
}

/// Claim `key`, waiting for another holder for as long as `options` say. Ends with the answer
/// or the error of the last `begin`.
pub(super) async fn claim(
    ledger: &Ledger,
    key: &str,
    options: &RunOptions,
) -> Result<Claimed, Error> {
    let begin_options = BeginOptions {
        scope: options.scope.clone(),
        lease: options.lease,
        fingerprint: options.fingerprint.clone(),
    };
    let waiting_since = Instant::now();
    let wait = options.wait.unwrap_or_default();
    let (mut pause, mut contended) = (FIRST_PAUSE, 0);
    loop {
        let begun = Instant::now();
        let answer = ledger.begin(key, &begin_options).await;
        let left = wait.saturating_sub(waiting_since.elapsed());
        let next = match &answer {
            Ok(Begin::Inflight(lease)) => {
                pause.min(Duration::from_millis(lease.retry_after_ms)).min(left)
            }
            Err(Error::Contended { retry_after_ms }) if contended < CONTENDED_ATTEMPTS => {
                contended += 1;
                LONGEST_PAUSE.min(Duration::from_millis(*retry_after_ms))
            }
            Err(Error::Contended { .. }) => pause.min(left),
            _ => Duration::ZERO,
        };
        if next.is_zero() {
            return ended(answer, begun);
        }
        sleep(next).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn ended(answer: Result<Begin, Error>, begun: Instant) -> Result<Claimed, Error> {
    Ok(match answer? {
        Begin::Fresh(claim) => Claimed::Fresh(claim, begun),
        Begin::Inflight(lease) => Claimed::Not(Run::Inflight(lease)),
        Begin::Done(outcome) => Claimed::Not(Run::Replayed(outcome)),
        Begin::Mismatch => Claimed::Not(Run::Mismatch),
    })
}
