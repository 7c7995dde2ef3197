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
}
