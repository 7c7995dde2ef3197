//! The clock that the ledger reads: the host's, or one set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// A wall clock. Everything that the ledger decides by time, it decides by this one.
///
/// Hosts that share a store must agree: clocks that differ by up to a few seconds delay or
/// shorten leases by as much; clocks that differ by an hour or more are outside what the
/// ledger's guarantees allow. A clock may step back; claims that were acted on stay so.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the Unix epoch. Never blocks.
    fn now_ms(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }
}

/// The operating system's clock. Before 1970 it reads 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the ambient clock")]
    fn now_ms(&self) -> u64 {
        let since_epoch =
            std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still until it is set, for tests and demonstrations. Clones share the
/// same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that reads `now_ms`.
    pub fn new(now_ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(now_ms)))
    }

    /// Set the time, forward or back.
    pub fn set_ms(&self, now_ms: u64) {
        self.0.store(now_ms, Ordering::SeqCst);
    }

    /// Move the time forward; it stops at `u64::MAX`.
    pub fn advance_ms(&self, by_ms: u64) {
        let add = |now: u64| Some(now.saturating_add(by_ms));
        // The closure always answers `Some`, so the update cannot fail.
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
