//! Whether an entry that was written counts: only a settled tail tells.

use alloc::string::String;

use super::TicketTail;
use super::place::{Head, Slot};
use crate::bucket::Bucket;
use crate::error::Error;
use crate::record::{Place, Record};
use crate::slot_log::Append;

/// Looks for a settled tail after an append.
const LOOKS: usize = 3;
/// Entries between a tail and the append in question.
const MAX_DISTANCE: usize = 64;

impl<B: Bucket> Slot<'_, B> {
    /// The entry was written.
    pub(super) fn verdict(&self, place: Place, record: &Record) -> Append<TicketTail> {
        match self.is_tail(place, record) {
            Ok(true) => Append::Won,
            Ok(false) => self.look(place, record).unwrap_or_else(|_| failed()),
            Err(_) => failed(),
        }
    }

    /// It may have been written, or will be, or not.
    pub(super) fn verdict_after_failure(
        &self,
        place: Place,
        record: &Record,
        why: String,
    ) -> Append<TicketTail> {
        match self.look(place, record) {
            Ok(Append::Unsettled) | Err(_) => Append::Unknown(why),
            Ok(settled) => settled,
        }
    }

    /// The usual case: nobody has taken a further ticket, and it is still the same log.
    fn is_tail(&self, place: Place, record: &Record) -> Result<bool, Error> {
        let log = if place.position == 1 { Some(record.claim) } else { place.log };
        Ok(!self.is_taken(place.position.saturating_add(1))?
            && log.is_some()
            && self.head()?.log() == log)
    }

    fn look(&self, place: Place, record: &Record) -> Result<Append<TicketTail>, Error> {
        for look in 1..=LOOKS {
            let tail = self.read()?;
            if look == LOOKS && tail.pending.is_some_and(|pending| pending.new) {
                // Whoever comes next need not wait as long.
                self.note(&tail)?;
            }
            if tail.pending.is_some() || self.head()? != tail.head {
                continue;
            }
            match self.is_ancestor(place.position, record, &tail)? {
                Some(true) => return Ok(Append::Won),
                Some(false) => return Ok(Append::Lost(tail)),
                None => {}
            }
        }
        Ok(Append::Unsettled)
    }

    /// None where that cannot be told: the log, or an entry on the way, is gone.
    fn is_ancestor(
        &self,
        position: u64,
        record: &Record,
        tail: &TicketTail,
    ) -> Result<Option<bool>, Error> {
        if tail.position < position || matches!(tail.head, Head::Gate(_)) {
            return Ok(None);
        }
        let (mut at, mut parent) = (tail.position, tail.parent);
        for _ in 0..MAX_DISTANCE {
            if at == position {
                // In the log that came after this one, it is another claim's.
                let found = self.entry(position)?;
                return Ok(found.filter(|(_, found)| found == record).map(|_| true));
            }
            if parent < position {
                return Ok(Some(false));
            }
            let Some((place, _)) = self.entry(parent)? else { return Ok(None) };
            (at, parent) = (parent, place.parent);
        }
        Ok(None)
    }
}

fn failed() -> Append<TicketTail> {
    Append::Unknown("the store failed after writing".into())
}
