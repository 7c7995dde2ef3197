//! The states of a key: (record found, now, arguments) -> (answer, what to append). Pure.
//!
//! Each function checks in the order in which its rows stand in `ARCHITECTURE.md`; that
//! order is part of the contract.

mod make;
mod sweep;

use crate::answer::{
    Begin, Claim, Complete, Entry, EntryState, Forget, LostReason, Release, Renew,
};
use crate::clock::{Millis, QUARANTINE_MS};
use crate::error::Error;
use crate::expiry::ClaimId;
use crate::key::Address;
use crate::record::{Record, State};
use make::{
    DELETING_HINT_MS, deletion, fresh, lease, lost, outcome, record_outcome, tombstone,
    upsert_expired, upsert_missing,
};

pub use make::deleting;
pub use sweep::{Sweep, sweep};

/// What a call is to do about the record that it found.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision<A> {
    /// Nothing to append.
    Answer(A),
    /// Append a further record of the claim that stands; once won, answer.
    Append(Record, A),
    /// Enter a new claim in the index, append its first record; once won, answer.
    Claim(Draft, A),
    /// The log's purger died: finish the deletion, then decide again.
    FinishDeletion,
}

/// The part of a [`Decision`] that is the same for every call.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to append.
    Nothing,
    /// See [`Decision::Append`].
    Append(Record),
    /// See [`Decision::Claim`].
    Claim(Draft),
    /// See [`Decision::FinishDeletion`].
    FinishDeletion,
}

impl<A> Decision<A> {
    /// What to do, and what to answer then.
    pub fn split(self) -> (Step, Option<A>) {
        match self {
            Decision::Answer(answer) => (Step::Nothing, Some(answer)),
            Decision::Append(record, answer) => (Step::Append(record), Some(answer)),
            Decision::Claim(draft, answer) => (Step::Claim(draft), Some(answer)),
            Decision::FinishDeletion => (Step::FinishDeletion, None),
        }
    }
}

/// A record that waits for its claim's id.
#[derive(Debug, PartialEq, Eq)]
pub struct Draft(Record);

impl Draft {
    /// When the record will expire.
    pub fn expires_at_ms(&self) -> Millis {
        self.0.expires_at_ms
    }

    /// The record, under the claim that the index named.
    pub fn under(self, claim: ClaimId) -> Record {
        Record { claim, ..self.0 }
    }
}

/// What `begin` asks for.
pub struct BeginAsk<'a> {
    /// Checked key.
    pub address: &'a Address,
    /// Checked lease.
    pub lease_ms: Millis,
    /// Checked fingerprint.
    pub fingerprint: Option<&'a [u8]>,
}

/// What `complete` asks for.
pub struct CompleteAsk<'a> {
    /// Checked key.
    pub address: &'a Address,
    /// Token of the caller's claim, where given.
    pub token: Option<u64>,
    /// Checked ttl.
    pub ttl_ms: Millis,
    /// Record also over a missing or expired claim.
    pub upsert: bool,
    /// Checked payload.
    pub payload: Option<&'a [u8]>,
}

/// Decides `begin`.
///
/// # Errors
/// [`Error::Corrupt`] where no greater token than the record's is left.
pub fn begin(
    found: Option<&Record>,
    now_ms: Millis,
    ask: &BeginAsk,
) -> Result<Decision<Begin>, Error> {
    let now_ms = time_on(found, now_ms);
    let Some(record) = found else { return fresh(0, 1, now_ms, ask) };
    let differs = |given: &[u8]| record.fingerprint.as_deref().is_some_and(|held| held != given);
    match record.state {
        State::Deleting if may_take_over(record, now_ms) => Ok(Decision::FinishDeletion),
        State::Deleting => Ok(Decision::Answer(Begin::Inflight(deletion(record)))),
        State::Tombstone => fresh(record.token, record.attempt.saturating_add(1), now_ms, ask),
        State::Inflight if expired(record, now_ms) => {
            fresh(record.token, record.attempt.saturating_add(1), now_ms, ask)
        }
        State::Done if expired(record, now_ms) => fresh(record.token, 1, now_ms, ask),
        _ if ask.fingerprint.is_some_and(differs) => Ok(Decision::Answer(Begin::Mismatch)),
        State::Inflight => Ok(Decision::Answer(Begin::Inflight(lease(record, now_ms)))),
        State::Done => Ok(Decision::Answer(Begin::Done(outcome(record)))),
    }
}

/// Decides `complete`. Done is looked at before expiry: a late winner never overwrites.
///
/// # Errors
/// [`Error::Contended`] for an upsert on a log that is being deleted.
pub fn complete(
    found: Option<&Record>,
    now_ms: Millis,
    ask: &CompleteAsk,
) -> Result<Decision<Complete>, Error> {
    let now_ms = time_on(found, now_ms);
    let Some(record) = found else { return Ok(upsert_missing(0, now_ms, ask)) };
    let given = ask.token.unwrap_or(record.token);
    match record.state {
        State::Done => Ok(lost(LostReason::AlreadyDone)),
        State::Deleting if ask.upsert => Err(Error::Contended(DELETING_HINT_MS)),
        State::Deleting => Ok(lost(LostReason::Missing)),
        State::Tombstone => Ok(upsert_missing(record.token, now_ms, ask)),
        State::Inflight if expired(record, now_ms) && ask.upsert && given >= record.token => {
            Ok(upsert_expired(record, given, now_ms, ask))
        }
        State::Inflight if given != record.token => Ok(lost(LostReason::Superseded)),
        State::Inflight if expired(record, now_ms) => Ok(lost(LostReason::Expired)),
        State::Inflight => Ok(record_outcome(record.clone(), now_ms, ask, Decision::Append)),
    }
}

/// Decides `renew`. Nothing is appended where the claim would not live longer.
pub fn renew(
    found: Option<&Record>,
    now_ms: Millis,
    token: u64,
    lease_ms: Millis,
) -> Decision<Renew> {
    let now_ms = time_on(found, now_ms);
    let record = match held(found, now_ms, token) {
        Ok(record) => record,
        Err(reason) => return Decision::Answer(Renew::Lost(reason)),
    };
    let expires_at_ms = record.expires_at_ms.max(now_ms.saturating_add(lease_ms));
    let answer = Renew::Renewed(Claim { token, expires_at_ms, attempt: record.attempt });
    if expires_at_ms == record.expires_at_ms {
        return Decision::Answer(answer);
    }
    Decision::Append(Record { expires_at_ms, changed_at_ms: now_ms, ..record.clone() }, answer)
}

/// Decides `release`.
pub fn release(found: Option<&Record>, now_ms: Millis, token: u64) -> Decision<Release> {
    let now_ms = time_on(found, now_ms);
    match held(found, now_ms, token) {
        Ok(record) => {
            Decision::Append(tombstone(record, record.attempt, now_ms), Release::Released)
        }
        Err(reason) => Decision::Answer(Release::Lost(reason)),
    }
}

/// Decides `get`.
pub fn get(found: Option<&Record>, now_ms: Millis) -> Option<Entry> {
    let record = found?;
    let state = match record.state {
        State::Inflight => EntryState::Inflight,
        State::Done => EntryState::Done(record.payload.clone()),
        State::Tombstone | State::Deleting => return None,
    };
    Some(Entry {
        state,
        token: record.token,
        attempt: record.attempt,
        fingerprint: record.fingerprint.clone(),
        claimed_at_ms: record.claimed_at_ms,
        completed_at_ms: record.completed_at_ms,
        expires_at_ms: record.expires_at_ms,
        expired: expired(record, time_on(found, now_ms)),
    })
}

/// Decides `forget`.
pub fn forget(found: Option<&Record>, now_ms: Millis, token: u64) -> Decision<Forget> {
    let now_ms = time_on(found, now_ms);
    let Some(record) = found else { return Decision::Answer(Forget::Missing) };
    match record.state {
        State::Tombstone | State::Deleting => Decision::Answer(Forget::Missing),
        _ if record.token != token => Decision::Answer(Forget::Superseded),
        State::Inflight if !expired(record, now_ms) => {
            Decision::Answer(Forget::Inflight(lease(record, now_ms)))
        }
        State::Inflight | State::Done => {
            Decision::Append(tombstone(record, 0, now_ms), Forget::Forgotten)
        }
    }
}

/// `now`, but never less than the record's last change.
fn time_on(found: Option<&Record>, now_ms: Millis) -> Millis {
    found.map_or(now_ms, |record| now_ms.max(record.changed_at_ms))
}

fn expired(record: &Record, now_ms: Millis) -> bool {
    record.expires_at_ms <= now_ms
}

/// Old enough to be deleted, or to have its dead purger replaced.
fn may_take_over(record: &Record, now_ms: Millis) -> bool {
    record.changed_at_ms.saturating_add(QUARANTINE_MS) <= now_ms
}

/// The record whose live claim has this token.
fn held(found: Option<&Record>, now_ms: Millis, token: u64) -> Result<&Record, LostReason> {
    let record = found.ok_or(LostReason::Missing)?;
    match record.state {
        State::Tombstone | State::Deleting => Err(LostReason::Missing),
        State::Done => Err(LostReason::AlreadyDone),
        State::Inflight if record.token != token => Err(LostReason::Superseded),
        State::Inflight if expired(record, now_ms) => Err(LostReason::Expired),
        State::Inflight => Ok(record),
    }
}

#[cfg(test)]
#[rustfmt::skip]
#[allow(clippy::type_complexity, reason = "a table: a row a call")]
#[path = "state/table.rs"]
mod tests;
