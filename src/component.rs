//! The component's exports: generated bindings <-> core types, nothing else.

use alloc::string::String;
use alloc::vec::Vec;

use bindings::exports::idempotency::ledger::{ledger as wit, maintenance};

use crate::answer;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::marker::Instance;
use crate::record::Strategy;
use crate::wasi::{HostBucket, HostClock};

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all, clippy::restriction)]
pub(crate) mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "provider",
        with: { "wasi:clocks/wall-clock@0.2.12": ::wasi::clocks::wall_clock },
        generate_all,
    });
    use super::Component;
    export!(Component);
}

/// Who decides who won in this build.
#[cfg(not(feature = "ticket"))]
type Decider = crate::slot_log::cas::Cas;
#[cfg(feature = "ticket")]
type Decider = crate::slot_log::ticket::Ticket;

struct Component;

static INSTANCE: Instance = Instance::new();

fn ledger() -> Ledger<'static, HostBucket, HostClock, Decider> {
    Ledger::new(HostBucket::default(), HostClock, &INSTANCE)
}

impl wit::Guest for Component {
    fn begin(key: String, options: wit::BeginOptions) -> Result<wit::BeginResult, wit::Error> {
        let wit::BeginOptions { scope, lease_ms, fingerprint } = options;
        let options = answer::BeginOptions { scope, lease_ms, fingerprint };
        Ok(ledger().begin(&key, &options)?.into())
    }

    fn complete(
        key: String,
        payload: Option<Vec<u8>>,
        options: wit::CompleteOptions,
    ) -> Result<wit::CompleteResult, wit::Error> {
        let wit::CompleteOptions { scope, token, ttl_ms, upsert_on_missing } = options;
        let options = answer::CompleteOptions { scope, token, ttl_ms, upsert_on_missing };
        Ok(ledger().complete(&key, payload.as_deref(), &options)?.into())
    }

    fn renew(
        key: String,
        token: u64,
        options: wit::RenewOptions,
    ) -> Result<wit::RenewResult, wit::Error> {
        let wit::RenewOptions { scope, lease_ms } = options;
        let options = answer::RenewOptions { scope, lease_ms };
        Ok(ledger().renew(&key, token, &options)?.into())
    }

    fn release(
        key: String,
        token: u64,
        scope: Option<String>,
    ) -> Result<wit::ReleaseResult, wit::Error> {
        Ok(ledger().release(&key, token, scope.as_deref())?.into())
    }

    fn get(key: String, scope: Option<String>) -> Result<Option<wit::Entry>, wit::Error> {
        Ok(ledger().get(&key, scope.as_deref())?.map(Into::into))
    }
}

impl maintenance::Guest for Component {
    fn purge(options: maintenance::PurgeOptions) -> Result<maintenance::PurgeReport, wit::Error> {
        let maintenance::PurgeOptions { before_ms, limit } = options;
        let answer::PurgeReport { removed, reclaimed, more } =
            ledger().purge(&answer::PurgeOptions { before_ms, limit })?;
        Ok(maintenance::PurgeReport { removed, reclaimed, more })
    }

    fn forget(
        key: String,
        token: u64,
        scope: Option<String>,
    ) -> Result<maintenance::ForgetResult, wit::Error> {
        Ok(ledger().forget(&key, token, scope.as_deref())?.into())
    }

    fn check_store() -> Result<maintenance::StoreReport, wit::Error> {
        Ok(ledger().check_store()?.into())
    }
}

impl From<answer::Claim> for wit::Claim {
    fn from(claim: answer::Claim) -> Self {
        let answer::Claim { token, expires_at_ms, attempt } = claim;
        wit::Claim { token, expires_at_ms, attempt }
    }
}

impl From<answer::Lease> for wit::Lease {
    fn from(lease: answer::Lease) -> Self {
        let answer::Lease { expires_at_ms, retry_after_ms } = lease;
        wit::Lease { expires_at_ms, retry_after_ms }
    }
}

impl From<answer::Begin> for wit::BeginResult {
    fn from(answer: answer::Begin) -> Self {
        match answer {
            answer::Begin::Fresh(claim) => wit::BeginResult::Fresh(claim.into()),
            answer::Begin::Inflight(lease) => wit::BeginResult::Inflight(lease.into()),
            answer::Begin::Done(outcome) => {
                let answer::Outcome { payload, token, completed_at_ms, expires_at_ms } = outcome;
                wit::BeginResult::Done(wit::Outcome {
                    payload,
                    token,
                    completed_at_ms,
                    expires_at_ms,
                })
            }
            answer::Begin::Mismatch => wit::BeginResult::Mismatch,
        }
    }
}

impl From<answer::Complete> for wit::CompleteResult {
    fn from(answer: answer::Complete) -> Self {
        match answer {
            answer::Complete::Recorded(recorded) => {
                let answer::Recorded { token, completed_at_ms, expires_at_ms } = recorded;
                wit::CompleteResult::Recorded(wit::Recorded {
                    token,
                    completed_at_ms,
                    expires_at_ms,
                })
            }
            answer::Complete::Lost(reason) => wit::CompleteResult::Lost(reason.into()),
        }
    }
}

impl From<answer::LostReason> for wit::LostReason {
    fn from(reason: answer::LostReason) -> Self {
        match reason {
            answer::LostReason::Missing => wit::LostReason::Missing,
            answer::LostReason::Expired => wit::LostReason::Expired,
            answer::LostReason::Superseded => wit::LostReason::Superseded,
            answer::LostReason::AlreadyDone => wit::LostReason::AlreadyDone,
        }
    }
}

impl From<answer::Renew> for wit::RenewResult {
    fn from(answer: answer::Renew) -> Self {
        match answer {
            answer::Renew::Renewed(claim) => wit::RenewResult::Renewed(claim.into()),
            answer::Renew::Lost(reason) => wit::RenewResult::Lost(reason.into()),
        }
    }
}

impl From<answer::Release> for wit::ReleaseResult {
    fn from(answer: answer::Release) -> Self {
        match answer {
            answer::Release::Released => wit::ReleaseResult::Released,
            answer::Release::Lost(reason) => wit::ReleaseResult::Lost(reason.into()),
        }
    }
}

impl From<answer::Entry> for wit::Entry {
    fn from(entry: answer::Entry) -> Self {
        let state = match entry.state {
            answer::EntryState::Inflight => wit::EntryState::Inflight,
            answer::EntryState::Done(payload) => wit::EntryState::Done(payload),
        };
        wit::Entry {
            state,
            token: entry.token,
            attempt: entry.attempt,
            fingerprint: entry.fingerprint,
            claimed_at_ms: entry.claimed_at_ms,
            completed_at_ms: entry.completed_at_ms,
            expires_at_ms: entry.expires_at_ms,
            expired: entry.expired,
        }
    }
}

impl From<answer::Forget> for maintenance::ForgetResult {
    fn from(answer: answer::Forget) -> Self {
        match answer {
            answer::Forget::Forgotten => maintenance::ForgetResult::Forgotten,
            answer::Forget::Missing => maintenance::ForgetResult::Missing,
            answer::Forget::Superseded => maintenance::ForgetResult::Superseded,
            answer::Forget::Inflight(lease) => maintenance::ForgetResult::Inflight(lease.into()),
        }
    }
}

impl From<answer::Finding> for maintenance::Finding {
    fn from(finding: answer::Finding) -> Self {
        match finding {
            answer::Finding::Sound => maintenance::Finding::Sound,
            answer::Finding::Unsound(why) => maintenance::Finding::Unsound(why),
            answer::Finding::Untested => maintenance::Finding::Untested,
        }
    }
}

impl From<answer::StoreReport> for maintenance::StoreReport {
    fn from(report: answer::StoreReport) -> Self {
        maintenance::StoreReport {
            strategy: match report.strategy {
                Strategy::Cas => maintenance::Strategy::Cas,
                Strategy::Ticket => maintenance::Strategy::Ticket,
            },
            sound: report.sound,
            read_your_writes: report.read_your_writes.into(),
            increment: report.increment.into(),
            swap_absent: report.swap_absent.into(),
            swap_present: report.swap_present.into(),
            swap_answer: report.swap_answer.into(),
            now_ms: report.now_ms,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidKey(why) => wit::Error::InvalidKey(why),
            Error::InvalidTtl(why) => wit::Error::InvalidTtl(why),
            Error::InvalidLimit(why) => wit::Error::InvalidLimit(why),
            Error::PayloadTooLarge(limit_bytes) => wit::Error::PayloadTooLarge(limit_bytes),
            Error::NoSuchStore => wit::Error::NoSuchStore,
            Error::AccessDenied => wit::Error::AccessDenied,
            Error::Unavailable(why) => wit::Error::Unavailable(why),
            Error::OutcomeUnknown(why) => wit::Error::OutcomeUnknown(why),
            Error::Contended(retry_after_ms) => wit::Error::Contended(retry_after_ms),
            Error::DeadlineExceeded => wit::Error::DeadlineExceeded,
            Error::Corrupt(why) => wit::Error::Corrupt(why),
        }
    }
}
