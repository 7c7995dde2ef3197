//! One log of records per slot, and who won an append. Only this module decides that.
//!
//! The state machine sees a slot as an append-only log and nothing else. A strategy reads
//! its settled tail and appends to it; what a strategy must hold is said at [`SlotLog`].

use alloc::string::String;

pub mod cas;
pub mod ticket;

use crate::bucket::Bucket;
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::key::Address;
use crate::record::{Place, Record, Strategy, decode};
use crate::text::text;

/// A way to append to a slot's log.
///
/// Of two appends to one tail at most one is ever won, whoever dies at whatever store call
/// and however late a store call takes effect. An append that is not won is never answered
/// from.
pub trait SlotLog<B: Bucket> {
    /// Of the records that it writes.
    const STRATEGY: Strategy;

    /// The tail of a log, and what an append to it needs.
    type Tail: Tail;

    /// Reads the tail of a slot.
    ///
    /// # Errors
    /// Of the store, or [`Error::Corrupt`] where the tail cannot be read. Nothing changed.
    fn read(bucket: &B, op: &Op, slot: &str) -> Result<Self::Tail, Error>;

    /// Whether a tail without pending appends was the slot's at some time within this call. To
    /// be asked before anything is answered from it; an append asks by itself.
    ///
    /// # Errors
    /// As [`SlotLog::read`].
    fn confirm(bucket: &B, op: &Op, slot: &str, tail: &Self::Tail) -> Result<bool, Error>;

    /// Notes that the tail's pending appends are waited for from now on, where that is new.
    ///
    /// # Errors
    /// As [`SlotLog::append`].
    fn wait_for(bucket: &B, op: &Op, slot: &str, tail: &Self::Tail) -> Result<(), Error>;

    /// Appends `record` to `tail`, past its pending appends: whether they are waited for is the
    /// caller's affair.
    ///
    /// # Errors
    /// As [`SlotLog::read`], and [`Error::DeadlineExceeded`]; nothing was appended and
    /// nothing will be.
    fn append(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: Self::Tail,
        record: &Record,
        proof: Proof,
    ) -> Result<Append<Self::Tail>, Error>;

    /// Removes a log whose tail is a tombstone, or somebody's unfinished deletion, of
    /// `QUARANTINE_MS` ago or more: appends `deleting`, then deletes all that the log holds.
    ///
    /// # Errors
    /// Of the store: stop, somebody takes the deletion over later.
    fn delete(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: Self::Tail,
        deleting: &Record,
    ) -> Result<Deletion, Error>;
}

/// What a call learns from a tail.
pub trait Tail {
    /// The last record, or none for an empty log.
    fn record(&self) -> Option<&Record>;

    /// Somebody is between deciding and writing: until when that is waited for. A time that is
    /// past: no longer, the next append skips it; but an answer needs an append first.
    fn pending_until_ms(&self) -> Option<Millis>;
}

/// What became of an append.
pub enum Append<T> {
    /// The record is in the log, and was its tail.
    Won,
    /// Somebody appended first; decide again on the new tail.
    Lost(T),
    /// The record was written, and others are about to append, perhaps past it.
    Unsettled,
    /// The store failed and the record may be in the log, now or later.
    Unknown(String),
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The slot is empty.
    Done,
    /// Somebody appended first; look again.
    Lost,
    /// Somebody else's turn, until this time.
    Wait(Millis),
}

/// What tells one's own record in the log after an answer was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The claim's id: nobody else appends under it before this record is in.
    ClaimId,
    /// Equality: whoever wrote it, the caller's wish is done.
    Equal,
    /// Nothing does: two callers may write the same bytes, and one of them only is right.
    None,
}

impl Proof {
    /// Whether `found`, read after the failed append of `record`, shows that it succeeded.
    pub fn shows(self, found: &Record, record: &Record) -> bool {
        match self {
            Proof::ClaimId => {
                found.claim == record.claim
                    && found.token == record.token
                    && found.state == record.state
            }
            Proof::Equal => found == record,
            Proof::None => false,
        }
    }
}

/// Reads a record from a store key.
///
/// # Errors
/// [`Error::Corrupt`], naming the store key.
pub(crate) fn read_record(
    store_key: &str,
    bytes: &[u8],
    strategy: Strategy,
) -> Result<(Place, Record), Error> {
    decode(bytes, strategy)
        .map_err(|why| Error::Corrupt(text!("the record at ", store_key, " is unreadable: ", &why)))
}

/// A slot that holds another key is never used: the hash collided or somebody tampered. A
/// record without a key is no one's: it stands in for one that was never written.
///
/// # Errors
/// [`Error::Corrupt`].
pub(crate) fn check_owner(record: Option<&Record>, address: &Address) -> Result<(), Error> {
    match record {
        Some(record)
            if !record.is_blank()
                && (record.scope != address.scope || record.key != address.key) =>
        {
            Err(Error::Corrupt(text!("the slot ", &address.slot, " holds another key")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expiry::{ClaimId, TimeBucket};

    #[test]
    fn a_slot_is_used_by_its_own_key_only() {
        let address = Address::new(Some("s"), "k").unwrap();
        let claim = ClaimId { bucket: TimeBucket::of(0, 0), number: 1 };
        let blank = Record::blank(claim, 0);
        let held_by = |scope: &str, key: &str| Record {
            scope: scope.into(),
            key: key.into(),
            ..blank.clone()
        };
        assert!(check_owner(None, &address).is_ok());
        assert!(check_owner(Some(&held_by("s", "k")), &address).is_ok());
        for (scope, key) in [("s", "other"), ("other", "k"), ("k", "s")] {
            let error = check_owner(Some(&held_by(scope, key)), &address).unwrap_err();
            assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
        }
        assert!(check_owner(Some(&blank), &address).is_ok(), "it stands in for any key's");
    }
}
