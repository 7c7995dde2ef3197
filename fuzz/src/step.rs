//! What is called when, as a fuzzer chooses it.

use idempotency_ledger::clock::Millis;
use ledger_model::Address;

/// Two tenants and three keys: few, so that they meet.
pub const ADDRESSES: [Address<'_>; 4] =
    [(None, "a"), (Some("t"), "a"), (Some("t"), "a:b"), (Some("t:a"), "b")];

/// A duration of a size that matters: within a lease, across minutes, hours and days.
#[derive(Clone, Copy, Debug)]
pub enum Span {
    /// Milliseconds.
    Moment(u8),
    /// Seconds.
    Seconds(u8),
    /// Minutes.
    Minutes(u8),
    /// Hours.
    Hours(u8),
    /// Days.
    Days(u8),
}

impl Span {
    /// In milliseconds.
    #[must_use]
    pub fn ms(self) -> Millis {
        let (count, unit_ms) = match self {
            Span::Moment(count) => (count, 1),
            Span::Seconds(count) => (count, 1_000),
            Span::Minutes(count) => (count, 60_000),
            Span::Hours(count) => (count, 3_600_000),
            Span::Days(count) => (count, 86_400_000),
        };
        Millis::from(count) * unit_ms
    }

    /// At least a millisecond, at most 30 days: a lease that is granted.
    #[must_use]
    pub fn lease_ms(self) -> Millis {
        self.ms().clamp(1, idempotency_ledger::MAX_LEASE_MS)
    }
}

/// Which token a call carries.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// None, where none is needed.
    None,
    /// That of the key's last claim.
    Last,
    /// So much more or less than that.
    Near(i8),
}

/// One call.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the WIT documents them")]
pub enum What {
    Begin { lease: Span },
    Complete { token: Which, ttl: Span, upsert: bool, payload: u8 },
    Renew { token: Which, lease: Span },
    Release { token: Which },
    Get,
    Forget { token: Which },
    Purge { limit: u8 },
}

/// One call, of one of the [`ADDRESSES`], after a while.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// How long after the last.
    pub after: Span,
    /// Whether the clock went back instead.
    pub back: bool,
    /// Which key; counted around.
    pub address: u8,
    /// What is called.
    pub what: What,
}
