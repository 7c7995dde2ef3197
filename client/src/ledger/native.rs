//! The host crate's ledger, called from native code that blocks.

use std::sync::mpsc;
use std::time::Duration;

use idempotency_ledger_host as host;
use tokio::runtime::{Builder, Runtime};

use super::{Calls, Options, Payload};
use crate::error::Error;
use crate::types::{
    Begin, Claim, Complete, Entry, Lease, LostReason, Outcome, Recorded, Release, Renew, State,
    Token,
};

/// The ledger, and a runtime on whose one thread its calls run.
pub(super) struct Native {
    ledger: host::Ledger,
    /// `None` only while this is dropped.
    runtime: Option<Runtime>,
}

impl Native {
    pub(super) fn new(builder: host::LedgerBuilder) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.map_err(|error| Error::Unavailable(error.to_string()))?;
        let ledger = wait(&runtime, async move { builder.build().await })?;
        Ok(Self { ledger, runtime: Some(runtime) })
    }

    /// Run one call of the ledger to its end.
    fn call<R: Send + 'static, F: Future<Output = Result<R, host::Error>> + Send + 'static>(
        &self,
        call: impl FnOnce(host::Ledger) -> F,
    ) -> Result<R, Error> {
        let Some(runtime) = &self.runtime else {
            return Err(Error::Unavailable("the ledger is gone".to_owned()));
        };
        wait(runtime, call(self.ledger.clone()))
    }
}

/// Block until the future is done, on the runtime's own thread: unlike `block_on` this works
/// on a thread of another runtime too.
fn wait<R: Send + 'static>(
    runtime: &Runtime,
    future: impl Future<Output = Result<R, host::Error>> + Send + 'static,
) -> Result<R, Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // The receiver waits below; it is gone only with its thread.
        let _ = sender.send(future.await);
    });
    match receiver.recv() {
        Ok(answer) => answer.map_err(Into::into),
        Err(_) => Err(Error::OutcomeUnknown("the call ended without an answer".to_owned())),
    }
}

/// A runtime that is dropped within another one would panic; this one just stops.
impl Drop for Native {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Calls for Native {
    fn begin(&self, key: &str, options: &Options) -> Result<Begin<Payload>, Error> {
        let key = key.to_owned();
        let Options { scope, lease_ms, fingerprint, .. } = options.clone();
        let options =
            host::BeginOptions { scope, lease: lease_ms.map(Duration::from_millis), fingerprint };
        Ok(match self.call(|ledger| async move { ledger.begin(&key, &options).await })? {
            host::Begin::Fresh(claim) => Begin::Fresh(claim.into()),
            host::Begin::Inflight(host::Lease { expires_at_ms, retry_after_ms }) => {
                Begin::Inflight(Lease { expires_at_ms, retry_after_ms })
            }
            host::Begin::Done(outcome) => Begin::Done(Outcome {
                value: outcome.payload,
                token: outcome.token,
                completed_at_ms: outcome.completed_at_ms,
                expires_at_ms: outcome.expires_at_ms,
            }),
            host::Begin::Mismatch => Begin::Mismatch,
        })
    }

    fn complete(
        &self,
        key: &str,
        token: Option<Token>,
        payload: &[u8],
        options: &Options,
    ) -> Result<Complete, Error> {
        let (key, payload) = (key.to_owned(), Some(payload.to_vec()));
        let Options { scope, ttl_ms, upsert_on_missing, .. } = options.clone();
        let ttl = ttl_ms.map(Duration::from_millis);
        let options = host::CompleteOptions { scope, token, ttl, upsert_on_missing };
        let call =
            |ledger: host::Ledger| async move { ledger.complete(&key, payload, &options).await };
        Ok(match self.call(call)? {
            host::Complete::Recorded(recorded) => {
                let host::Recorded { token, completed_at_ms, expires_at_ms } = recorded;
                Complete::Recorded(Recorded { token, completed_at_ms, expires_at_ms })
            }
            host::Complete::Lost(reason) => Complete::Lost(reason.into()),
        })
    }

    fn renew(&self, key: &str, token: Token, options: &Options) -> Result<Renew, Error> {
        let key = key.to_owned();
        let Options { scope, lease_ms, .. } = options.clone();
        let options = host::RenewOptions { scope, lease: lease_ms.map(Duration::from_millis) };
        Ok(match self.call(|ledger| async move { ledger.renew(&key, token, &options).await })? {
            host::Renew::Renewed(claim) => Renew::Renewed(claim.into()),
            host::Renew::Lost(reason) => Renew::Lost(reason.into()),
        })
    }

    fn release(&self, key: &str, token: Token, options: &Options) -> Result<Release, Error> {
        let (key, scope) = (key.to_owned(), options.scope.clone());
        let call = |ledger: host::Ledger| async move {
            ledger.release(&key, token, scope.as_deref()).await
        };
        Ok(match self.call(call)? {
            host::Release::Released => Release::Released,
            host::Release::Lost(reason) => Release::Lost(reason.into()),
        })
    }

    fn get(&self, key: &str, options: &Options) -> Result<Option<Entry<Payload>>, Error> {
        let (key, scope) = (key.to_owned(), options.scope.clone());
        let call = |ledger: host::Ledger| async move { ledger.get(&key, scope.as_deref()).await };
        Ok(self.call(call)?.map(|entry| Entry {
            state: match entry.state {
                host::EntryState::Inflight => State::Inflight,
                host::EntryState::Done(payload) => State::Done(payload),
            },
            token: entry.token,
            attempt: entry.attempt,
            fingerprint: entry.fingerprint,
            claimed_at_ms: entry.claimed_at_ms,
            completed_at_ms: entry.completed_at_ms,
            expires_at_ms: entry.expires_at_ms,
            expired: entry.expired,
        }))
    }
}

impl From<host::Claim> for Claim {
    fn from(claim: host::Claim) -> Self {
        let host::Claim { token, expires_at_ms, attempt } = claim;
        Self { token, expires_at_ms, attempt }
    }
}

impl From<host::LostReason> for LostReason {
    fn from(reason: host::LostReason) -> Self {
        match reason {
            host::LostReason::Missing => Self::Missing,
            host::LostReason::Expired => Self::Expired,
            host::LostReason::Superseded => Self::Superseded,
            host::LostReason::AlreadyDone => Self::AlreadyDone,
        }
    }
}

impl From<host::Error> for Error {
    fn from(error: host::Error) -> Self {
        match error {
            host::Error::InvalidKey(why) => Self::InvalidKey(why),
            host::Error::InvalidTtl(why) => Self::InvalidTtl(why),
            host::Error::PayloadTooLarge { limit_bytes } => Self::PayloadTooLarge { limit_bytes },
            host::Error::NoSuchStore => Self::NoSuchStore,
            host::Error::AccessDenied => Self::AccessDenied,
            host::Error::Unavailable(why) => Self::Unavailable(why),
            host::Error::Component(why) => Self::Unavailable(why),
            host::Error::OutcomeUnknown(why) => Self::OutcomeUnknown(why),
            host::Error::Contended { retry_after_ms } => Self::Contended { retry_after_ms },
            host::Error::DeadlineExceeded => Self::DeadlineExceeded,
            host::Error::Corrupt(why) => Self::Corrupt(why),
            // One that this crate does not know may have changed something.
            other => Self::OutcomeUnknown(other.to_string()),
        }
    }
}
