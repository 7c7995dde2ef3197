//! `run`: the whole life of a claim around a piece of work.

use std::time::Duration;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::types::{Claim, Lease, LostReason, Outcome};

mod claim;
mod complete;
mod held;
mod renewer;

use claim::{Claimed, claim};
use complete::Finish;
use held::Held;

/// What [`Ledger::run`] takes beside the key and the work. Durations as in [`BeginOptions`](crate::BeginOptions).
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// 1 to 256 bytes; `global` when not given.
    pub scope: Option<String>,
    /// How long the claim lives unless renewed, 60 s when not given: how long a crash delays a
    /// retry. It is renewed while the work runs.
    pub lease: Option<Duration>,
    /// How long the outcome replays, 24 h when not given.
    pub ttl: Option<Duration>,
    /// 1 to 64 bytes that identify the request, a hash of its body say.
    pub fingerprint: Option<Vec<u8>>,
    /// How long to wait for somebody else who holds the key; not at all when not given.
    pub wait: Option<Duration>,
    /// What becomes of the work when its claim is lost.
    pub on_lost: OnLost,
}

/// What becomes of the work when its claim is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLost {
    /// Its future is dropped where it stands.
    #[default]
    Stop,
    /// It runs to its end, and its result comes back unrecorded.
    Continue,
}

/// How a `run` ended, errors apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// The work ran now, and this outcome is recorded.
    Ran(Outcome),
    /// It was done before; this was recorded then. The work did not run.
    Replayed(Outcome),
    /// Somebody else holds the key, still so after the wait. The work did not run.
    Inflight(Lease),
    /// The key is in use for a request with another fingerprint. The work did not run.
    Mismatch,
}

/// Why a `run` recorded nothing. `E` is the work's own error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError<E> {
    /// `begin` failed; the work did not run.
    #[error("the key could not be claimed: {0}")]
    NotClaimed(Error),
    /// The work failed. Its claim was released, so a retry runs it again at once.
    #[error("the work failed")]
    Work(E),
    /// The claim was lost and the work was stopped on the way; what it did so far stays done.
    #[error("the claim was lost while the work ran ({reason:?})")]
    Lost {
        /// Why. `Expired` also where it could not be renewed in time.
        reason: LostReason,
    },
    /// The work was done, but the claim was lost before its outcome was recorded.
    #[error("the claim was lost, the outcome is not recorded ({reason:?})")]
    LostAfter {
        /// Why.
        reason: LostReason,
        /// What the work answered.
        payload: Option<Vec<u8>>,
    },
    /// The work was done, but `complete` failed. The outcome may be recorded if the error is
    /// [`Error::OutcomeUnknown`]. The claim stays until its lease ends: until then, `complete`
    /// with its token can still record this payload or another.
    #[error("the outcome could not be recorded: {error}")]
    NotRecorded {
        /// Whose token to use.
        claim: Claim,
        /// What the work answered.
        payload: Option<Vec<u8>>,
        /// The last error.
        error: Error,
    },
}

impl Ledger {
    /// Run `work` at most once for `key`, and answer its recorded outcome from then on.
    ///
    /// `work` is given its [`Claim`] (pass the token downstream) and answers the payload to
    /// record: `Vec<u8>`, or `Option<Vec<u8>>` with `None` for none. While it runs, its claim is
    /// renewed at a third of the lease; each renewal doubles the lease, up to 10 minutes, or
    /// what was asked if that is longer. Work that fails, panics, or is dropped with this future
    /// has its claim released. Work that was done is recorded even if the store fails for a
    /// while; see [`RunError`] for what is left then.
    ///
    /// The outcome is recorded at most once; the work can run again if this process dies, or
    /// the claim is lost otherwise.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub async fn run<F, W, P, E>(
        &self,
        key: &str,
        options: &RunOptions,
        work: F,
    ) -> Result<Run, RunError<E>>
    where
        F: FnOnce(Claim) -> W,
        W: Future<Output = Result<P, E>>,
        P: Into<Option<Vec<u8>>>,
    {
        let (claim, begun) = match claim(self, key, options).await.map_err(RunError::NotClaimed)? {
            Claimed::Fresh(claim, begun) => (claim, begun),
            Claimed::Not(run) => return Ok(run),
        };
        let mut held = Held::new(self, key, options, &claim, begun);
        let payload = match held.watch(work(claim.clone()), options.on_lost).await {
            Ok(Ok(payload)) => payload.into(),
            Ok(Err(error)) => {
                held.release().await;
                return Err(RunError::Work(error));
            }
            Err(reason) => {
                held.let_go();
                return Err(RunError::Lost { reason });
            }
        };
        match held.complete(payload.clone(), options.ttl).await {
            Finish::Recorded(outcome) => Ok(Run::Ran(outcome)),
            Finish::Lost(reason) => Err(RunError::LostAfter { reason, payload }),
            Finish::Failed(error) => Err(RunError::NotRecorded { claim, payload, error }),
        }
    }
}
