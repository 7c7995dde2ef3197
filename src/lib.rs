#![cfg_attr(target_family = "wasm", no_std)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::arithmetic_side_effects
    )
)]
//! The idempotency ledger: each key's outcome, recorded once, over a key-value store and a
//! clock that the host provides. Built for `wasm32-unknown-unknown` it is the component;
//! built natively it is the same core, for models and tests.
//!
//! A key's record is the tail of a log, and a call appends to it at most once:
//!
//! | the tail | `begin` | `complete` | `renew` | `release` |
//! |---|---|---|---|---|
//! | none, tombstone | claim: `Fresh` | `Missing`; upsert: outcome | `Missing` | `Missing` |
//! | claim, live | `Inflight` or `Mismatch` | outcome: `Recorded` | claim, longer: `Renewed` | tombstone: `Released` |
//! | claim, other token | | `Superseded` | `Superseded` | `Superseded` |
//! | claim, expired | claim: `Fresh` | `Expired`; upsert: outcome | `Expired` | `Expired` |
//! | outcome, live | `Done` or `Mismatch` | `AlreadyDone` | `AlreadyDone` | `AlreadyDone` |
//! | outcome, expired | claim: `Fresh` | `AlreadyDone` | `AlreadyDone` | `AlreadyDone` |
//!
//! [`ledger`] reads the tail, [`state`] decides, [`slot_log`] appends and says who won. Every
//! claim is entered in the [`expiry`] index first, through which `purge` finds it.

extern crate alloc;

pub mod state;

pub mod record;

pub mod key;

pub mod clock;

pub mod bucket;

pub mod slot_log;

pub mod expiry;

pub mod ledger;

pub mod answer;
mod check;
mod error;
mod json;
mod limits;
mod marker;
mod text;

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
mod runtime;
#[cfg(target_family = "wasm")]
mod wasi;

pub use error::Error;
pub use ledger::Ledger;
pub use limits::{
    DEFAULT_LEASE_MS, DEFAULT_PURGE_LIMIT, DEFAULT_TTL_MS, MAX_LEASE_MS, MAX_PAYLOAD_BYTES,
    MAX_PURGE_LIMIT, MAX_TTL_MS,
};
pub use marker::Instance;
