//! How far purges have come: one small document at `il.p`, rewritten by each.
//!
//! It is a cache of the listings and of what was settled, and the purgers' lease on the
//! work. Losing it, or two purgers overwriting each other's, costs work, never an entry.

use alloc::string::String;
use alloc::vec::Vec;

use super::wheel::{TimeBucket, number};
use crate::bucket::Bucket;
use crate::clock::{DEADLINE_MS, Millis, Op};
use crate::error::Error;
use crate::record::FORMAT;
use crate::text::text;

const STORE_KEY: &str = "il.p";

/// How long one purge keeps others waiting at most.
const LEASE_MS: Millis = DEADLINE_MS;
/// The longest hint that a waiting purge is given: most take milliseconds.
const MAX_HINT_MS: Millis = 1_000;
/// Open ranges of one bucket; more are joined, at the price of looking again.
const MAX_RANGES: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Progress {
    /// Somebody purges until then; 0 for nobody.
    until_ms: Millis,
    /// Listings up to this number were read.
    pub(super) listed: u64,
    /// Numbers of listings that had none yet.
    pub(super) holes: Vec<Hole>,
    /// Listed buckets that are not closed yet.
    pub(super) buckets: Vec<BucketProgress>,
}

/// A listing that was absent when it was first looked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hole {
    pub(super) number: u64,
    pub(super) seen_at_ms: Millis,
}

/// How far one bucket is settled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BucketProgress {
    pub(super) bucket: TimeBucket,
    pub(super) listings: Vec<u64>,
    /// Numbers up to this one were looked at.
    pub(super) seen: u64,
    /// Those among them that are not settled: first and last of each range.
    pub(super) open: Vec<(u64, u64)>,
}

impl Progress {
    pub(super) fn load<B: Bucket>(bucket: &B) -> Result<Progress, Error> {
        let Some(bytes) = bucket.get(STORE_KEY)? else { return Ok(Progress::default()) };
        let progress = core::str::from_utf8(&bytes).ok().and_then(Progress::parse);
        progress.ok_or_else(|| {
            let why = "the purge's progress is unreadable, or of another format; without it, it is rebuilt";
            Error::Corrupt(text!(STORE_KEY, ": ", why))
        })
    }

    /// # Errors
    /// [`Error::Contended`] while another purge is at it. A lease longer than one can be was
    /// taken before the clock stepped back, and does not count.
    pub(super) fn check_lease(&self, now_ms: Millis) -> Result<(), Error> {
        let left_ms = self.until_ms.saturating_sub(now_ms);
        if (1..=LEASE_MS).contains(&left_ms) {
            return Err(Error::Contended(left_ms.min(MAX_HINT_MS)));
        }
        Ok(())
    }

    pub(super) fn take_lease(&mut self, now_ms: Millis) {
        self.until_ms = now_ms.saturating_add(LEASE_MS);
    }

    pub(super) fn give_back_lease(&mut self) {
        self.until_ms = 0;
    }

    pub(super) fn save<B: Bucket>(&self, bucket: &B, op: &Op) -> Result<(), Error> {
        op.may_write()?;
        Ok(bucket.set(STORE_KEY, self.text().as_bytes())?)
    }

    /// Notes that a listing names this bucket. Buckets stay in the order of their begin.
    pub(super) fn add(&mut self, bucket: TimeBucket, listing: u64) {
        let order = |bucket: TimeBucket| (bucket.begins_at_ms(), bucket);
        let at = self.buckets.iter().position(|known| order(known.bucket) >= order(bucket));
        let at = at.unwrap_or(self.buckets.len());
        match self.buckets.get_mut(at).filter(|known| known.bucket == bucket) {
            Some(known) if known.listings.contains(&listing) => {}
            Some(known) => known.listings.push(listing),
            None => {
                let listings = [listing].into();
                self.buckets
                    .insert(at, BucketProgress { bucket, listings, seen: 0, open: Vec::new() });
            }
        }
    }
}

impl BucketProgress {
    /// Leaves the numbers from `first` to `last` open; they follow what is open already.
    pub(super) fn leave_open(&mut self, first: u64, last: u64) {
        if first > last {
            return;
        }
        match self.open.last_mut() {
            Some(range) if range.1.saturating_add(1) >= first => range.1 = last,
            _ => self.open.push((first, last)),
        }
        if self.open.len() > MAX_RANGES {
            let begin = self.open.first().map_or(first, |range| range.0);
            self.open = [(begin, last)].into();
        }
    }
}

/// The text: a line each for the document, its holes and its buckets. A bucket's words are
/// its name, `seen`, the numbers of its listings, and its open ranges.
impl Progress {
    fn text(&self) -> String {
        let mut text = text!("format ", FORMAT, " ", self.until_ms, " ", self.listed, "\n");
        for hole in &self.holes {
            text.push_str(&text!("hole ", hole.number, " ", hole.seen_at_ms, "\n"));
        }
        for known in &self.buckets {
            text.push_str(&text!("bucket ", known.bucket, " ", known.seen));
            for number in &known.listings {
                text.push_str(&text!(" ", *number));
            }
            for (first, last) in &known.open {
                text.push_str(&text!(" ", *first, "-", *last));
            }
            text.push('\n');
        }
        text
    }

    fn parse(text: &str) -> Option<Progress> {
        let mut progress = None;
        for line in text.lines() {
            let mut words = line.split(' ');
            let kind = words.next()?;
            match (kind, &mut progress) {
                ("format", None) if number(&mut words)? == FORMAT => {
                    let (until_ms, listed) = (number(&mut words)?, number(&mut words)?);
                    progress = Some(Progress { until_ms, listed, ..Progress::default() });
                }
                ("hole", Some(progress)) => {
                    let (number, seen_at_ms) = (number(&mut words)?, number(&mut words)?);
                    progress.holes.push(Hole { number, seen_at_ms });
                }
                ("bucket", Some(progress)) => {
                    progress.buckets.push(BucketProgress::parse(&mut words)?)
                }
                _ => return None,
            }
        }
        progress
    }
}

impl BucketProgress {
    fn parse(words: &mut core::str::Split<char>) -> Option<BucketProgress> {
        let bucket = TimeBucket::parse(words.next()?)?;
        let mut known =
            BucketProgress { bucket, seen: number(words)?, listings: Vec::new(), open: Vec::new() };
        for word in words {
            match word.split_once('-') {
                None => known.listings.push(word.parse().ok()?),
                Some((first, last)) => known.open.push((first.parse().ok()?, last.parse().ok()?)),
            }
        }
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut progress = Progress { until_ms: 9, listed: 3, ..Progress::default() };
        progress.holes.push(Hole { number: 2, seen_at_ms: 7 });
        progress.add(TimeBucket::of(60_000, 0), 1);
        progress.add(TimeBucket::of(0, 0), 4);
        progress.add(TimeBucket::of(60_000, 0), 3);
        progress.add(TimeBucket::of(60_000, 0), 3);
        progress.buckets[1].leave_open(2, 2);
        progress.buckets[1].leave_open(5, 7);
        assert_eq!(
            progress.text(),
            "format 1 9 3\nhole 2 7\nbucket m0 0 4\nbucket m1 0 1 3 2-2 5-7\n"
        );
        assert_eq!(Progress::parse(&progress.text()), Some(progress));
    }

    #[test]
    fn other_text_is_corrupt() {
        for text in [
            "",
            "hole 1 2\n",
            "format 2 0 0\n",
            "format 1 0\n",
            "format 1 0 0\nbucket m1 0 x\n",
            "{}",
        ] {
            assert_eq!(Progress::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn open_numbers_join_and_stay_few() {
        let mut known = BucketProgress {
            bucket: TimeBucket::of(0, 0),
            listings: Vec::new(),
            seen: 0,
            open: Vec::new(),
        };
        for (first, last) in [(1, 1), (2, 4), (6, 5), (6, 6)] {
            known.leave_open(first, last);
        }
        assert_eq!(known.open, [(1, 4), (6, 6)]);
        for number in 10..1000 {
            known.leave_open(2 * number, 2 * number);
        }
        assert!(known.open.len() <= MAX_RANGES);
        assert_eq!((known.open[0].0, known.open.last().unwrap().1), (1, 1998));
    }
}
