//! Time: the host's wall clock, and how long one call may go on writing.

use core::cell::Cell;

use crate::error::Error;

/// Milliseconds since the Unix epoch, or a span of milliseconds.
pub type Millis = u64;

/// A call that is older than this stops before its next write.
pub const DEADLINE_MS: Millis = 60_000;

/// How long what is about to be deleted, or may still be written, is left alone. A store
/// call takes effect within `QUARANTINE_MS - DEADLINE_MS` of its issue or never: the one
/// assumption about time that safety rests on, and only where something is deleted.
pub const QUARANTINE_MS: Millis = 3_600_000;

/// The host's wall clock. It may stand still or step back; the ledger copes.
pub trait Clock {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> Millis;
}

/// One call in progress: when it began and what the clock showed last.
pub struct Op<'a> {
    clock: &'a dyn Clock,
    started_at_ms: Millis,
    seen_ms: Cell<Millis>,
}

impl<'a> Op<'a> {
    /// Starts the call's time now.
    pub fn start(clock: &'a dyn Clock) -> Self {
        let now_ms = clock.now_ms();
        Op { clock, started_at_ms: now_ms, seen_ms: Cell::new(now_ms) }
    }

    /// When the call began.
    pub fn started_at_ms(&self) -> Millis {
        self.started_at_ms
    }

    /// The host's time now.
    pub fn now_ms(&self) -> Millis {
        let now_ms = self.clock.now_ms();
        self.seen_ms.set(self.seen_ms.get().max(now_ms));
        now_ms
    }

    /// To be asked before every write, increments and deletes included.
    ///
    /// # Errors
    /// [`Error::DeadlineExceeded`] once the call is older than [`DEADLINE_MS`] or the clock
    /// reads less than it did before in this call.
    pub fn may_write(&self) -> Result<(), Error> {
        let seen_ms = self.seen_ms.get();
        let now_ms = self.now_ms();
        let too_old = now_ms.saturating_sub(self.started_at_ms) > DEADLINE_MS;
        if now_ms < seen_ms || too_old {
            return Err(Error::DeadlineExceeded);
        }
        Ok(())
    }

    /// To be asked once more after the last of several reads that are answered from together.
    ///
    /// # Errors
    /// [`Error::DeadlineExceeded`] once the call is as old as [`QUARANTINE_MS`]: what it read
    /// first may have been removed and deleted since.
    pub fn may_answer(&self) -> Result<(), Error> {
        let age_ms = self.now_ms().saturating_sub(self.started_at_ms);
        if age_ms < QUARANTINE_MS { Ok(()) } else { Err(Error::DeadlineExceeded) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hands(Cell<Millis>);

    impl Clock for Hands {
        fn now_ms(&self) -> Millis {
            self.0.get()
        }
    }

    #[test]
    fn a_call_writes_for_a_minute_and_answers_for_an_hour() {
        let hands = Hands(Cell::new(1_000));
        let op = Op::start(&hands);
        for (age_ms, writes, answers) in [
            (0, true, true),
            (DEADLINE_MS, true, true),
            (DEADLINE_MS + 1, false, true),
            (QUARANTINE_MS - 1, false, true),
            (QUARANTINE_MS, false, false),
        ] {
            hands.0.set(1_000 + age_ms);
            assert_eq!(op.may_write().is_ok(), writes, "{age_ms}");
            assert_eq!(op.may_answer().is_ok(), answers, "{age_ms}");
        }
    }

    #[test]
    fn a_call_under_which_the_clock_stepped_back_writes_no_more() {
        let hands = Hands(Cell::new(1_000));
        let op = Op::start(&hands);
        hands.0.set(1_001);
        assert!(op.may_write().is_ok());
        hands.0.set(1_000);
        assert!(op.may_write().is_err());
        assert!(op.may_answer().is_ok());
        assert_eq!((op.started_at_ms(), op.now_ms()), (1_000, 1_000));
    }
}
