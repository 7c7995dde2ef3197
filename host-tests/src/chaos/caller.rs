//! One call on the component, and its answer in the oracle's words.

use std::time::Duration;

use idempotency_ledger::{Error as CoreError, answer as core};
use idempotency_ledger_host::{
    Begin, BeginOptions, Claim, Complete, CompleteOptions, Entry, EntryState, Error, Forget, Lease,
    Ledger, LostReason, PurgeOptions, PurgeReport, Release, Renew, RenewOptions,
};

use super::plan::Address;
use crate::oracle::{Answer, Call};

/// Makes the call.
pub(super) async fn make(
    ledger: &Ledger,
    address: &Address,
    call: Call,
    token: Option<u64>,
) -> Answer {
    let Address { key, scope } = *address;
    let some = token.unwrap_or_default();
    let answer = match call {
        Call::Begin { lease_ms } => {
            let lease = Some(Duration::from_millis(lease_ms));
            let options =
                BeginOptions { lease, scope: scope.map(str::to_owned), ..Default::default() };
            ledger.begin(key, &options).await.map(|begin| Answer::Begin(begin_of(begin)))
        }
        Call::Complete { ttl_ms, upsert, payload, .. } => {
            let options = CompleteOptions {
                scope: scope.map(str::to_owned),
                token,
                ttl: Some(Duration::from_millis(ttl_ms)),
                upsert_on_missing: upsert,
            };
            let complete = ledger.complete(key, Some(vec![payload]), &options).await;
            complete.map(|complete| Answer::Complete(complete_of(complete)))
        }
        Call::Renew { lease_ms, .. } => {
            let lease = Some(Duration::from_millis(lease_ms));
            let options = RenewOptions { scope: scope.map(str::to_owned), lease };
            ledger.renew(key, some, &options).await.map(|renew| Answer::Renew(renew_of(renew)))
        }
        Call::Release { .. } => {
            let release = ledger.release(key, some, scope).await;
            release.map(|release| Answer::Release(release_of(release)))
        }
        Call::Get => ledger.get(key, scope).await.map(|entry| Answer::Get(entry.map(entry_of))),
        Call::Forget { .. } => {
            let forget = ledger.forget(key, some, scope).await;
            forget.map(|forget| Answer::Forget(forget_of(forget)))
        }
        Call::Purge { limit } => {
            let options = PurgeOptions { limit: Some(limit), ..Default::default() };
            ledger.purge(&options).await.map(|report| Answer::Purge(report_of(report)))
        }
    };
    answer.unwrap_or_else(|error| Answer::Error(error_of(error)))
}

fn begin_of(begin: Begin) -> core::Begin {
    match begin {
        Begin::Fresh(claim) => core::Begin::Fresh(claim_of(claim)),
        Begin::Inflight(lease) => core::Begin::Inflight(lease_of(lease)),
        Begin::Done(outcome) => core::Begin::Done(core::Outcome {
            payload: outcome.payload,
            token: outcome.token,
            completed_at_ms: outcome.completed_at_ms,
            expires_at_ms: outcome.expires_at_ms,
        }),
        Begin::Mismatch => core::Begin::Mismatch,
    }
}

fn complete_of(complete: Complete) -> core::Complete {
    match complete {
        Complete::Recorded(recorded) => core::Complete::Recorded(core::Recorded {
            token: recorded.token,
            completed_at_ms: recorded.completed_at_ms,
            expires_at_ms: recorded.expires_at_ms,
        }),
        Complete::Lost(reason) => core::Complete::Lost(reason_of(reason)),
    }
}

fn renew_of(renew: Renew) -> core::Renew {
    match renew {
        Renew::Renewed(claim) => core::Renew::Renewed(claim_of(claim)),
        Renew::Lost(reason) => core::Renew::Lost(reason_of(reason)),
    }
}

fn release_of(release: Release) -> core::Release {
    match release {
        Release::Released => core::Release::Released,
        Release::Lost(reason) => core::Release::Lost(reason_of(reason)),
    }
}

fn report_of(report: PurgeReport) -> core::PurgeReport {
    let PurgeReport { removed, reclaimed, more } = report;
    core::PurgeReport { removed, reclaimed, more }
}

fn forget_of(forget: Forget) -> core::Forget {
    match forget {
        Forget::Forgotten => core::Forget::Forgotten,
        Forget::Missing => core::Forget::Missing,
        Forget::Superseded => core::Forget::Superseded,
        Forget::Inflight(lease) => core::Forget::Inflight(lease_of(lease)),
    }
}

fn entry_of(entry: Entry) -> core::Entry {
    core::Entry {
        state: match entry.state {
            EntryState::Inflight => core::EntryState::Inflight,
            EntryState::Done(payload) => core::EntryState::Done(payload),
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

fn claim_of(claim: Claim) -> core::Claim {
    let Claim { token, expires_at_ms, attempt } = claim;
    core::Claim { token, expires_at_ms, attempt }
}

fn lease_of(lease: Lease) -> core::Lease {
    let Lease { expires_at_ms, retry_after_ms } = lease;
    core::Lease { expires_at_ms, retry_after_ms }
}

fn reason_of(reason: LostReason) -> core::LostReason {
    match reason {
        LostReason::Missing => core::LostReason::Missing,
        LostReason::Expired => core::LostReason::Expired,
        LostReason::Superseded => core::LostReason::Superseded,
        LostReason::AlreadyDone => core::LostReason::AlreadyDone,
    }
}

/// An error that no injected fault explains, a trap say, becomes `corrupt`, which the oracle
/// never accepts.
fn error_of(error: Error) -> CoreError {
    match error {
        Error::Unavailable(why) if is_the_stores(&why) => CoreError::Unavailable(why),
        Error::OutcomeUnknown(why) if is_the_stores(&why) => CoreError::OutcomeUnknown(why),
        Error::Contended { retry_after_ms } => CoreError::Contended(retry_after_ms),
        Error::DeadlineExceeded => CoreError::DeadlineExceeded,
        other => CoreError::Corrupt(other.to_string()),
    }
}

fn is_the_stores(why: &str) -> bool {
    !["trapped", "no answer within", "no instance", "instances are busy", "cancelled"]
        .iter()
        .any(|word| why.contains(word))
}
