//! What expires when: an index of claims by time, and the purge that works through it.
//!
//! Every claim is entered before it is appended, in the bucket of the minute, hour or day
//! of its expiry. Nothing scans the store: a purge reads the buckets that are due. Where a
//! record outlives its entry (completed, renewed), the purge moves the entry; where it ends
//! before it (an outcome kept for less than its lease), the call enters it once more.
//! Entries are hints: only the slot's own log says what its key is.

mod index;
mod progress;
mod purge;
mod wheel;

pub use index::Index;
pub(crate) use purge::{Limits, purge};
pub use wheel::{ClaimId, TimeBucket};
