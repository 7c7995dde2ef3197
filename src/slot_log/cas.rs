//! Append by compare-and-swap: one store key holds the tail, with its position.
//!
//! Positions only grow while a log exists, so a swap that was decided on an older tail can
//! never land on a newer one.

use alloc::string::String;

use super::{Append, Deletion, Proof, SlotLog, Tail, read_record};
use crate::bucket::{Bucket, StoreError, SwapError};
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::record::{Place, Record, Strategy, encode};
use crate::text::text;

/// The strategy for hosts whose compare-and-swap is sound.
pub struct Cas;

/// The tail as it was read, and the handle to replace it.
pub struct CasTail<C> {
    position: u64,
    record: Option<Record>,
    handle: C,
}

impl<C> Tail for CasTail<C> {
    fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    fn pending_until_ms(&self) -> Option<Millis> {
        None
    }
}

impl<B: Bucket> SlotLog<B> for Cas {
    const STRATEGY: Strategy = Strategy::Cas;
    type Tail = CasTail<B::Cas>;

    fn read(bucket: &B, _op: &Op, slot: &str) -> Result<Self::Tail, Error> {
        let store_key = store_key(slot);
        let handle = bucket.cas(&store_key)?;
        read_tail(bucket, &store_key, handle)
    }

    fn confirm(_: &B, _: &Op, _: &str, _: &Self::Tail) -> Result<bool, Error> {
        Ok(true)
    }

    fn wait_for(_: &B, _: &Op, _: &str, _: &Self::Tail) -> Result<(), Error> {
        Ok(())
    }

    fn append(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: Self::Tail,
        record: &Record,
        proof: Proof,
    ) -> Result<Append<Self::Tail>, Error> {
        let store_key = store_key(slot);
        let parent = tail.position;
        let place = Place { position: parent.saturating_add(1), parent, log: None };
        let bytes = encode(record, place, Strategy::Cas);
        op.may_write()?;
        match bucket.swap(tail.handle, &bytes) {
            Ok(()) => Ok(Append::Won),
            Err(SwapError::Failed(handle)) => {
                // The new tail decides; some hosts report a lost answer as a lost race.
                match read_tail(bucket, &store_key, handle) {
                    Ok(found) => Ok(lost_race(found, parent, record, proof)),
                    Err(corrupt @ Error::Corrupt(_)) => Err(corrupt),
                    Err(_) => Ok(Append::Unknown("the store failed after a lost race".into())),
                }
            }
            Err(SwapError::Store(error)) => {
                Ok(after_failure(bucket, &store_key, parent, record, proof, &error))
            }
        }
    }

    /// One caller at a time: the one whose record is appended.
    fn delete(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: Self::Tail,
        deleting: &Record,
    ) -> Result<Deletion, Error> {
        match Self::append(bucket, op, slot, tail, deleting, Proof::None)? {
            Append::Won => {}
            Append::Lost(_) => return Ok(Deletion::Lost),
            Append::Unsettled => return Ok(Deletion::Lost),
            Append::Unknown(why) => return Err(Error::Unavailable(why)),
        }
        op.may_write()?;
        bucket.delete(&store_key(slot))?;
        Ok(Deletion::Done)
    }
}

fn store_key(slot: &str) -> String {
    text!("il.r.", slot)
}

fn read_tail<B: Bucket>(
    bucket: &B,
    store_key: &str,
    handle: B::Cas,
) -> Result<CasTail<B::Cas>, Error> {
    let Some(bytes) = bucket.current(&handle)? else {
        return Ok(CasTail { position: 0, record: None, handle });
    };
    let (place, record) = read_record(store_key, &bytes, Strategy::Cas)?;
    Ok(CasTail { position: place.position, record: Some(record), handle })
}

fn lost_race<C>(
    found: CasTail<C>,
    parent: u64,
    record: &Record,
    proof: Proof,
) -> Append<CasTail<C>> {
    if is_ours(&found, parent, record, proof) { Append::Won } else { Append::Lost(found) }
}

fn is_ours<C>(found: &CasTail<C>, parent: u64, record: &Record, proof: Proof) -> bool {
    found.position > parent && found.record.as_ref().is_some_and(|found| proof.shows(found, record))
}

/// The swap may have landed, may land yet, or never. Only a tail that moved settles it: then
/// the swap can no longer land, and the record in its place is ours or another's.
fn after_failure<B: Bucket>(
    bucket: &B,
    store_key: &str,
    parent: u64,
    record: &Record,
    proof: Proof,
    error: &StoreError,
) -> Append<CasTail<B::Cas>> {
    let unknown = Append::Unknown(text!("the store failed while writing: ", error.text()));
    let Ok(handle) = bucket.cas(store_key) else { return unknown };
    let Ok(found) = read_tail(bucket, store_key, handle) else { return unknown };
    if found.position <= parent {
        return unknown;
    }
    if is_ours(&found, parent, record, proof) {
        return Append::Won;
    }
    // Further on, ours may lie below what is found; and where nothing proves it, what is found
    // may be ours, or of another with the same bytes.
    let next = found.position == parent.saturating_add(1);
    let alike =
        proof == Proof::None && found.record().is_some_and(|found| found.state == record.state);
    if next && !alike { Append::Lost(found) } else { unknown }
}
