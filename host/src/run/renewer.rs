//! Keeps a lease alive in the background.

use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::RunOptions;
use crate::ledger::Ledger;
use crate::types::{LostReason, Renew, RenewOptions, Token};

/// The lease where the caller gives none; the component's default.
const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// To what length renewals double a lease, so that long work needs few of them.
const LONGEST_LEASE: Duration = Duration::from_secs(600);

/// A lease is renewed after this part of it, and after a failure once more after the smaller
/// part.
const RENEWED_AFTER: u32 = 3;
const RETRIED_AFTER: u32 = 15;

/// The longest and shortest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

/// A task that renews one claim. It ends when this is dropped.
pub(super) struct Renewer {
    stop: oneshot::Sender<()>,
    status: watch::Receiver<Status>,
}

/// What is known of the lease.
#[derive(Clone, Copy)]
struct Status {
    /// When it ends at the latest, by this process's clock: counted from the issue of the call
    /// that granted it, so never too late.
    end: Instant,
    lost: Option<LostReason>,
}

/// What the task works on.
struct Renewal {
    ledger: Ledger,
    key: String,
    scope: Option<String>,
    token: Token,
    lease: Duration,
    status: watch::Sender<Status>,
}

impl Renewer {
    /// Renew the claim `token`, whose `begin` was issued at `begun`.
    pub(super) fn start(
        ledger: &Ledger,
        key: &str,
        options: &RunOptions,
        token: Token,
        begun: Instant,
    ) -> Self {
        let lease = options.lease.unwrap_or(DEFAULT_LEASE);
        let (stop, stopped) = oneshot::channel();
        let (sender, status) = watch::channel(Status { end: begun + lease, lost: None });
        let renewal = Renewal {
            ledger: ledger.clone(),
            key: key.to_owned(),
            scope: options.scope.clone(),
            token,
            lease,
            status: sender,
        };
        tokio::spawn(renewal.go_on(begun, stopped));
        Self { stop, status }
    }

    /// Wait until the claim is lost, and say why.
    pub(super) async fn lost(&mut self) -> LostReason {
        let lost =
            self.status.wait_for(|status| status.lost.is_some()).await.map(|status| status.lost);
        if let Ok(Some(reason)) = lost {
            return reason;
        }
        // The task died with its runtime, so nobody renews any more.
        let end = self.status.borrow().end;
        sleep_until(end).await;
        LostReason::Expired
    }

    /// Stop renewing; answers, after the renewal under way if there is one, when the lease ends.
    pub(super) async fn stop(mut self) -> Instant {
        drop(self.stop);
        // The sender goes with the task.
        while self.status.changed().await.is_ok() {}
        self.status.borrow().end
    }
}

impl Renewal {
    async fn go_on(mut self, begun: Instant, mut stopped: oneshot::Receiver<()>) {
        let mut end = begun + self.lease;
        let mut next = begun + self.lease / RENEWED_AFTER;
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped => return,
                () = sleep_until(next) => {}
            }
            let asked = Instant::now();
            match self.renew(end).await {
                Ok(Some(lease)) => {
                    self.lease = lease;
                    end = asked + lease;
                    next = asked + lease / RENEWED_AFTER;
                    self.status.send_modify(|status| status.end = end);
                }
                Ok(None) => {
                    let pause = (self.lease / RETRIED_AFTER).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
                    next = (Instant::now() + pause).min(end);
                }
                Err(reason) => {
                    self.status.send_modify(|status| status.lost = Some(reason));
                    return;
                }
            }
        }
    }

    /// One renewal. Answers the new lease, or `None` where it failed and may succeed yet; the
    /// error is that the claim is lost. At the end of the lease it is, as far as one can know.
    async fn renew(&self, end: Instant) -> Result<Option<Duration>, LostReason> {
        let lease = self.lease.max((self.lease * 2).min(LONGEST_LEASE));
        let options = RenewOptions { scope: self.scope.clone(), lease: Some(lease) };
        match timeout_at(end, self.ledger.renew(&self.key, self.token, &options)).await {
            Ok(Ok(Renew::Renewed(_))) => Ok(Some(lease)),
            Ok(Ok(Renew::Lost(reason))) => Err(reason),
            Ok(Err(_)) if Instant::now() < end => Ok(None),
            Ok(Err(_)) | Err(_) => Err(LostReason::Expired),
        }
    }
}
