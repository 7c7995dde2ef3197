//! Between the generated types and our own, and nowhere else.

use std::time::Duration;

use crate::bindings::exports::idempotency::ledger::{
    ledger as wit, maintenance as wit_maintenance,
};
use crate::error::Error;
use crate::types::{
    Begin, BeginOptions, Claim, Complete, CompleteOptions, Entry, EntryState, Finding, Forget,
    Lease, LostReason, Outcome, PurgeOptions, PurgeReport, Recorded, Release, Renew, RenewOptions,
    StoreReport, Strategy,
};

/// Whole milliseconds, rounded up so that nothing ends early; `u64::MAX` if they do not fit.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

impl From<&BeginOptions> for wit::BeginOptions {
    fn from(options: &BeginOptions) -> Self {
        Self {
            scope: options.scope.clone(),
            lease_ms: options.lease.map(whole_ms),
            fingerprint: options.fingerprint.clone(),
        }
    }
}

impl From<&CompleteOptions> for wit::CompleteOptions {
    fn from(options: &CompleteOptions) -> Self {
        Self {
            scope: options.scope.clone(),
            token: options.token,
            ttl_ms: options.ttl.map(whole_ms),
            upsert_on_missing: options.upsert_on_missing,
        }
    }
}

impl From<&RenewOptions> for wit::RenewOptions {
    fn from(options: &RenewOptions) -> Self {
        Self { scope: options.scope.clone(), lease_ms: options.lease.map(whole_ms) }
    }
}

impl From<&PurgeOptions> for wit_maintenance::PurgeOptions {
    fn from(options: &PurgeOptions) -> Self {
        Self { before_ms: options.before_ms, limit: options.limit }
    }
}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::InvalidKey(message) => Self::InvalidKey(message),
            wit::Error::InvalidTtl(message) => Self::InvalidTtl(message),
            wit::Error::InvalidLimit(message) => Self::InvalidLimit(message),
            wit::Error::PayloadTooLarge(limit_bytes) => Self::PayloadTooLarge { limit_bytes },
            wit::Error::NoSuchStore => Self::NoSuchStore,
            wit::Error::AccessDenied => Self::AccessDenied,
            wit::Error::Unavailable(message) => Self::Unavailable(message),
            wit::Error::OutcomeUnknown(message) => Self::OutcomeUnknown(message),
            wit::Error::Contended(retry_after_ms) => Self::Contended { retry_after_ms },
            wit::Error::DeadlineExceeded => Self::DeadlineExceeded,
            wit::Error::Corrupt(message) => Self::Corrupt(message),
        }
    }
}

impl From<wit::Claim> for Claim {
    fn from(claim: wit::Claim) -> Self {
        Self { token: claim.token, expires_at_ms: claim.expires_at_ms, attempt: claim.attempt }
    }
}

impl From<wit::Lease> for Lease {
    fn from(lease: wit::Lease) -> Self {
        Self { expires_at_ms: lease.expires_at_ms, retry_after_ms: lease.retry_after_ms }
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

impl From<wit::Outcome> for Outcome {
    fn from(outcome: wit::Outcome) -> Self {
        Self {
            payload: outcome.payload,
            token: outcome.token,
            completed_at_ms: outcome.completed_at_ms,
            expires_at_ms: outcome.expires_at_ms,
        }
    }
}

impl From<wit::BeginResult> for Begin {
    fn from(answer: wit::BeginResult) -> Self {
        match answer {
            wit::BeginResult::Fresh(claim) => Self::Fresh(claim.into()),
            wit::BeginResult::Inflight(lease) => Self::Inflight(lease.into()),
            wit::BeginResult::Done(outcome) => Self::Done(outcome.into()),
            wit::BeginResult::Mismatch => Self::Mismatch,
        }
    }
}

impl From<wit::CompleteResult> for Complete {
    fn from(answer: wit::CompleteResult) -> Self {
        match answer {
            wit::CompleteResult::Recorded(recorded) => Self::Recorded(Recorded {
                token: recorded.token,
                completed_at_ms: recorded.completed_at_ms,
                expires_at_ms: recorded.expires_at_ms,
            }),
            wit::CompleteResult::Lost(reason) => Self::Lost(reason.into()),
        }
    }
}

impl From<wit::RenewResult> for Renew {
    fn from(answer: wit::RenewResult) -> Self {
        match answer {
            wit::RenewResult::Renewed(claim) => Self::Renewed(claim.into()),
            wit::RenewResult::Lost(reason) => Self::Lost(reason.into()),
        }
    }
}

impl From<wit::ReleaseResult> for Release {
    fn from(answer: wit::ReleaseResult) -> Self {
        match answer {
            wit::ReleaseResult::Released => Self::Released,
            wit::ReleaseResult::Lost(reason) => Self::Lost(reason.into()),
        }
    }
}

impl From<wit::Entry> for Entry {
    fn from(entry: wit::Entry) -> Self {
        Self {
            state: match entry.state {
                wit::EntryState::Inflight => EntryState::Inflight,
                wit::EntryState::Done(payload) => EntryState::Done(payload),
            },
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

impl From<wit_maintenance::ForgetResult> for Forget {
    fn from(answer: wit_maintenance::ForgetResult) -> Self {
        match answer {
            wit_maintenance::ForgetResult::Forgotten => Self::Forgotten,
            wit_maintenance::ForgetResult::Missing => Self::Missing,
            wit_maintenance::ForgetResult::Superseded => Self::Superseded,
            wit_maintenance::ForgetResult::Inflight(lease) => Self::Inflight(lease.into()),
        }
    }
}

impl From<wit_maintenance::PurgeReport> for PurgeReport {
    fn from(report: wit_maintenance::PurgeReport) -> Self {
        Self { removed: report.removed, reclaimed: report.reclaimed, more: report.more }
    }
}

impl From<wit_maintenance::Finding> for Finding {
    fn from(finding: wit_maintenance::Finding) -> Self {
        match finding {
            wit_maintenance::Finding::Sound => Self::Sound,
            wit_maintenance::Finding::Unsound(message) => Self::Unsound(message),
            wit_maintenance::Finding::Untested => Self::Untested,
        }
    }
}

impl From<wit_maintenance::StoreReport> for StoreReport {
    fn from(report: wit_maintenance::StoreReport) -> Self {
        Self {
            strategy: match report.strategy {
                wit_maintenance::Strategy::Cas => Strategy::Cas,
                wit_maintenance::Strategy::Ticket => Strategy::Ticket,
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
