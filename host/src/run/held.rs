//! A claim while its work runs: kept alive, and never left behind.

use std::pin::pin;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

use super::complete::{Finish, complete};
use super::renewer::Renewer;
use super::{OnLost, RunOptions};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::types::{Claim, CompleteOptions, LostReason, Token};

/// Attempts at a `release`, the pause between two, and the time for all of them. If they fail,
/// the lease ends by itself.
const RELEASE_ATTEMPTS: u32 = 3;
const RELEASE_PAUSE: Duration = Duration::from_millis(100);
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A claim that is renewed in the background. Dropping it, with a `run` that is dropped or
/// panics, releases the claim in the background.
pub(super) struct Held {
    /// `None` once the claim is somebody else's care.
    inner: Option<Inner>,
    runtime: Option<Handle>,
}

struct Inner {
    ledger: Ledger,
    key: String,
    scope: Option<String>,
    token: Token,
    renewer: Renewer,
}

impl Held {
    /// `begun` is when the `begin` that answered `claim` was issued.
    pub(super) fn new(
        ledger: &Ledger,
        key: &str,
        options: &RunOptions,
        claim: &Claim,
        begun: Instant,
    ) -> Self {
        let inner = Inner {
            ledger: ledger.clone(),
            key: key.to_owned(),
            scope: options.scope.clone(),
            token: claim.token,
            renewer: Renewer::start(ledger, key, options, claim.token, begun),
        };
        Self { inner: Some(inner), runtime: Handle::try_current().ok() }
    }

    /// Await `work`, or only until the claim is lost; then the work is dropped and the answer
    /// is why.
    pub(super) async fn watch<T>(
        &mut self,
        work: impl Future<Output = T>,
        on_lost: OnLost,
    ) -> Result<T, LostReason> {
        let mut work = pin!(work);
        let Some(inner) = self.inner.as_mut().filter(|_| on_lost == OnLost::Stop) else {
            return Ok(work.await);
        };
        tokio::select! {
            biased;
            done = &mut work => Ok(done),
            reason = inner.renewer.lost() => Err(reason),
        }
    }

    /// Record the outcome, in a task of its own: it goes on if the future is dropped. The last
    /// renewal ends before, so that the two do not meet.
    pub(super) async fn complete(
        mut self,
        payload: Option<Vec<u8>>,
        ttl: Option<Duration>,
    ) -> Finish {
        let Some(Inner { ledger, key, scope, token, renewer }) = self.inner.take() else {
            return Finish::Lost(LostReason::Missing);
        };
        let recording = async move {
            let options =
                CompleteOptions { scope, token: Some(token), ttl, upsert_on_missing: false };
            let lease_end = renewer.stop().await;
            complete(&ledger, &key, payload, token, &options, lease_end).await
        };
        let recorded = tokio::spawn(recording).await;
        recorded.unwrap_or_else(|error| Finish::Failed(Error::OutcomeUnknown(error.to_string())))
    }

    /// Give the claim back; goes on if the future is dropped.
    pub(super) async fn release(mut self) {
        if let Some(inner) = self.inner.take() {
            // Whether it worked or not, there is nothing else to do.
            let _ = tokio::spawn(inner.release()).await;
        }
    }

    /// Forget the claim: it is lost.
    pub(super) fn let_go(mut self) {
        self.inner = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let (Some(inner), Some(runtime)) = (self.inner.take(), &self.runtime) {
            runtime.spawn(inner.release());
        }
    }
}

impl Inner {
    async fn release(self) {
        self.renewer.stop().await;
        let release = async {
            for _ in 0..RELEASE_ATTEMPTS {
                if self.ledger.release(&self.key, self.token, self.scope.as_deref()).await.is_ok() {
                    return;
                }
                sleep(RELEASE_PAUSE).await;
            }
        };
        // As above: past this, the lease has to end by itself.
        let _ = timeout(RELEASE_TIMEOUT, release).await;
    }
}
