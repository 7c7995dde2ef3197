//! One log of records per slot, and who won an append. Only this module decides that.
//!
//! The state machine sees a slot as an append-only log and nothing else. A strategy reads
//! its settled tail and appends to it; what a strategy must hold is said at [`SlotLog`].

use alloc::format;
use alloc::string::String;

pub mod cas;

use crate::bucket::Bucket;
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::key::Address;
use crate::record::{Place, Record, Strategy, decode};

/// A way to append to a slot's log.
///
/// Of two appends to one tail at most one is ever won, whoever dies at whatever store call
/// and however late a store call takes effect. An append that is not won is never seen.
pub trait SlotLog<B: Bucket> {
    /// Of the records that it writes.
    const STRATEGY: Strategy;

    /// The settled tail of a log, and what an append to it needs.
    type Tail: Tail;

    /// Reads the settled tail of a slot.
    ///
    /// # Errors
    /// Of the store, or [`Error::Corrupt`] where the tail cannot be read. Nothing changed.
    fn read(bucket: &B, op: &Op, slot: &str) -> Result<Read<Self::Tail>, Error>;

    /// Appends `record` to `tail`.
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

    /// Removes a log whose tail is the `Deleting` record that this call appended.
    ///
    /// # Errors
    /// Of the store: stop, somebody takes the deletion over later.
    fn remove(bucket: &B, op: &Op, slot: &str) -> Result<(), Error>;
}

/// What a call learns from a settled tail.
pub trait Tail {
    /// The last record, or none for an empty log.
    fn record(&self) -> Option<&Record>;
}

/// What a read found.
pub enum Read<T> {
    /// Decide on this.
    Settled(T),
    /// Somebody is between deciding and writing, and is waited for until this time.
    Busy(Millis),
}

/// What became of an append.
pub enum Append<T> {
    /// The record is in the log.
    Won,
    /// Somebody appended first; decide again on the new tail.
    Lost(T),
    /// Somebody is between deciding and writing, and is waited for until this time; nothing
    /// was appended.
    Busy(Millis),
    /// The store failed and the record may be in the log, now or later.
    Unknown(String),
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
        .map_err(|why| Error::Corrupt(format!("the record at {store_key} is unreadable: {why}")))
}

/// A slot that holds another key is never used: the hash collided or somebody tampered.
///
/// # Errors
/// [`Error::Corrupt`].
pub(crate) fn check_owner(record: Option<&Record>, address: &Address) -> Result<(), Error> {
    match record {
        Some(record) if record.scope != address.scope || record.key != address.key => {
            Err(Error::Corrupt(format!("the slot {} holds another key", address.slot)))
        }
        _ => Ok(()),
    }
}
