//! What a purge does about an entry of the index.

use super::make::{deleting, tombstone};
use super::{may_take_over, time_on};
use crate::clock::{Millis, QUARANTINE_MS};
use crate::expiry::ClaimId;
use crate::record::{Record, State};

/// What a purge is to do about an index entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Remove the expired key: append this tombstone.
    Remove(Record),
    /// Delete the log: append this record, then remove the slot.
    Delete(Record),
    /// Nothing to do before this time: move the entry there.
    Wait(Millis),
    /// Expired, but not before the cutoff, or about to be claimed: leave the entry where it is.
    Keep,
    /// No record of this claim exists or can still come: drop the entry.
    Drop,
}

/// Decides about the entry of `claim`: `cutoff_ms`, at most now, is what expiries are
/// compared with.
pub fn sweep(found: Option<&Record>, claim: ClaimId, now_ms: Millis, cutoff_ms: Millis) -> Sweep {
    let Some(record) = found.filter(|record| record.claim == claim) else {
        return missing(found, claim, now_ms);
    };
    match record.state {
        State::Inflight | State::Done if record.expires_at_ms > now_ms => {
            Sweep::Wait(record.expires_at_ms)
        }
        State::Inflight | State::Done if record.expires_at_ms >= cutoff_ms => Sweep::Keep,
        State::Inflight | State::Done => {
            Sweep::Remove(tombstone(record, 0, time_on(found, now_ms)))
        }
        State::Tombstone | State::Deleting if may_take_over(record, now_ms) => {
            Sweep::Delete(deleting(record, now_ms))
        }
        State::Tombstone | State::Deleting => {
            Sweep::Wait(record.changed_at_ms.saturating_add(QUARANTINE_MS))
        }
    }
}

/// Its begin may be under way still, unless the slot has a live record: then it lost the race.
fn missing(found: Option<&Record>, claim: ClaimId, now_ms: Millis) -> Sweep {
    let lives = |record: &Record| {
        matches!(record.state, State::Inflight | State::Done) && record.expires_at_ms > now_ms
    };
    if claim.settles_at_ms() <= now_ms {
        Sweep::Drop
    } else if found.is_some_and(lives) {
        Sweep::Wait(claim.settles_at_ms())
    } else {
        Sweep::Keep
    }
}
