//! Keeps the claim alive in the background, and says when it is lost.

use std::time::Duration;

use idempotency_ledger_host::{
    Claim, Clock, Error, Ledger, LostReason, Renew, RenewOptions, SystemClock,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A lease doubles at each renewal up to this, so that long work writes little.
const LEASE_MAX: Duration = Duration::from_secs(600);
/// The pause after a renewal that failed; less where the lease is short.
const RETRY_MAX: Duration = Duration::from_secs(1);
/// How long a renewal under way may delay the end of the command.
const STOP_MAX: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Held { expires_at_ms: u64 },
    Lost(LostReason),
}

/// A claim that renews itself until [`Keeper::stop`].
pub(crate) struct Keeper {
    state: watch::Receiver<State>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Renewer {
    ledger: Ledger,
    key: String,
    scope: Option<String>,
    claim: Claim,
    lease: Duration,
}

impl Keeper {
    pub(crate) fn start(
        ledger: &Ledger,
        key: &str,
        scope: Option<&str>,
        claim: &Claim,
        lease: Duration,
    ) -> Self {
        let renewer = Renewer {
            ledger: ledger.clone(),
            key: key.into(),
            scope: scope.map(Into::into),
            claim: claim.clone(),
            lease,
        };
        let (sender, state) = watch::channel(State::Held { expires_at_ms: claim.expires_at_ms });
        let (stop, stopped) = watch::channel(false);
        Self { state, stop, task: tokio::spawn(renewer.keep(sender, stopped)) }
    }

    /// Ends when the lease is lost, never otherwise. Cancel safe.
    pub(crate) async fn lost(&mut self) -> LostReason {
        let lost =
            self.state.wait_for(|state| matches!(state, State::Lost(_))).await.map(|state| *state);
        match lost {
            Ok(State::Lost(reason)) => reason,
            _ => std::future::pending().await,
        }
    }

    /// Stops renewing; answers until when the claim lives, or why it does not.
    pub(crate) async fn stop(self) -> Result<u64, LostReason> {
        let _ = self.stop.send(true);
        let abort = self.task.abort_handle();
        if tokio::time::timeout(STOP_MAX, self.task).await.is_err() {
            abort.abort();
        }
        match *self.state.borrow() {
            State::Held { expires_at_ms } => Ok(expires_at_ms),
            State::Lost(reason) => Err(reason),
        }
    }
}

impl Renewer {
    /// Renews at a third of the lease; after an error sooner, as long as the claim lives.
    async fn keep(mut self, state: watch::Sender<State>, mut stopped: watch::Receiver<bool>) {
        let mut pause = self.lease / 3;
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(pause.max(Duration::from_millis(1))) => {}
            }
            let next = self.next_lease();
            match self.renew(next).await {
                Ok(Renew::Renewed(claim)) => {
                    self.lease = next;
                    pause = next / 3;
                    let _ = state.send(State::Held { expires_at_ms: claim.expires_at_ms });
                    self.claim = claim;
                }
                Ok(Renew::Lost(reason)) => {
                    let _ = state.send(State::Lost(reason));
                    return;
                }
                Err(_) if SystemClock.now_ms() >= self.claim.expires_at_ms => {
                    let _ = state.send(State::Lost(LostReason::Expired));
                    return;
                }
                Err(_) => pause = (self.lease / 10).min(RETRY_MAX),
            }
        }
    }

    fn next_lease(&self) -> Duration {
        self.lease.saturating_mul(2).min(LEASE_MAX).max(self.lease)
    }

    /// A store that stalls must not hide that the claim has ended meanwhile.
    async fn renew(&self, lease: Duration) -> Result<Renew, Error> {
        let options = RenewOptions { scope: self.scope.clone(), lease: Some(lease) };
        let left_ms = self.claim.expires_at_ms.saturating_sub(SystemClock.now_ms());
        let renewal = self.ledger.renew(&self.key, self.claim.token, &options);
        match tokio::time::timeout(Duration::from_millis(left_ms.max(1)), renewal).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::DeadlineExceeded),
        }
    }
}
