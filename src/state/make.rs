//! The records that decisions append, and the answers that they give.

use alloc::vec::Vec;

use super::{BeginAsk, CompleteAsk, Decision, Draft};
use crate::answer::{Begin, Claim, Complete, Lease, LostReason, Outcome, Recorded};
use crate::clock::{Millis, QUARANTINE_MS};
use crate::error::Error;
use crate::expiry::{ClaimId, TimeBucket};
use crate::key::Address;
use crate::record::{MAX_TOKEN, Record, State};

/// How long to back off from a log that is being deleted: it takes milliseconds.
pub(super) const DELETING_HINT_MS: Millis = 100;

/// An upsert with a greater token than this is refused: no ledger issued it, and the claims
/// to come need greater ones.
const MAX_GIVEN_TOKEN: u64 = MAX_TOKEN / 2;

pub(super) fn fresh(
    last_token: u64,
    attempt: u32,
    now_ms: Millis,
    ask: &BeginAsk,
) -> Result<Decision<Begin>, Error> {
    let token = next_token(last_token, now_ms)?;
    let expires_at_ms = now_ms.saturating_add(ask.lease_ms);
    let record = Record {
        attempt,
        expires_at_ms,
        fingerprint: ask.fingerprint.map(Vec::from),
        ..first_record(token, now_ms, ask.address)
    };
    Ok(Decision::Claim(Draft(record), Begin::Fresh(Claim { token, expires_at_ms, attempt })))
}

/// Greater than every token before it, across purges too unless the clock stepped far back.
fn next_token(last_token: u64, now_ms: Millis) -> Result<u64, Error> {
    let token = last_token.saturating_add(1).max(now_ms.min(MAX_GIVEN_TOKEN));
    if token > MAX_TOKEN {
        return Err(Error::Corrupt("the key's token is the greatest there is".into()));
    }
    Ok(token)
}

fn first_record(token: u64, now_ms: Millis, address: &Address) -> Record {
    Record {
        state: State::Inflight,
        token,
        attempt: 1,
        claimed_at_ms: now_ms,
        completed_at_ms: None,
        expires_at_ms: now_ms,
        changed_at_ms: now_ms,
        fingerprint: None,
        scope: address.scope.clone(),
        key: address.key.clone(),
        claim: ClaimId { bucket: TimeBucket::of(now_ms, now_ms), number: 0 },
        payload: None,
    }
}

pub(super) fn upsert_missing(
    last_token: u64,
    now_ms: Millis,
    ask: &CompleteAsk,
) -> Decision<Complete> {
    if !ask.upsert || ask.token.is_some_and(|token| token > MAX_GIVEN_TOKEN) {
        return lost(LostReason::Missing);
    }
    if ask.token.is_some_and(|token| token < last_token) {
        return lost(LostReason::Superseded);
    }
    let token = match (ask.token, next_token(last_token, now_ms)) {
        (Some(token), _) | (None, Ok(token)) => token,
        (None, Err(_)) => return lost(LostReason::Missing),
    };
    let record = first_record(token, now_ms, ask.address);
    record_outcome(record, now_ms, ask, |record, answer| Decision::Claim(Draft(record), answer))
}

pub(super) fn upsert_expired(
    record: &Record,
    token: u64,
    now_ms: Millis,
    ask: &CompleteAsk,
) -> Decision<Complete> {
    if token > MAX_GIVEN_TOKEN {
        return lost(LostReason::Expired);
    }
    record_outcome(Record { token, ..record.clone() }, now_ms, ask, Decision::Append)
}

pub(super) fn record_outcome(
    record: Record,
    now_ms: Millis,
    ask: &CompleteAsk,
    append: impl FnOnce(Record, Complete) -> Decision<Complete>,
) -> Decision<Complete> {
    let expires_at_ms = now_ms.saturating_add(ask.ttl_ms);
    let token = record.token;
    let done = Record {
        state: State::Done,
        completed_at_ms: Some(now_ms),
        expires_at_ms,
        changed_at_ms: now_ms,
        payload: ask.payload.map(Vec::from),
        ..record
    };
    append(done, Complete::Recorded(Recorded { token, completed_at_ms: now_ms, expires_at_ms }))
}

pub(super) fn tombstone(record: &Record, attempt: u32, now_ms: Millis) -> Record {
    Record {
        state: State::Tombstone,
        attempt,
        completed_at_ms: None,
        expires_at_ms: now_ms,
        changed_at_ms: now_ms,
        fingerprint: None,
        payload: None,
        ..record.clone()
    }
}

pub(super) fn lost(reason: LostReason) -> Decision<Complete> {
    Decision::Answer(Complete::Lost(reason))
}

pub(super) fn outcome(record: &Record) -> Outcome {
    Outcome {
        payload: record.payload.clone(),
        token: record.token,
        completed_at_ms: record.completed_at_ms.unwrap_or(record.changed_at_ms),
        expires_at_ms: record.expires_at_ms,
    }
}

/// A hint within 1 and the lease that was granted, wherever the clock stands.
pub(super) fn lease(record: &Record, now_ms: Millis) -> Lease {
    let granted_ms = record.expires_at_ms.saturating_sub(record.changed_at_ms).max(1);
    let left_ms = record.expires_at_ms.saturating_sub(now_ms);
    Lease { expires_at_ms: record.expires_at_ms, retry_after_ms: left_ms.clamp(1, granted_ms) }
}

pub(super) fn deletion(record: &Record) -> Lease {
    let expires_at_ms = record.changed_at_ms.saturating_add(QUARANTINE_MS);
    Lease { expires_at_ms, retry_after_ms: DELETING_HINT_MS }
}

/// The record that announces the physical deletion of a log.
pub fn deleting(record: &Record, now_ms: Millis) -> Record {
    Record {
        state: State::Deleting,
        changed_at_ms: now_ms,
        ..tombstone(record, record.attempt, now_ms)
    }
}
