//! One entry: look at its slot, and do what is due.

use super::{Number, Purge};
use crate::bucket::Bucket;
use crate::clock::{Millis, QUARANTINE_MS};
use crate::error::Error;
use crate::expiry::index::IndexEntry;
use crate::expiry::wheel::TimeBucket;
use crate::record::Record;
use crate::slot_log::{Append, Deletion, Proof, SlotLog, Tail};
use crate::state::{self, Sweep};

/// A purge stops after this long; `more` says that it did.
const SLICE_MS: Millis = 10_000;
/// What cannot be read is looked at again after this long.
const UNREADABLE_MS: Millis = 86_400_000;
/// Looks at one slot before it is left to the next purge.
const TRIES: usize = 3;

impl<B: Bucket, L: SlotLog<B>> Purge<'_, B, L> {
    pub(super) fn sweep_number(
        &mut self,
        bucket: TimeBucket,
        number: u64,
    ) -> Result<Number, Error> {
        let Some(bytes) = self.index.entry(bucket, number)? else { return Ok(Number::Missing) };
        let Some(entry) = IndexEntry::parse(&bytes) else {
            return self.set_aside(bucket, number, &bytes);
        };
        if entry.at_ms > self.now_ms {
            return self.move_entry(bucket, number, &entry, entry.at_ms);
        }
        for _ in 0..TRIES {
            let tail = match L::read(self.bucket, self.op, &entry.slot) {
                Ok(tail) => tail,
                Err(error @ Error::Corrupt(_)) => {
                    self.unreadable = Some(error);
                    let at_ms = self.now_ms.saturating_add(UNREADABLE_MS);
                    return self.move_entry(bucket, number, &entry, at_ms);
                }
                Err(error) => return Err(error),
            };
            if tail.pending_until_ms().is_some_and(|until_ms| until_ms > self.now_ms) {
                L::wait_for(self.bucket, self.op, &entry.slot, &tail)?;
                return Ok(Number::Kept);
            }
            if let Some(done) = self.sweep_tail(bucket, number, &entry, tail)? {
                return Ok(done);
            }
        }
        self.report.more = true;
        Ok(Number::Kept)
    }

    /// None where somebody appended meanwhile: look again.
    fn sweep_tail(
        &mut self,
        bucket: TimeBucket,
        number: u64,
        entry: &IndexEntry,
        tail: L::Tail,
    ) -> Result<Option<Number>, Error> {
        match state::sweep(tail.record(), entry.claim, self.now_ms, self.limits.cutoff_ms) {
            Sweep::Drop if tail.pending_until_ms().is_some() => {
                self.clear_up(bucket, number, entry, tail)
            }
            Sweep::Drop => {
                if !L::confirm(self.bucket, self.op, &entry.slot, &tail)? {
                    return Ok(None);
                }
                self.settle(bucket, number).map(Some)
            }
            Sweep::Keep => Ok(Some(Number::Kept)),
            Sweep::Wait(at_ms) => self.move_entry(bucket, number, entry, at_ms).map(Some),
            Sweep::Remove(_) if self.report.removed >= self.limits.limit => Ok(Some(self.stop())),
            Sweep::Remove(tombstone) => {
                if let Some(kept) = self.append(entry, tail, &tombstone)? {
                    return Ok(kept);
                }
                self.report.removed = self.report.removed.saturating_add(1);
                let at_ms = tombstone.changed_at_ms.saturating_add(QUARANTINE_MS);
                self.move_entry(bucket, number, entry, at_ms).map(Some)
            }
            Sweep::Delete(_) if self.report.reclaimed >= self.limits.limit => Ok(Some(self.stop())),
            Sweep::Delete(deleting) => {
                match L::delete(self.bucket, self.op, &entry.slot, tail, &deleting)? {
                    Deletion::Lost => return Ok(None),
                    Deletion::Wait(at_ms) => {
                        return self.move_entry(bucket, number, entry, at_ms).map(Some);
                    }
                    Deletion::Done => {}
                }
                self.report.reclaimed = self.report.reclaimed.saturating_add(1);
                self.settle(bucket, number).map(Some)
            }
        }
    }

    /// Somebody died between deciding and writing, and his claim can no longer come. Where
    /// others have records, those clear the log up; where nobody has, a blank tombstone does.
    fn clear_up(
        &mut self,
        bucket: TimeBucket,
        number: u64,
        entry: &IndexEntry,
        tail: L::Tail,
    ) -> Result<Option<Number>, Error> {
        if tail.record().is_some() {
            return Ok(Some(Number::Kept));
        }
        let blank = Record::blank(entry.claim, self.op.now_ms());
        if let Some(kept) = self.append(entry, tail, &blank)? {
            return Ok(kept);
        }
        let at_ms = blank.changed_at_ms.saturating_add(QUARANTINE_MS);
        self.move_entry(bucket, number, entry, at_ms).map(Some)
    }

    /// None where it was won; otherwise what becomes of the entry.
    fn append(
        &self,
        entry: &IndexEntry,
        tail: L::Tail,
        record: &Record,
    ) -> Result<Option<Option<Number>>, Error> {
        match L::append(self.bucket, self.op, &entry.slot, tail, record, Proof::None)? {
            Append::Won => Ok(None),
            Append::Lost(_) => Ok(Some(None)),
            Append::Unsettled => Ok(Some(Some(Number::Kept))),
            Append::Unknown(why) => Err(Error::OutcomeUnknown(why)),
        }
    }

    /// The new entry first: whoever dies between, there is one.
    fn move_entry(
        &mut self,
        bucket: TimeBucket,
        number: u64,
        entry: &IndexEntry,
        at_ms: Millis,
    ) -> Result<Number, Error> {
        if TimeBucket::of(at_ms, self.now_ms) == bucket {
            return Ok(Number::Kept);
        }
        self.index.enter_again(&entry.slot, entry.claim, at_ms)?;
        self.settle(bucket, number)
    }

    fn set_aside(
        &mut self,
        bucket: TimeBucket,
        number: u64,
        bytes: &[u8],
    ) -> Result<Number, Error> {
        let message = "an entry of the expiry index is unreadable; its key is not purged before a `begin` on it";
        self.unreadable = Some(Error::Corrupt(message.into()));
        self.index.set_aside(bytes, self.now_ms.saturating_add(UNREADABLE_MS))?;
        self.settle(bucket, number)
    }

    fn settle(&mut self, bucket: TimeBucket, number: u64) -> Result<Number, Error> {
        self.index.remove_entry(bucket, number)?;
        self.moves = self.moves.saturating_sub(1);
        let spent_ms = self.op.now_ms().saturating_sub(self.now_ms);
        if self.moves == 0 || spent_ms > SLICE_MS {
            self.stopped = true;
        }
        Ok(Number::Settled)
    }

    fn stop(&mut self) -> Number {
        self.stopped = true;
        Number::Kept
    }
}
