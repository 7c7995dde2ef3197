//! `run`: the whole life of a claim around a piece of work.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Idempotency;
use crate::error::Error;
use crate::types::{Begin, Claim, Complete, Lease, LostReason, Outcome, State, Token};

/// Tries to record what the work answered. A component cannot sleep, so they follow each other
/// at once.
const COMPLETE_ATTEMPTS: u32 = 3;

/// Tries to give a claim back; if they fail, its lease ends by itself.
const RELEASE_ATTEMPTS: u32 = 2;

/// How a [`run`](Idempotency::run) ended, errors apart.
#[derive(Debug)]
#[must_use = "it says whether the work ran, and whether its value is recorded"]
pub enum Run<T> {
    /// The work ran now, and this outcome is recorded.
    Ran(Outcome<T>),
    /// It was done before; this was recorded then. The work did not run.
    Replayed(Outcome<T>),
    /// Somebody else holds the key: try again after `retry_after_ms`. The work did not run.
    Inflight(Lease),
    /// The key is in use for a request with another fingerprint. The work did not run.
    Mismatch,
    /// The work ran, but its claim was lost before the value was recorded, and somebody else
    /// may have done the work too. The value is in hand.
    Lost {
        /// What the work answered.
        value: T,
        /// The claim that was lost.
        claim: Claim,
        /// Why.
        reason: LostReason,
    },
    /// The work ran, but its value could not be recorded. The claim stays until its lease ends:
    /// until then `complete` with its token can still record this value or another. After
    /// [`Error::OutcomeUnknown`] the value may be recorded all the same; `get` shows it.
    NotRecorded {
        /// What the work answered.
        value: T,
        /// The claim that is still held.
        claim: Claim,
        /// The last error.
        error: Error,
    },
}

impl<T: Serialize + DeserializeOwned> Idempotency<T> {
    /// Run `work` at most once for `key`, and answer its recorded outcome from then on.
    ///
    /// `work` is given its [`Claim`]: pass the token downstream. If it fails, panics or (with
    /// [`run_async`](Self::run_async)) is dropped, its claim is released. The value is recorded
    /// at most once; the work can run again if this component dies, or the claim is lost
    /// otherwise. Nobody renews the claim meanwhile: work that may outlive its lease calls
    /// [`renew`](Self::renew).
    ///
    /// # Errors
    ///
    /// [`Error::Work`] with the work's error; any other means that the work did not run.
    pub fn run<E>(
        &self,
        key: &str,
        work: impl FnOnce(&Claim) -> Result<T, E>,
    ) -> Result<Run<T>, Error<E>> {
        let held = match self.claim(key).map_err(Error::beside_work)? {
            Started::Held(held) => held,
            Started::Ended(run) => return Ok(run),
        };
        let value = work(&held.claim).map_err(Error::Work)?;
        Ok(held.record(value))
    }

    /// Like [`run`](Self::run), for work that awaits.
    ///
    /// # Errors
    ///
    /// As for `run`.
    pub async fn run_async<E>(
        &self,
        key: &str,
        work: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<Run<T>, Error<E>> {
        let held = match self.claim(key).map_err(Error::beside_work)? {
            Started::Held(held) => held,
            Started::Ended(run) => return Ok(run),
        };
        let value = work(&held.claim).await.map_err(Error::Work)?;
        Ok(held.record(value))
    }

    fn claim<'a>(&'a self, key: &'a str) -> Result<Started<'a, T>, Error> {
        Ok(match self.begin(key)? {
            Begin::Fresh(claim) => Started::Held(Held { client: self, key, claim, ours: true }),
            Begin::Inflight(lease) => Started::Ended(Run::Inflight(lease)),
            Begin::Done(outcome) => Started::Ended(Run::Replayed(outcome)),
            Begin::Mismatch => Started::Ended(Run::Mismatch),
        })
    }

    /// Complete the claim; where that fails for a reason that may pass, a few times.
    fn record(
        &self,
        key: &str,
        token: Token,
        value: &T,
    ) -> Result<Result<Outcome<()>, LostReason>, Error> {
        let json = self.encode(value)?;
        for _ in 1..COMPLETE_ATTEMPTS {
            match self.record_once(key, token, &json) {
                Err(error) if error.may_pass() => {}
                ended => return ended,
            }
        }
        self.record_once(key, token, &json)
    }

    /// One `complete`. If an outcome is there already, it may be this one: an earlier try that
    /// was answered `OutcomeUnknown`. Token and payload tell.
    fn record_once(
        &self,
        key: &str,
        token: Token,
        json: &[u8],
    ) -> Result<Result<Outcome<()>, LostReason>, Error> {
        let (completed_at_ms, expires_at_ms) = match self.complete_json(key, Some(token), json)? {
            Complete::Recorded(recorded) => (recorded.completed_at_ms, recorded.expires_at_ms),
            Complete::Lost(LostReason::AlreadyDone) => match self.get_json(key)? {
                Some(entry) if entry.token == token && is_done_with(&entry.state, json) => {
                    (entry.completed_at_ms.unwrap_or_default(), entry.expires_at_ms)
                }
                _ => return Ok(Err(LostReason::AlreadyDone)),
            },
            Complete::Lost(reason) => return Ok(Err(reason)),
        };
        Ok(Ok(Outcome { value: (), token, completed_at_ms, expires_at_ms }))
    }
}

fn is_done_with(state: &State<Option<Vec<u8>>>, json: &[u8]) -> bool {
    matches!(state, State::Done(Some(recorded)) if recorded == json)
}

/// What a `begin` came to.
enum Started<'a, T> {
    Held(Held<'a, T>),
    Ended(Run<T>),
}

/// A claim while its work runs; dropped without a value, it is given back.
struct Held<'a, T> {
    client: &'a Idempotency<T>,
    key: &'a str,
    claim: Claim,
    ours: bool,
}

impl<T: Serialize + DeserializeOwned> Held<'_, T> {
    fn record(mut self, value: T) -> Run<T> {
        // The work is done: whatever happens now, another must not begin it before its time.
        self.ours = false;
        let claim = self.claim.clone();
        match self.client.record(self.key, claim.token, &value) {
            Ok(Ok(Outcome { token, completed_at_ms, expires_at_ms, .. })) => {
                Run::Ran(Outcome { value, token, completed_at_ms, expires_at_ms })
            }
            Ok(Err(reason)) => Run::Lost { value, claim, reason },
            Err(error) => Run::NotRecorded { value, claim, error },
        }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if !self.ours {
            return;
        }
        for _ in 0..RELEASE_ATTEMPTS {
            if self.client.release(self.key, self.claim.token).is_ok() {
                return;
            }
        }
    }
}
