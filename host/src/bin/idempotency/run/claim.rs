//! Takes the key, or learns why not.

use std::time::Duration;

use idempotency_ledger_host::{
    Begin, BeginOptions, Claim, Clock, Error, Lease, Ledger, Outcome, SystemClock,
};
use nix::sys::signal::Signal;
use tokio::time::Instant;

use super::args::RunArgs;
use super::signals::Signals;

/// While waiting, the pause between two looks doubles from the first to the second.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// A wait that is longer than the clock can tell ends after this.
const WAIT_MAX: Duration = Duration::from_secs(10 * 365 * 86_400);

/// What a call found.
pub(crate) enum Taken {
    Fresh(Claim),
    Done(Outcome),
    Inflight(Lease),
    WaitedInVain(Lease),
    Mismatch,
    /// A signal came before anything was started; the key is not ours.
    Interrupted(Signal),
}

/// Begins, and where asked to waits until the key is free or done, or the time is up.
pub(crate) async fn take(
    ledger: &Ledger,
    args: &RunArgs,
    signals: &mut Signals,
) -> Result<Taken, Error> {
    let options = BeginOptions {
        scope: args.key.scope.clone(),
        lease: Some(args.lease),
        fingerprint: args.fingerprint_bytes(),
    };
    let deadline = args.wait.then(|| Instant::now() + args.wait_timeout.min(WAIT_MAX));
    let mut pause = PAUSE_MIN;
    loop {
        let lease = match ledger.begin(&args.key.key, &options).await {
            Ok(Begin::Fresh(claim)) => {
                return unless_interrupted(ledger, args, claim, signals).await;
            }
            Ok(Begin::Done(outcome)) => return Ok(Taken::Done(outcome)),
            Ok(Begin::Mismatch) => return Ok(Taken::Mismatch),
            Ok(Begin::Inflight(lease)) => lease,
            Err(Error::Contended { retry_after_ms }) => Lease {
                expires_at_ms: SystemClock.now_ms().saturating_add(retry_after_ms),
                retry_after_ms,
            },
            Err(error) => return Err(error),
        };
        let Some(deadline) = deadline else { return Ok(Taken::Inflight(lease)) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Taken::WaitedInVain(lease));
        }
        let hint = Duration::from_millis(lease.retry_after_ms.max(1));
        tokio::select! {
            signal = signals.next_ending() => return Ok(Taken::Interrupted(signal)),
            () = tokio::time::sleep(pause.min(hint).min(left)) => {}
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Gives the key back if we were told to end while the answer was on its way.
async fn unless_interrupted(
    ledger: &Ledger,
    args: &RunArgs,
    claim: Claim,
    signals: &mut Signals,
) -> Result<Taken, Error> {
    let Some(signal) = signals.pending_ending().await else { return Ok(Taken::Fresh(claim)) };
    ledger.release(&args.key.key, claim.token, args.key.scope.as_deref()).await?;
    Ok(Taken::Interrupted(signal))
}
