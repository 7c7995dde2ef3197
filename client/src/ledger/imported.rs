//! The ledger that the component imports: generated bindings <-> our own types, nothing else.

use super::{Calls, Options, Payload};
use crate::error::Error;
use crate::types::{
    Begin, Claim, Complete, Entry, Lease, LostReason, Outcome, Recorded, Release, Renew, State,
    Token,
};

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all, clippy::restriction)]
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "consumer" });
}

use bindings::idempotency::ledger::ledger as wit;

pub(super) struct Imported;

impl Calls for Imported {
    fn begin(&self, key: &str, options: &Options) -> Result<Begin<Payload>, Error> {
        let Options { scope, lease_ms, fingerprint, .. } = options.clone();
        Ok(match wit::begin(key, &wit::BeginOptions { scope, lease_ms, fingerprint })? {
            wit::BeginResult::Fresh(claim) => Begin::Fresh(claim.into()),
            wit::BeginResult::Inflight(wit::Lease { expires_at_ms, retry_after_ms }) => {
                Begin::Inflight(Lease { expires_at_ms, retry_after_ms })
            }
            wit::BeginResult::Done(outcome) => Begin::Done(Outcome {
                value: outcome.payload,
                token: outcome.token,
                completed_at_ms: outcome.completed_at_ms,
                expires_at_ms: outcome.expires_at_ms,
            }),
            wit::BeginResult::Mismatch => Begin::Mismatch,
        })
    }

    fn complete(
        &self,
        key: &str,
        token: Option<Token>,
        payload: &[u8],
        options: &Options,
    ) -> Result<Complete, Error> {
        let Options { scope, ttl_ms, upsert_on_missing, .. } = options.clone();
        let options = wit::CompleteOptions { scope, token, ttl_ms, upsert_on_missing };
        Ok(match wit::complete(key, Some(payload), &options)? {
            wit::CompleteResult::Recorded(recorded) => {
                let wit::Recorded { token, completed_at_ms, expires_at_ms } = recorded;
                Complete::Recorded(Recorded { token, completed_at_ms, expires_at_ms })
            }
            wit::CompleteResult::Lost(reason) => Complete::Lost(reason.into()),
        })
    }

    fn renew(&self, key: &str, token: Token, options: &Options) -> Result<Renew, Error> {
        let Options { scope, lease_ms, .. } = options.clone();
        Ok(match wit::renew(key, token, &wit::RenewOptions { scope, lease_ms })? {
            wit::RenewResult::Renewed(claim) => Renew::Renewed(claim.into()),
            wit::RenewResult::Lost(reason) => Renew::Lost(reason.into()),
        })
    }

    fn release(&self, key: &str, token: Token, options: &Options) -> Result<Release, Error> {
        Ok(match wit::release(key, token, options.scope.as_deref())? {
            wit::ReleaseResult::Released => Release::Released,
            wit::ReleaseResult::Lost(reason) => Release::Lost(reason.into()),
        })
    }

    fn get(&self, key: &str, options: &Options) -> Result<Option<Entry<Payload>>, Error> {
        Ok(wit::get(key, options.scope.as_deref())?.map(|entry| Entry {
            state: match entry.state {
                wit::EntryState::Inflight => State::Inflight,
                wit::EntryState::Done(payload) => State::Done(payload),
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

impl From<wit::Claim> for Claim {
    fn from(claim: wit::Claim) -> Self {
        let wit::Claim { token, expires_at_ms, attempt } = claim;
        Self { token, expires_at_ms, attempt }
    }
}

impl From<wit::LostReason> for LostReason {
    fn from(reason: wit::LostReason) -> Self {
        match reason {
            wit::LostReason::Missing => Self::Missing,
            wit::LostReason::Expired => Self::Expired,
            wit::LostReason::Superseded => Self::Superseded,
            wit::LostReason::AlreadyDone => Self::AlreadyDone,
        }
    }
}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::InvalidKey(why) => Self::InvalidKey(why),
            wit::Error::InvalidTtl(why) => Self::InvalidTtl(why),
            // Only `purge` answers this: the ledger is not what it should be.
            wit::Error::InvalidLimit(why) => Self::OutcomeUnknown(why),
            wit::Error::PayloadTooLarge(limit_bytes) => Self::PayloadTooLarge { limit_bytes },
            wit::Error::NoSuchStore => Self::NoSuchStore,
            wit::Error::AccessDenied => Self::AccessDenied,
            wit::Error::Unavailable(why) => Self::Unavailable(why),
            wit::Error::OutcomeUnknown(why) => Self::OutcomeUnknown(why),
            wit::Error::Contended(retry_after_ms) => Self::Contended { retry_after_ms },
            wit::Error::DeadlineExceeded => Self::DeadlineExceeded,
            wit::Error::Corrupt(why) => Self::Corrupt(why),
        }
    }
}
