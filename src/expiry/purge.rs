//! One purge: the due buckets, oldest first, entry by entry, until a limit is reached.

mod entry;

use alloc::vec::Vec;

use core::marker::PhantomData;

use super::index::Index;
use super::progress::{BucketProgress, Hole, Progress};
use crate::answer::PurgeReport;
use crate::bucket::Bucket;
use crate::clock::{Millis, Op, QUARANTINE_MS};
use crate::error::Error;
use crate::slot_log::SlotLog;

/// Listings that one purge reads, and buckets that the progress holds at most: all days of
/// ten years, and the hours and minutes of the wheel.
const LISTINGS_PER_CALL: u64 = 1_000;
const MAX_BUCKETS: usize = 4_096;
/// Entries moved per key that may be removed, and a few for a small limit.
const MOVES_PER_REMOVAL: u32 = 10;
const MIN_MOVES: u32 = 100;
/// Entries settled between two writes of the progress.
const SAVE_EVERY: u32 = 256;

/// What bounds one purge.
pub(crate) struct Limits {
    /// Expiries before this are removed; at most now.
    pub(crate) cutoff_ms: Millis,
    /// Most removals, and most reclaims.
    pub(crate) limit: u32,
}

/// Removes what is due, and deletes what was removed `QUARANTINE_MS` ago.
///
/// # Errors
/// Of the store, [`Error::OutcomeUnknown`] once it began; [`Error::Contended`] while another
/// purge is at it; [`Error::Corrupt`], at its end, where it met something unreadable and set it
/// aside for a day.
pub(crate) fn purge<B: Bucket, L: SlotLog<B>>(
    bucket: &B,
    op: &Op,
    limits: Limits,
) -> Result<PurgeReport, Error> {
    let mut progress = Progress::load(bucket)?;
    let now_ms = op.started_at_ms();
    progress.check_lease(now_ms)?;
    let mut purge: Purge<B, L> = Purge {
        bucket,
        op,
        index: Index::new(bucket, op),
        now_ms,
        moves: limits.limit.saturating_mul(MOVES_PER_REMOVAL).saturating_add(MIN_MOVES),
        limits,
        report: PurgeReport::default(),
        stopped: false,
        unreadable: None,
        strategy: PhantomData,
    };
    let before = progress.clone();
    purge.read_listings(&mut progress)?;
    if progress == before && !progress.buckets.iter().any(|known| purge.is_due(known)) {
        return Ok(purge.report);
    }
    progress.take_lease(now_ms);
    progress.save(bucket, op)?;
    let swept = purge.sweep(&mut progress);
    progress.give_back_lease();
    let saved = progress.save(bucket, op);
    swept.and(saved).map_err(half_way)?;
    match purge.unreadable {
        Some(error) => Err(error),
        None => Ok(PurgeReport { more: purge.report.more || purge.stopped, ..purge.report }),
    }
}

/// What was removed before the store failed stays removed.
fn half_way(error: Error) -> Error {
    match error {
        Error::Unavailable(why) => Error::OutcomeUnknown(why),
        Error::DeadlineExceeded => Error::OutcomeUnknown("the purge ran out of time".into()),
        other => other,
    }
}

struct Purge<'a, B, L> {
    bucket: &'a B,
    op: &'a Op<'a>,
    index: Index<'a, B>,
    now_ms: Millis,
    limits: Limits,
    /// Moves left.
    moves: u32,
    report: PurgeReport,
    /// A limit was reached with work left.
    stopped: bool,
    unreadable: Option<Error>,
    strategy: PhantomData<L>,
}

/// What became of one number of a bucket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    /// Its entry is gone.
    Settled,
    /// No entry: its begin died, or is under way.
    Missing,
    /// Left where it is.
    Kept,
}

impl<B: Bucket, L: SlotLog<B>> Purge<'_, B, L> {
    /// Reads the listings since the last purge, and those that were missing then.
    fn read_listings(&mut self, progress: &mut Progress) -> Result<(), Error> {
        for hole in core::mem::take(&mut progress.holes) {
            match self.index.listing(hole.number)? {
                Some(bucket) => progress.add(bucket, hole.number),
                None if hole.seen_at_ms.saturating_add(QUARANTINE_MS) > self.now_ms => {
                    progress.holes.push(hole)
                }
                None => {}
            }
        }
        let count = self.index.listings()?;
        let last = count.min(progress.listed.saturating_add(LISTINGS_PER_CALL));
        while progress.listed < last && progress.buckets.len() < MAX_BUCKETS {
            let number = progress.listed.saturating_add(1);
            match self.index.listing(number)? {
                Some(bucket) => progress.add(bucket, number),
                None => progress.holes.push(Hole { number, seen_at_ms: self.now_ms }),
            }
            progress.listed = number;
        }
        self.report.more = progress.listed < count;
        Ok(())
    }

    fn sweep(&mut self, progress: &mut Progress) -> Result<(), Error> {
        let mut at = 0;
        let mut unsaved = self.moves;
        while let Some(known) = progress.buckets.get_mut(at).filter(|known| self.is_due(known)) {
            let closed = self.sweep_bucket(known);
            if let Ok(true) = closed {
                progress.buckets.remove(at);
            } else {
                at = at.saturating_add(1);
            }
            closed?;
            if self.stopped {
                break;
            }
            if unsaved.saturating_sub(self.moves) >= SAVE_EVERY {
                unsaved = self.moves;
                progress.save(self.bucket, self.op)?;
            }
        }
        Ok(())
    }

    fn is_due(&self, known: &BucketProgress) -> bool {
        known.bucket.begins_at_ms() <= self.now_ms
    }

    /// Answers whether the bucket is closed: empty, and nobody can enter it any more.
    fn sweep_bucket(&mut self, known: &mut BucketProgress) -> Result<bool, Error> {
        let closes = known.bucket.closes_at_ms() <= self.now_ms;
        if closes && !self.is_listed(known)? {
            // Another purge closed it; its name may be in use again.
            self.index.remove_stray_counter(known.bucket)?;
            return Ok(true);
        }
        let count = self.index.count(known.bucket)?;
        let mut ranges = core::mem::take(&mut known.open);
        if known.seen < count {
            ranges.push((known.seen.saturating_add(1), count));
            known.seen = count;
        }
        let kept = self.sweep_ranges(known, ranges)?;
        if !closes || kept {
            return Ok(false);
        }
        self.index.remove_bucket(known.bucket, &known.listings)?;
        Ok(true)
    }

    /// Answers whether an entry is left. Numbers that are not settled stay open, also when
    /// the store fails on the way.
    fn sweep_ranges(
        &mut self,
        known: &mut BucketProgress,
        ranges: Vec<(u64, u64)>,
    ) -> Result<bool, Error> {
        let mut kept = false;
        let mut failed = None;
        for (first, last) in ranges {
            let mut number = first;
            while number <= last && !self.stopped && failed.is_none() {
                match self.sweep_number(known.bucket, number) {
                    Ok(Number::Settled) => {}
                    Ok(open) => {
                        known.leave_open(number, number);
                        kept |= open == Number::Kept;
                    }
                    Err(error) => {
                        known.leave_open(number, number);
                        failed = Some(error);
                    }
                }
                number = number.saturating_add(1);
            }
            known.leave_open(number, last);
        }
        failed.map_or(Ok(kept || self.stopped), Err)
    }

    fn is_listed(&self, known: &BucketProgress) -> Result<bool, Error> {
        for number in &known.listings {
            if self.index.listing(*number)? == Some(known.bucket) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
