//! What the calls answer, in the words of the WIT package `idempotency:ledger`.
//!
//! Fields named `..._at_ms` are milliseconds since the Unix epoch on the ledger's clock:
//! compare them with each other, not with another clock.

/// Fencing token of one claim: grows with every claim of a key, so a resource that remembers
/// the greatest token it saw can refuse late workers. Compare tokens of the same key only.
pub type Token = u64;

/// The right, and the duty, to do the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// For `complete`, `renew` and `release`, and for whatever the work calls.
    pub token: Token,
    /// When another caller may claim the key, unless the claim is renewed before.
    pub expires_at_ms: u64,
    /// 1 for the first claim; above 1 an earlier holder failed or vanished, and its work may
    /// have happened.
    pub attempt: u32,
}

/// Somebody else's claim, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// When the claim ends by itself.
    pub expires_at_ms: u64,
    /// Wait this many milliseconds before the next try; at least 1. A component cannot sleep:
    /// pass it on to whoever called.
    pub retry_after_ms: u64,
}

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<T> {
    /// What the work answered.
    pub value: T,
    /// Token of the claim that was completed: yours means that you recorded it.
    pub token: Token,
    /// When it was recorded.
    pub completed_at_ms: u64,
    /// From here on the key is free again.
    pub expires_at_ms: u64,
}

/// Why a holder's call changed nothing. Ordinary endings, not errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// No such claim: never made, released, or purged.
    Missing,
    /// The lease ended before the call; nobody has claimed the key since.
    Expired,
    /// The key has a claim with another token.
    Superseded,
    /// An outcome is recorded and stays.
    AlreadyDone,
}

/// Answer to [`begin`](crate::Idempotency::begin).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin<T> {
    /// The key is yours: do the work, then `complete`.
    Fresh(Claim),
    /// Someone holds the key, or is about to: back off.
    Inflight(Lease),
    /// It was done before; this is its outcome. Do not do the work.
    Done(Outcome<T>),
    /// The key is in use for a request with another fingerprint: a caller's mistake.
    Mismatch,
}

/// What [`complete`](crate::Idempotency::complete) recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The token that the outcome carries: the claim's, or for an upsert without one a new one.
    pub token: Token,
    /// When it was recorded.
    pub completed_at_ms: u64,
    /// From here on the key is free again.
    pub expires_at_ms: u64,
}

/// Answer to [`complete`](crate::Idempotency::complete).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complete {
    /// Everyone who asks is answered with the value until it expires.
    Recorded(Recorded),
    /// Not recorded. Of two racing calls one is answered `AlreadyDone`.
    Lost(LostReason),
}

/// Answer to [`renew`](crate::Idempotency::renew).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renew {
    /// The claim as it stands now.
    Renewed(Claim),
    /// For good: stop the work, or at least its effects.
    Lost(LostReason),
}

/// Answer to [`release`](crate::Idempotency::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The key is free at once.
    Released,
    /// Nothing changed; an outcome stays.
    Lost(LostReason),
}

/// State of an [`Entry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State<T> {
    /// Claimed and not completed.
    Inflight,
    /// Completed with this value.
    Done(T),
}

/// A key's record as it stands; it may be out of date when you read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<T> {
    /// Claimed or completed.
    pub state: State<T>,
    /// Token of the claim, or of the claim that was completed.
    pub token: Token,
    /// Which attempt at the work this is.
    pub attempt: u32,
    /// The fingerprint given to `begin`.
    pub fingerprint: Option<Vec<u8>>,
    /// When the claim was made.
    pub claimed_at_ms: u64,
    /// When the outcome was recorded.
    pub completed_at_ms: Option<u64>,
    /// When the claim or the outcome stops counting.
    pub expires_at_ms: u64,
    /// Whether it has; then it stands only until a `begin` or a purge.
    pub expired: bool,
}
