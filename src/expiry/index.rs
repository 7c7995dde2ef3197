//! The index of claims by expiry, as it stands in the store.
//!
//! | store key | holds |
//! |---|---|
//! | `il.c` | counter of listings |
//! | `il.l.<number>` | listing: the name of a bucket that has entries |
//! | `il.b.<bucket>` | marker: the bucket is listed |
//! | `il.n.<bucket>` | counter of the bucket's entries |
//! | `il.e.<bucket>.<number>` | entry: a slot, when to look at it, and for which claim |

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::wheel::{ClaimId, TimeBucket, number};
use crate::bucket::Bucket;
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::text::text;

const LISTINGS: &str = "il.c";

/// Writes entries, and reads what a purge needs of them.
pub struct Index<'a, B> {
    bucket: &'a B,
    op: &'a Op<'a>,
}

/// One entry of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) slot: String,
    /// The slot's record of this claim does not expire before.
    pub(super) at_ms: Millis,
    pub(super) claim: ClaimId,
}

impl IndexEntry {
    /// Slot, time, bucket and number of the claim, with a blank between.
    fn line(&self) -> String {
        text!(&self.slot, " ", self.at_ms, " ", self.claim.bucket, " ", self.claim.number)
    }

    /// Reads a line back.
    pub(super) fn parse(line: &[u8]) -> Option<IndexEntry> {
        let mut words = core::str::from_utf8(line).ok()?.split(' ');
        let slot = words.next().filter(|slot| !slot.is_empty())?.to_string();
        let at_ms = number(&mut words)?;
        let bucket = TimeBucket::parse(words.next()?)?;
        let number = number(&mut words)?;
        words.next().is_none().then_some(IndexEntry {
            slot,
            at_ms,
            claim: ClaimId { bucket, number },
        })
    }
}

impl<'a, B: Bucket> Index<'a, B> {
    /// The index of a store, for one call.
    pub fn new(bucket: &'a B, op: &'a Op<'a>) -> Self {
        Index { bucket, op }
    }

    /// Enters a new claim, before its first record is appended: a look and two writes, three
    /// more writes where the bucket is new.
    ///
    /// # Errors
    /// Of the store, or [`Error::DeadlineExceeded`]. A number without an entry is harmless.
    pub fn enter(&self, slot: &str, expires_at_ms: Millis) -> Result<ClaimId, Error> {
        let (bucket, number) = self.take_number(expires_at_ms)?;
        let claim = ClaimId { bucket, number };
        self.write(bucket, number, &IndexEntry { slot: slot.into(), at_ms: expires_at_ms, claim })?;
        Ok(claim)
    }

    /// Enters a claim that has an entry once more, to be looked at at another time.
    ///
    /// # Errors
    /// As [`Index::enter`].
    pub fn enter_again(&self, slot: &str, claim: ClaimId, at_ms: Millis) -> Result<(), Error> {
        let (bucket, number) = self.take_number(at_ms)?;
        self.write(bucket, number, &IndexEntry { slot: slot.into(), at_ms, claim })
    }

    /// An entry's bytes as they are, where nobody can read them, so that nothing is lost.
    pub(super) fn set_aside(&self, bytes: &[u8], at_ms: Millis) -> Result<(), Error> {
        let (bucket, number) = self.take_number(at_ms)?;
        self.set(&entry_key(bucket, number), bytes)
    }

    /// How many numbers were given out in a bucket.
    pub(super) fn count(&self, bucket: TimeBucket) -> Result<u64, Error> {
        self.read_counter(&counter_key(bucket))
    }

    /// The bytes of an entry.
    pub(super) fn entry(&self, bucket: TimeBucket, number: u64) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.bucket.get(&entry_key(bucket, number))?)
    }

    /// Removes an entry that is settled.
    pub(super) fn remove_entry(&self, bucket: TimeBucket, number: u64) -> Result<(), Error> {
        self.delete(&entry_key(bucket, number))
    }

    /// How many listings there are.
    pub(super) fn listings(&self) -> Result<u64, Error> {
        self.read_counter(LISTINGS)
    }

    /// The bucket that a listing names.
    pub(super) fn listing(&self, number: u64) -> Result<Option<TimeBucket>, Error> {
        let store_key = listing_key(number);
        let Some(bytes) = self.bucket.get(&store_key)? else { return Ok(None) };
        let name = core::str::from_utf8(&bytes).ok();
        let bucket = name.and_then(TimeBucket::parse);
        bucket.map(Some).ok_or_else(|| Error::Corrupt(text!(&store_key, " names no time bucket")))
    }

    /// Removes an empty bucket that nobody can enter any more; its listings last, so that a
    /// purge that dies before finds it again.
    pub(super) fn remove_bucket(&self, bucket: TimeBucket, listings: &[u64]) -> Result<(), Error> {
        self.delete(&counter_key(bucket))?;
        self.delete(&marker_key(bucket))?;
        listings.iter().try_for_each(|number| self.delete(&listing_key(*number)))
    }

    /// Removes the counter of a bucket that nobody uses: one that was read after another purge
    /// had removed it is there again.
    pub(super) fn remove_stray_counter(&self, bucket: TimeBucket) -> Result<(), Error> {
        if self.bucket.exists(&marker_key(bucket))? {
            return Ok(());
        }
        self.delete(&counter_key(bucket))
    }

    /// Lists the bucket of a time first, where it is new: whatever dies, a bucket with
    /// entries is listed. Two listings of one bucket are harmless.
    fn take_number(&self, at_ms: Millis) -> Result<(TimeBucket, u64), Error> {
        let bucket = TimeBucket::of(at_ms, self.op.now_ms());
        let marker = marker_key(bucket);
        if !self.bucket.exists(&marker)? {
            let number = self.increment(LISTINGS)?;
            self.set(&listing_key(number), bucket.name().as_bytes())?;
            self.set(&marker, b"listed")?;
        }
        Ok((bucket, self.increment(&counter_key(bucket))?))
    }

    fn write(&self, bucket: TimeBucket, number: u64, entry: &IndexEntry) -> Result<(), Error> {
        self.set(&entry_key(bucket, number), entry.line().as_bytes())
    }

    fn increment(&self, store_key: &str) -> Result<u64, Error> {
        self.op.may_write()?;
        positive(store_key, self.bucket.increment(store_key, 1)?)
    }

    /// It makes a counter that is not there.
    fn read_counter(&self, store_key: &str) -> Result<u64, Error> {
        self.op.may_write()?;
        positive(store_key, self.bucket.increment(store_key, 0)?)
    }

    fn set(&self, store_key: &str, value: &[u8]) -> Result<(), Error> {
        self.op.may_write()?;
        Ok(self.bucket.set(store_key, value)?)
    }

    fn delete(&self, store_key: &str) -> Result<(), Error> {
        self.op.may_write()?;
        Ok(self.bucket.delete(store_key)?)
    }
}

fn positive(store_key: &str, count: i64) -> Result<u64, Error> {
    u64::try_from(count)
        .map_err(|_| Error::Corrupt(text!("the counter ", store_key, " is negative")))
}

fn listing_key(number: u64) -> String {
    text!("il.l.", number)
}

fn marker_key(bucket: TimeBucket) -> String {
    text!("il.b.", bucket)
}

fn counter_key(bucket: TimeBucket) -> String {
    text!("il.n.", bucket)
}

fn entry_key(bucket: TimeBucket, number: u64) -> String {
    text!("il.e.", bucket, ".", number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line() {
        let claim = ClaimId { bucket: TimeBucket::of(60_000, 0), number: 5 };
        let entry = IndexEntry { slot: "ab".into(), at_ms: 61_000, claim };
        assert_eq!(entry.line(), "ab 61000 m1 5");
        assert_eq!(IndexEntry::parse(b"ab 61000 m1 5"), Some(entry));
        for line in [
            "",
            " 1 m1 5",
            "ab 1 m1",
            "ab 1 m1 5 6",
            "ab x m1 5",
            "ab 1 w1 5",
            "ab 1 m1 -5",
            "ab  1 m1 5",
        ] {
            assert_eq!(IndexEntry::parse(line.as_bytes()), None, "{line:?}");
        }
    }
}
