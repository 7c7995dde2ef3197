//! Append by atomic increment, for hosts without a sound compare-and-swap.
//!
//! Entry `i` of a log is written once, by the owner of ticket `i`: the first to increment its
//! counter. Between the ticket and the entry an owner may sleep for any time, or die; others
//! skip it by taking the next ticket. Of a late writer and the one who skips it, at least one
//! sees the other, since each takes its ticket first and looks at the entries below then.
//!
//! | store key | holds |
//! |---|---|
//! | `il.r.<slot>.<i>` | entry `i` |
//! | `il.t.<slot>.<i>` | counter: ticket `i` is taken |
//! | `il.s.<slot>.<i>` | note: since when ticket `i` has been seen without its entry |

mod delete;
mod place;
mod probe;
mod verdict;

use super::{Append, Deletion, Proof, SlotLog, Tail};
use crate::bucket::Bucket;
use crate::clock::{Millis, Op};
use crate::error::Error;
use crate::record::{Place, Record, State, Strategy};
use place::{Head, Slot};
use probe::Found;

/// How long an owner of a ticket is waited for. Safety does not depend on it.
pub const STALL_MS: Millis = 30_000;

/// Looks at entry 1 that an append takes until it and the entries above agree.
const RECHECKS: usize = 3;

/// The strategy for hosts with a sound `increment`.
pub struct Ticket;

/// The highest entry of a log as it was read.
pub struct TicketTail {
    /// Entry 1, from which every reader and every writer starts.
    head: Head,
    /// Of the highest entry; 0 for none.
    position: u64,
    parent: u64,
    record: Option<Record>,
    /// The first free ticket, or the one that the caller holds.
    ticket: u64,
    held: bool,
    pending: Option<Pending>,
}

/// Tickets that were taken beyond the tail.
#[derive(Clone, Copy)]
struct Pending {
    /// The youngest was first seen then.
    since_ms: Millis,
    /// Some were not noted yet.
    new: bool,
}

impl Tail for TicketTail {
    fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    fn pending_until_ms(&self) -> Option<Millis> {
        if self.held {
            return Some(0);
        }
        self.pending.map(|pending| pending.since_ms.saturating_add(STALL_MS))
    }
}

impl<B: Bucket> SlotLog<B> for Ticket {
    const STRATEGY: Strategy = Strategy::Ticket;
    type Tail = TicketTail;

    fn read(bucket: &B, op: &Op, slot: &str) -> Result<TicketTail, Error> {
        Slot::new(bucket, op, slot).read()
    }

    /// Entry 1 is as it was, and not as it is again, an hour later: all that was read lies before
    /// any deletion.
    fn confirm(bucket: &B, op: &Op, slot: &str, tail: &TicketTail) -> Result<bool, Error> {
        match tail.head {
            Head::Gate(_) => Ok(true),
            Head::Missing if tail.position == 0 => Ok(true),
            head => {
                let unchanged = Slot::new(bucket, op, slot).head()? == head;
                op.may_answer().map(|()| unchanged)
            }
        }
    }

    fn wait_for(bucket: &B, op: &Op, slot: &str, tail: &TicketTail) -> Result<(), Error> {
        if tail.pending.is_some_and(|pending| pending.new) {
            Slot::new(bucket, op, slot).note(tail)?;
        }
        Ok(())
    }

    fn append(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: TicketTail,
        record: &Record,
        _: Proof,
    ) -> Result<Append<TicketTail>, Error> {
        Slot::new(bucket, op, slot).append(&tail, record)
    }

    fn delete(
        bucket: &B,
        op: &Op,
        slot: &str,
        tail: TicketTail,
        deleting: &Record,
    ) -> Result<Deletion, Error> {
        Slot::new(bucket, op, slot).delete(&tail, deleting)
    }
}

/// What was found after the ticket was taken.
#[allow(clippy::large_enum_variant, reason = "it lives for a moment")]
enum Recheck {
    /// Nothing has come: write.
    Clear,
    /// An entry below the ticket: decide again on it, with the ticket in hand.
    Entry(TicketTail),
    /// The log is being deleted, or is another by now.
    Gone,
}

impl<B: Bucket> Slot<'_, B> {
    /// The ticket first, then a look at what has come since `tail` was read, then the entry.
    fn append(&self, tail: &TicketTail, record: &Record) -> Result<Append<TicketTail>, Error> {
        let ticket = tail.ticket;
        if !tail.held && !self.take(ticket)? {
            return Ok(Append::Lost(self.read()?));
        }
        match self.recheck(tail)? {
            Recheck::Clear => {}
            Recheck::Entry(newer) => return Ok(Append::Lost(newer)),
            Recheck::Gone => return Ok(Append::Lost(self.read()?)),
        }
        let ends = matches!(record.state, State::Tombstone | State::Deleting);
        if ends && tail.head == Head::Missing && ticket > 1 {
            self.write_placeholder(record)?;
        }
        let place = Place { position: ticket, parent: tail.position, log: tail.head.log() };
        Ok(match self.write(record, place)? {
            Ok(()) => self.verdict(place, record),
            Err(why) => self.verdict_after_failure(place, record, why),
        })
    }

    fn recheck(&self, tail: &TicketTail) -> Result<Recheck, Error> {
        for _ in 0..RECHECKS {
            let head = self.head()?;
            if !may_follow(tail.head, head, tail.ticket) {
                return Ok(Recheck::Gone);
            }
            match self.highest(head, tail.position, tail.ticket)? {
                Found::Nothing => return Ok(Recheck::Clear),
                Found::Again => {}
                Found::Entry(Place { position, parent, .. }, record) => {
                    let record = Some(record);
                    return Ok(Recheck::Entry(TicketTail {
                        head,
                        position,
                        parent,
                        record,
                        ticket: tail.ticket,
                        held: true,
                        pending: None,
                    }));
                }
            }
        }
        Ok(Recheck::Gone)
    }
}

/// Whether an append that was decided on a log which began with `before` may go on now that it
/// begins with `now`.
fn may_follow(before: Head, now: Head, ticket: u64) -> bool {
    match (before, now) {
        (Head::Gate(_), _) | (_, Head::Gate(_)) => false,
        // Its owner came late, or was given up; whoever holds ticket 1 was skipped then.
        (Head::Missing, Head::Log(_) | Head::Placeholder) => ticket > 1,
        (before, now) => before == now,
    }
}
