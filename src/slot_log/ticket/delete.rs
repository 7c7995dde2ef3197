//! The physical deletion of a log: the one thing whose safety rests on time.

use super::place::{Head, Slot};
use super::{STALL_MS, TicketTail};
use crate::bucket::Bucket;
use crate::clock::{Millis, QUARANTINE_MS};
use crate::error::Error;
use crate::record::{Place, Record};
use crate::slot_log::{Append, Deletion};

/// A gate belongs to who wrote it for so long; then, in each further period, to one successor.
const PERIOD_MS: Millis = 2 * QUARANTINE_MS;

const FIRST: Place = Place { position: 1, parent: 0, log: None };

impl<B: Bucket> Slot<'_, B> {
    /// Announces the deletion at the tail, then at the gate, then deletes.
    pub(super) fn delete(&self, tail: &TicketTail, deleting: &Record) -> Result<Deletion, Error> {
        if let Head::Gate(gate_ms) = tail.head {
            return self.take_over(gate_ms, deleting);
        }
        if tail.held {
            return Ok(Deletion::Lost);
        }
        if let Some(pending) = tail.pending {
            // Its owner could still write, into the log that comes after this one.
            let until_ms = pending.since_ms.saturating_add(QUARANTINE_MS);
            if pending.new {
                self.note(tail)?;
            }
            if until_ms > self.op.now_ms() {
                return Ok(Deletion::Wait(until_ms));
            }
        }
        match self.append(tail, deleting)? {
            Append::Won => {}
            Append::Lost(_) => return Ok(Deletion::Lost),
            Append::Unsettled => {
                return Ok(Deletion::Wait(self.op.now_ms().saturating_add(STALL_MS)));
            }
            Append::Unknown(why) => return Err(Error::Unavailable(why)),
        }
        self.write_gate(deleting)?;
        self.delete_all(tail.ticket)
    }

    /// A purger died at it. One successor a period, who wins its ticket in the first half, so
    /// that what it writes has landed before the next one's turn.
    fn take_over(&self, gate_ms: Millis, deleting: &Record) -> Result<Deletion, Error> {
        let now_ms = self.op.now_ms();
        let age_ms = now_ms.saturating_sub(gate_ms);
        let period = age_ms.checked_div(PERIOD_MS).unwrap_or(0);
        let begun_ms = gate_ms.saturating_add(period.saturating_mul(PERIOD_MS));
        let wait = Ok(Deletion::Wait(begun_ms.saturating_add(PERIOD_MS)));
        if period == 0 || now_ms.saturating_sub(begun_ms) >= QUARANTINE_MS {
            return wait;
        }
        let succession = self.succession_key(gate_ms, period);
        if !self.take_key(&succession)? {
            return wait;
        }
        if self.head()? != Head::Gate(gate_ms) {
            self.delete_key(&succession)?;
            return Ok(Deletion::Lost);
        }
        self.write_gate(&Record { changed_at_ms: now_ms, ..deleting.clone() })?;
        self.delete_key(&succession)?;
        self.delete_all(self.last_taken(1)?)
    }

    /// From the end downwards, entry 1 last. No delete is issued twice: one whose answer was
    /// lost may land in the log that comes after this one.
    fn delete_all(&self, last: u64) -> Result<Deletion, Error> {
        (1..=last.max(1)).rev().try_for_each(|position| self.delete_position(position))?;
        Ok(Deletion::Done)
    }

    /// Overwrites entry 1: every reader starts there, and ends there.
    fn write_gate(&self, deleting: &Record) -> Result<(), Error> {
        self.write(deleting, FIRST)?.map_err(Error::Unavailable)
    }

    /// Before a tombstone, so that a log without entry 1 can have a gate.
    pub(super) fn write_placeholder(&self, record: &Record) -> Result<(), Error> {
        let blank = Record::blank(record.claim, record.changed_at_ms);
        self.write(&blank, FIRST)?.map_err(Error::Unavailable)
    }
}
