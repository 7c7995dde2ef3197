//! The answers and options of the calls, as the core knows them; `wit/ledger.wit` and
//! `wit/maintenance.wit` say what they promise.

use alloc::string::String;
use alloc::vec::Vec;

use crate::clock::Millis;
use crate::record::Strategy;

/// The right, and the duty, to do the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Fencing token.
    pub token: u64,
    /// When another caller may claim the key, unless renewed before.
    pub expires_at_ms: Millis,
    /// 1 for the first claim; more after a holder failed or vanished.
    pub attempt: u32,
}

/// Somebody else's claim, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// When the claim ends by itself.
    pub expires_at_ms: Millis,
    /// Wait this long before the next `begin`; at least 1.
    pub retry_after_ms: Millis,
}

/// What was recorded, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// None, empty and `null` are three different outcomes.
    pub payload: Option<Vec<u8>>,
    /// Token of the claim that was completed.
    pub token: u64,
    /// When it was recorded.
    pub completed_at_ms: Millis,
    /// From here on `begin` is fresh again.
    pub expires_at_ms: Millis,
}

/// Why a holder's call changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// No such claim: never made, released or purged.
    Missing,
    /// The lease ended before the call.
    Expired,
    /// The key has a claim with another token.
    Superseded,
    /// An outcome is recorded and stays.
    AlreadyDone,
}

/// Options of `begin`.
#[derive(Clone, Debug, Default)]
pub struct BeginOptions {
    /// The tenant.
    pub scope: Option<String>,
    /// How long the claim lives.
    pub lease_ms: Option<Millis>,
    /// Identifies the request.
    pub fingerprint: Option<Vec<u8>>,
}

/// Answer of `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Do the work.
    Fresh(Claim),
    /// Back off.
    Inflight(Lease),
    /// It was done before.
    Done(Outcome),
    /// In use for another request.
    Mismatch,
}

/// Options of `complete`.
#[derive(Clone, Debug, Default)]
pub struct CompleteOptions {
    /// The tenant.
    pub scope: Option<String>,
    /// Token of the caller's claim.
    pub token: Option<u64>,
    /// How long the outcome replays.
    pub ttl_ms: Option<Millis>,
    /// Record also where the claim is missing or expired and nobody holds the key.
    pub upsert_on_missing: bool,
}

/// The outcome stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The token that it carries.
    pub token: u64,
    /// When it was recorded.
    pub completed_at_ms: Millis,
    /// From here on `begin` is fresh again.
    pub expires_at_ms: Millis,
}

/// Answer of `complete`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complete {
    /// By this call.
    Recorded(Recorded),
    /// Nothing changed.
    Lost(LostReason),
}

/// Options of `renew`.
#[derive(Clone, Debug, Default)]
pub struct RenewOptions {
    /// The tenant.
    pub scope: Option<String>,
    /// New lease from now; never shortens the present one.
    pub lease_ms: Option<Millis>,
}

/// Answer of `renew`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renew {
    /// The claim lives on.
    Renewed(Claim),
    /// For good: stop the work.
    Lost(LostReason),
}

/// Answer of `release`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// The next `begin` is fresh.
    Released,
    /// Nothing changed.
    Lost(LostReason),
}

/// What an entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Claimed.
    Inflight,
    /// Its payload.
    Done(Option<Vec<u8>>),
}

/// A key's record as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Claimed or done.
    pub state: EntryState,
    /// Fencing token.
    pub token: u64,
    /// Which try this is.
    pub attempt: u32,
    /// Identifies the request.
    pub fingerprint: Option<Vec<u8>>,
    /// When it was claimed.
    pub claimed_at_ms: Millis,
    /// When its outcome was recorded.
    pub completed_at_ms: Option<Millis>,
    /// When it stops counting.
    pub expires_at_ms: Millis,
    /// Whether it has.
    pub expired: bool,
}

/// Answer of `forget`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// The next `begin` is fresh.
    Forgotten,
    /// Nothing is recorded.
    Missing,
    /// Another token by now.
    Superseded,
    /// The claim lives.
    Inflight(Lease),
}

/// Options of `purge`.
#[derive(Clone, Debug, Default)]
pub struct PurgeOptions {
    /// Remove what expired before this; later than now means now.
    pub before_ms: Option<Millis>,
    /// Most keys to remove, and most removed keys to reclaim.
    pub limit: Option<u32>,
}

/// Answer of `purge`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Expired keys removed.
    pub removed: u32,
    /// Keys removed earlier whose last traces are gone now.
    pub reclaimed: u32,
    /// Something is left that is due.
    pub more: bool,
}

/// One thing that the ledger needs of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// As needed, as far as one caller can see.
    Sound,
    /// What the host did instead.
    Unsound(String),
    /// Not used by this build.
    Untested,
}

/// Answer of `check-store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// Of this build.
    pub strategy: Strategy,
    /// Nothing was unsound.
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
    /// The host's clock.
    pub now_ms: Millis,
}
