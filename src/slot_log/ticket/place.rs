//! The store keys of one log, and what may be asked of each.

use alloc::string::String;

use super::TicketTail;
use crate::bucket::Bucket;
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::expiry::ClaimId;
use crate::record::{Place, Record, State, Strategy, encode};
use crate::slot_log::read_record;
use crate::text::text;

/// One log, for one call.
pub(super) struct Slot<'a, B> {
    bucket: &'a B,
    pub(super) op: &'a Op<'a>,
    slot: &'a str,
}

/// What entry 1 says of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The log is empty, or the owner of ticket 1 has not written.
    Missing,
    /// Written in its stead, before a tombstone.
    Placeholder,
    /// The log's id: the claim that it began with.
    Log(ClaimId),
    /// Somebody is deleting the log, since then.
    Gate(Millis),
}

impl Head {
    pub(super) fn of(first: Option<&(Place, Record)>) -> Head {
        match first {
            None => Head::Missing,
            Some((_, record)) => match record.state {
                State::Deleting => Head::Gate(record.changed_at_ms),
                State::Tombstone if record.is_blank() => Head::Placeholder,
                _ => Head::Log(record.claim),
            },
        }
    }

    /// What entries name that are decided on such a log; none counts in every log.
    pub(super) fn log(self) -> Option<ClaimId> {
        match self {
            Head::Log(id) => Some(id),
            Head::Missing | Head::Placeholder | Head::Gate(_) => None,
        }
    }
}

impl<'a, B: Bucket> Slot<'a, B> {
    pub(super) fn new(bucket: &'a B, op: &'a Op<'a>, slot: &'a str) -> Self {
        Slot { bucket, op, slot }
    }

    /// An entry, whatever log it belongs to.
    pub(super) fn entry(&self, position: u64) -> Result<Option<(Place, Record)>, Error> {
        let store_key = self.entry_key(position);
        let Some(bytes) = self.bucket.get(&store_key)? else { return Ok(None) };
        let (place, record) = read_record(&store_key, &bytes, Strategy::Ticket)?;
        if place.position != position {
            return Err(Error::Corrupt(text!("the record at ", &store_key, " is another entry's")));
        }
        Ok(Some((place, record)))
    }

    pub(super) fn head(&self) -> Result<Head, Error> {
        Ok(Head::of(self.entry(1)?.as_ref()))
    }

    /// Whether somebody has taken a ticket. A counter is never read: hosts disagree about its
    /// bytes.
    pub(super) fn is_taken(&self, position: u64) -> Result<bool, Error> {
        Ok(self.bucket.exists(&self.ticket_key(position))?)
    }

    /// Takes a ticket; false where somebody was first.
    pub(super) fn take(&self, position: u64) -> Result<bool, Error> {
        self.take_key(&self.ticket_key(position))
    }

    pub(super) fn take_key(&self, store_key: &str) -> Result<bool, Error> {
        self.op.may_write()?;
        Ok(self.bucket.increment(store_key, 1)? == 1)
    }

    /// Writes an entry; the inner error is why it may or may not have been written.
    ///
    /// # Errors
    /// Nothing was written, and nothing will be.
    pub(super) fn write(&self, record: &Record, place: Place) -> Result<Result<(), String>, Error> {
        let bytes = encode(record, place, Strategy::Ticket);
        self.op.may_write()?;
        let written = self.bucket.set(&self.entry_key(place.position), &bytes);
        Ok(written.map_err(|error| text!("the store failed while writing: ", error.text())))
    }

    /// Since when a ticket has been seen without its entry, where somebody noted it in this log.
    /// A note dated after now is dated now.
    pub(super) fn noted(&self, position: u64, head: Head) -> Result<Option<Millis>, Error> {
        let Some(bytes) = self.bucket.get(&self.note_key(position))? else { return Ok(None) };
        let text = core::str::from_utf8(&bytes).unwrap_or_default();
        let mut words = text.split(' ');
        let since_ms = words.next().and_then(|word| word.parse::<Millis>().ok());
        let log = words.next().and_then(ClaimId::parse);
        let of_this_log = log.is_none() || log == head.log();
        Ok(since_ms.filter(|_| of_this_log).map(|since_ms| since_ms.min(self.op.now_ms())))
    }

    /// Notes which tickets beyond the tail are seen without their entries.
    pub(super) fn note(&self, tail: &TicketTail) -> Result<(), Error> {
        let log = tail.head.log().map(|log| text!(" ", log)).unwrap_or_default();
        for position in tail.position.saturating_add(1)..tail.ticket {
            if self.noted(position, tail.head)?.is_some() {
                continue;
            }
            let text = text!(self.op.now_ms(), &log);
            self.op.may_write()?;
            self.bucket.set(&self.note_key(position), text.as_bytes())?;
        }
        Ok(())
    }

    /// Deletes all that stands at a position.
    pub(super) fn delete_position(&self, position: u64) -> Result<(), Error> {
        let note_key = self.note_key(position);
        if self.bucket.exists(&note_key)? {
            self.delete_key(&note_key)?;
        }
        // Entry 1 is the gate: the last to go.
        let (entry, ticket) = (self.entry_key(position), self.ticket_key(position));
        let order = if position == 1 { [ticket, entry] } else { [entry, ticket] };
        order.iter().try_for_each(|store_key| self.delete_key(store_key))
    }

    pub(super) fn delete_key(&self, store_key: &str) -> Result<(), Error> {
        self.op.may_write()?;
        Ok(self.bucket.delete(store_key)?)
    }

    /// Who takes an unfinished deletion over, in one period of its gate.
    pub(super) fn succession_key(&self, gate_ms: Millis, period: u64) -> String {
        text!("il.t.", self.slot, ".g", gate_ms, ".", period)
    }

    fn entry_key(&self, position: u64) -> String {
        text!("il.r.", self.slot, ".", position)
    }

    fn ticket_key(&self, position: u64) -> String {
        text!("il.t.", self.slot, ".", position)
    }

    fn note_key(&self, position: u64) -> String {
        text!("il.s.", self.slot, ".", position)
    }
}
