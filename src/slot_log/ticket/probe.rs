//! Where a log ends: tickets are taken in order, so its end is found by probing.

use super::place::{Head, Slot};
use super::{Pending, TicketTail};
use crate::bucket::Bucket;
use crate::clock::Millis;
use crate::error::Error;
use crate::record::{Place, Record};

/// Reads of a log that changes its beginning under the reader.
const TRIES: usize = 3;
/// What a reader is told to wait who met that each time.
const CHANGING_HINT_MS: Millis = 50;
/// Entries that may be missing below the end: each is a caller who died there, or is at it.
const MAX_PENDING: u64 = 10_000;

/// What an entry says of itself.
#[allow(clippy::large_enum_variant, reason = "it lives for a moment")]
pub(super) enum Found {
    Nothing,
    Entry(Place, Record),
    /// Entry 1 is there by now.
    Again,
}

impl<B: Bucket> Slot<'_, B> {
    /// The highest entry, and what is pending beyond it. Without anything pending it was the
    /// tail when its next ticket was seen free, unless entry 1 changes meanwhile.
    pub(super) fn read(&self) -> Result<TicketTail, Error> {
        for _ in 0..TRIES {
            let first = self.entry(1)?;
            let head = Head::of(first.as_ref());
            if let Some(tail) = self.read_from(head, first)? {
                return Ok(tail);
            }
        }
        Err(Error::Contended(CHANGING_HINT_MS))
    }

    /// None: read again.
    fn read_from(
        &self,
        head: Head,
        first: Option<(Place, Record)>,
    ) -> Result<Option<TicketTail>, Error> {
        let (mut place, mut record) = first.map_or((NOWHERE, None), |(p, r)| (p, Some(r)));
        if let Head::Gate(_) = head {
            return Ok(Some(self.tail(head, place, record, 2)?));
        }
        // Most logs end with their second entry: then its ticket need not be looked at.
        if record.is_some() {
            match self.counting(head, 2, false)? {
                Found::Nothing => {}
                Found::Entry(second, its) => (place, record) = (second, Some(its)),
                Found::Again => return Ok(None),
            }
        }
        let known = place.position;
        let last = self.last_taken(known)?;
        match self.highest(head, known, last.saturating_add(1))? {
            Found::Nothing => {}
            Found::Entry(higher, its) => (place, record) = (higher, Some(its)),
            Found::Again => return Ok(None),
        }
        // Looked at after the entry: whoever skips it takes the next ticket before looking at it
        // once more. One by one: a ticket that a deletion left behind may lie beyond.
        let mut next = place.position.saturating_add(1);
        while last > known && self.is_taken(next)? {
            next = next.saturating_add(1);
            if next.saturating_sub(place.position) > MAX_PENDING {
                return Err(Error::Corrupt("a log has too many unused tickets".into()));
            }
        }
        self.tail(head, place, record, next).map(Some)
    }

    fn tail(
        &self,
        head: Head,
        place: Place,
        record: Option<Record>,
        ticket: u64,
    ) -> Result<TicketTail, Error> {
        let Place { position, parent, .. } = place;
        let mut pending = None;
        for missing in position.saturating_add(1)..ticket {
            let noted = self.noted(missing, head)?;
            let since_ms = noted.unwrap_or_else(|| self.op.now_ms());
            let before = pending.unwrap_or(Pending { since_ms, new: false });
            pending = Some(Pending {
                since_ms: before.since_ms.max(since_ms),
                new: before.new || noted.is_none(),
            });
        }
        Ok(TicketTail { head, position, parent, record, ticket, held: false, pending })
    }

    /// The highest entry above `position` and below `ticket`, all of whose tickets are taken.
    pub(super) fn highest(&self, head: Head, position: u64, ticket: u64) -> Result<Found, Error> {
        for between in (position.saturating_add(1)..ticket).rev() {
            match self.counting(head, between, true)? {
                Found::Nothing if ticket.saturating_sub(between) > MAX_PENDING => {
                    return Err(Error::Corrupt("a log has too many unused tickets".into()));
                }
                Found::Nothing => {}
                found => return Ok(found),
            }
        }
        Ok(Found::Nothing)
    }

    /// An entry, where it belongs to the log that begins with `head`. One that names no log
    /// counts in every log, if its ticket is taken.
    fn counting(&self, head: Head, position: u64, is_taken: bool) -> Result<Found, Error> {
        let Some((place, record)) = self.entry(position)? else { return Ok(Found::Nothing) };
        let counts = match (head, place.log) {
            (Head::Log(id), Some(log)) if id == log => true,
            (Head::Log(_), Some(_)) => false,
            (Head::Missing, Some(_)) => return Ok(Found::Again),
            _ => is_taken || self.is_taken(position)?,
        };
        Ok(if counts { Found::Entry(place, record) } else { Found::Nothing })
    }

    /// The last of the tickets that were taken, those up to `known` among them; or one that a
    /// deletion left behind beyond it.
    pub(super) fn last_taken(&self, known: u64) -> Result<u64, Error> {
        let (mut low, mut high) = (known, known.saturating_add(1));
        while self.is_taken(high)? {
            (low, high) = (high, high.saturating_add(high.saturating_sub(known)));
        }
        // `low` is taken, or `known`, and `high` is free.
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            if self.is_taken(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// The place before the first entry.
const NOWHERE: Place = Place { position: 0, parent: 0, log: None };
