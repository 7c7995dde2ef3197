//! The wheel: which bucket of time an expiry belongs to, and the ids of claims. Pure.

use alloc::string::String;

use crate::clock::{Millis, QUARANTINE_MS};
use crate::text::{Part, text};

const MINUTE_MS: Millis = 60_000;
const HOUR_MS: Millis = 60 * MINUTE_MS;
const DAY_MS: Millis = 24 * HOUR_MS;

/// Expiries nearer than this go to a minute, so that a tombstone, which is looked at again
/// after [`QUARANTINE_MS`], is moved once only.
const MINUTES_HORIZON_MS: Millis = 2 * HOUR_MS;

/// A bucket of the wheel: one minute, hour or day of expiries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeBucket {
    unit: Unit,
    /// Whole units since the epoch.
    index: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Minute,
    Hour,
    Day,
}

impl Unit {
    const ALL: [Unit; 3] = [Unit::Minute, Unit::Hour, Unit::Day];

    fn ms(self) -> Millis {
        match self {
            Unit::Minute => MINUTE_MS,
            Unit::Hour => HOUR_MS,
            Unit::Day => DAY_MS,
        }
    }

    fn letter(self) -> &'static str {
        match self {
            Unit::Minute => "m",
            Unit::Hour => "h",
            Unit::Day => "d",
        }
    }
}

impl TimeBucket {
    /// Where an expiry is entered at `now_ms`: never in a bucket that has ended, so that no
    /// entry lands in one that a purge is about to remove.
    pub fn of(expires_at_ms: Millis, now_ms: Millis) -> TimeBucket {
        let at_ms = expires_at_ms.max(now_ms);
        let ahead_ms = at_ms.saturating_sub(now_ms);
        let unit = if ahead_ms <= MINUTES_HORIZON_MS {
            Unit::Minute
        } else if ahead_ms <= DAY_MS {
            Unit::Hour
        } else {
            Unit::Day
        };
        TimeBucket { unit, index: at_ms.checked_div(unit.ms()).unwrap_or(0) }
    }

    /// Its first millisecond.
    pub fn begins_at_ms(self) -> Millis {
        self.index.saturating_mul(self.unit.ms())
    }

    /// The first millisecond after it.
    pub fn ends_at_ms(self) -> Millis {
        self.begins_at_ms().saturating_add(self.unit.ms())
    }

    /// From here on nobody can be about to write an entry, or a claim that was entered, here.
    pub fn closes_at_ms(self) -> Millis {
        self.ends_at_ms().saturating_add(QUARANTINE_MS)
    }

    /// Its name in store keys: `m` (minute), `h` or `d`, and the count since the epoch.
    pub fn name(self) -> String {
        text!(self)
    }

    /// Reads a name back.
    pub fn parse(name: &str) -> Option<TimeBucket> {
        let unit = Unit::ALL.into_iter().find(|unit| name.starts_with(unit.letter()))?;
        let index = name.get(1..)?.parse().ok()?;
        let bucket = TimeBucket { unit, index };
        (bucket.name() == name).then_some(bucket)
    }
}

impl Part for TimeBucket {
    fn add_to(&self, text: &mut String) {
        self.unit.letter().add_to(text);
        self.index.add_to(text);
    }
}

/// The next word of a line, as a number.
pub(super) fn number(words: &mut core::str::Split<char>) -> Option<u64> {
    words.next()?.parse().ok()
}

/// Names one claim, unique in the store: the place that the index gave it. Every record of
/// a claim carries it, wherever its index entry is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimId {
    /// The bucket that it was entered in first.
    pub bucket: TimeBucket,
    /// Its number there, from 1.
    pub number: u64,
}

impl ClaimId {
    /// Bucket and number, with a dot between.
    pub fn text(self) -> String {
        text!(self)
    }

    /// Reads a text back.
    pub fn parse(text: &str) -> Option<ClaimId> {
        let (bucket, number) = text.split_once('.')?;
        let id = ClaimId { bucket: TimeBucket::parse(bucket)?, number: number.parse().ok()? };
        (id.text() == text).then_some(id)
    }

    /// From here on nobody can be about to append a record of this claim.
    pub fn settles_at_ms(self) -> Millis {
        self.bucket.closes_at_ms()
    }
}

impl Part for ClaimId {
    fn add_to(&self, text: &mut String) {
        self.bucket.add_to(text);
        ".".add_to(text);
        self.number.add_to(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_the_finer() {
        let rows: [(Millis, Millis, &str); 10] = [
            (0, 0, "m0"),
            (59_999, 0, "m0"),
            (60_000, 0, "m1"),
            (7_200_000, 0, "m120"),
            (7_200_001, 0, "h2"),
            (86_400_000, 0, "h24"),
            (86_400_001, 0, "d1"),
            (100, 3_600_000, "m60"),
            (u64::MAX, 0, "d213503982334"),
            (u64::MAX, u64::MAX, "m307445734561825"),
        ];
        for (expires, now, name) in rows {
            let bucket = TimeBucket::of(expires, now);
            assert_eq!(bucket.name(), name, "of({expires}, {now})");
            assert_eq!(TimeBucket::parse(name), Some(bucket));
            assert!(bucket.ends_at_ms() > now || now == u64::MAX, "never one that has ended");
        }
    }

    #[test]
    fn a_bucket_that_began_is_moved_to_finer_ones() {
        for coarse in ["h500000", "d20000"].map(|name| TimeBucket::parse(name).unwrap()) {
            let now = coarse.begins_at_ms();
            for expires in [now, now + 1, coarse.ends_at_ms() - 1] {
                assert!(TimeBucket::of(expires, now).unit < coarse.unit);
            }
        }
    }

    #[test]
    fn only_its_own_names_are_read() {
        for name in ["", "m", "x1", "m01", "m-1", "m+1", "m1 ", "m99999999999999999999", "\u{e9}1"]
        {
            assert_eq!(TimeBucket::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_claim_is_read_as_it_is_written() {
        let claim = ClaimId { bucket: TimeBucket::parse("h5").unwrap(), number: 2 };
        assert_eq!(claim.text(), "h5.2");
        assert_eq!(ClaimId::parse("h5.2"), Some(claim));
        for text in ["", "h5", "h5.", ".2", "h5.02", "h5.+2", "h5.2.1", "w5.2"] {
            assert_eq!(ClaimId::parse(text), None, "{text:?}");
        }
    }
}
