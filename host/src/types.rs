//! What the calls take and answer, as plain Rust types.
//!
//! The words are those of the WIT package `idempotency:ledger`. Fields named `..._at_ms` are
//! milliseconds since the Unix epoch on the ledger's clock; compare them with each other, not
//! with another clock. "Expired" means `expires_at_ms <= now`.

use std::time::Duration;

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
    /// Wait this many milliseconds before the next `begin`; at least 1.
    pub retry_after_ms: u64,
}

/// What was recorded, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `None`, empty bytes and the bytes of `null` are three different outcomes.
    pub payload: Option<Vec<u8>>,
    /// Token of the claim that was completed.
    pub token: Token,
    /// When it was recorded.
    pub completed_at_ms: u64,
    /// From here on `begin` is `Fresh` again.
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

/// Answer to `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The key is yours: do the work, then `complete`.
    Fresh(Claim),
    /// Someone holds the key, or is about to: back off.
    Inflight(Lease),
    /// It was done before; this is its outcome. Do not do the work.
    Done(Outcome),
    /// The key is in use for a request with another fingerprint: a caller's mistake.
    Mismatch,
}

/// What `complete` recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Token under which the outcome stands.
    pub token: Token,
    /// When it was recorded.
    pub completed_at_ms: u64,
    /// From here on `begin` is `Fresh` again.
    pub expires_at_ms: u64,
}

/// Answer to `complete`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complete {
    /// Every `begin` and `get` answers with this payload until it expires.
    Recorded(Recorded),
    /// Not recorded. Of two racing calls one is answered `AlreadyDone`.
    Lost(LostReason),
}

/// Answer to `renew`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renew {
    /// The claim as it stands now.
    Renewed(Claim),
    /// For good: stop the work, or at least its effects.
    Lost(LostReason),
}

/// Answer to `release`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The next `begin` is `Fresh` at once.
    Released,
    /// Nothing changed; an outcome stays.
    Lost(LostReason),
}

/// State of an [`Entry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Claimed and not completed.
    Inflight,
    /// Completed, with the payload as in [`Outcome`].
    Done(Option<Vec<u8>>),
}

/// A key's record as it stands; it may be out of date when you read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Claimed or completed.
    pub state: EntryState,
    /// Token of the claim, or of the claim that was completed.
    pub token: Token,
    /// Which attempt at the key this is.
    pub attempt: u32,
    /// The fingerprint given to `begin`.
    pub fingerprint: Option<Vec<u8>>,
    /// When the claim was made.
    pub claimed_at_ms: u64,
    /// When the outcome was recorded.
    pub completed_at_ms: Option<u64>,
    /// When the claim or the outcome expires.
    pub expires_at_ms: u64,
    /// Whether it has expired; then it stands only until a `begin` or `purge`.
    pub expired: bool,
}

/// Answer to `forget`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// The next `begin` is `Fresh`: the work will run again.
    Forgotten,
    /// Nothing is recorded under the key.
    Missing,
    /// The record has another token by now: look again.
    Superseded,
    /// The claim lives.
    Inflight(Lease),
}

/// Answer to `purge`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Expired keys removed by this call, of all scopes.
    pub removed: u32,
    /// Keys removed an hour or more ago whose last traces are now deleted too.
    pub reclaimed: u32,
    /// Something is left that is due: call again.
    pub more: bool,
}

/// How the component decides who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By compare-and-swap.
    Cas,
    /// By atomic increment.
    Ticket,
}

/// What `check_store` found of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// As the ledger needs it.
    Sound,
    /// What the store did instead, for people.
    Unsound(String),
    /// Not used by this component, so not tried.
    Untested,
}

/// Answer to `check_store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// How the component decides who won.
    pub strategy: Strategy,
    /// Everything that the component relies on was found sound.
    pub sound: bool,
    /// Writes are read back, and deletes stay deleted.
    pub read_your_writes: Finding,
    /// Each increment is answered once.
    pub increment: Finding,
    /// Of two swaps on an absent key one fails.
    pub swap_absent: Finding,
    /// Of two swaps on one value one fails.
    pub swap_present: Finding,
    /// A swap answers failure only when it did not write.
    pub swap_answer: Finding,
    /// The clock as the ledger reads it.
    pub now_ms: u64,
}

/// What `begin` takes beside the key. A duration that is no whole number of milliseconds is
/// rounded up; one beyond `u64` milliseconds becomes `u64::MAX`, which the ledger refuses.
#[derive(Clone, Debug, Default)]
pub struct BeginOptions {
    /// 1 to 256 bytes; `global` when not given.
    pub scope: Option<String>,
    /// How long the claim lives unless renewed: 1 ms to 30 days, 60 s when not given.
    pub lease: Option<Duration>,
    /// 1 to 64 bytes that identify the request, a hash of its body say.
    pub fingerprint: Option<Vec<u8>>,
}

/// What `complete` takes beside the key and the payload. Durations as in [`BeginOptions`].
#[derive(Clone, Debug, Default)]
pub struct CompleteOptions {
    /// As given to `begin`.
    pub scope: Option<String>,
    /// Token of your claim. Without one, a late worker can complete a successor's claim.
    pub token: Option<Token>,
    /// How long the outcome replays: 1 ms to 10 years, 24 h when not given.
    pub ttl: Option<Duration>,
    /// Record also where the claim is missing or expired and nobody holds the key.
    pub upsert_on_missing: bool,
}

/// What `renew` takes beside the key and the token. Durations as in [`BeginOptions`].
#[derive(Clone, Debug, Default)]
pub struct RenewOptions {
    /// As given to `begin`.
    pub scope: Option<String>,
    /// New lease from now; never shortens it. 60 s when not given.
    pub lease: Option<Duration>,
}

/// What `purge` takes.
#[derive(Clone, Debug, Default)]
pub struct PurgeOptions {
    /// Remove what expired before this time; later than now, or not given, means now.
    pub before_ms: Option<u64>,
    /// Most keys to remove, and most removed keys to reclaim: 1 to 10 000, 200 when not given.
    pub limit: Option<u32>,
}
