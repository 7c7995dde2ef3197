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
//! Record an operation's outcome once, from a component that imports the idempotency ledger.
//!
//! ```
//! use idempotency_ledger_client::{Error, Idempotency, Run};
//!
//! # fn bank(_order: &str, _token: u64) -> Result<String, std::fmt::Error> {
//! #     Ok("r-1".to_owned())
//! # }
//! fn charge(order: &str) -> Result<String, Error<std::fmt::Error>> {
//!     let charges = Idempotency::<String>::imported().scope("charges");
//!     Ok(match charges.run(order, |claim| bank(order, claim.token))? {
//!         Run::Ran(outcome) | Run::Replayed(outcome) => outcome.value,
//!         Run::Inflight(lease) => format!("ask again in {} ms", lease.retry_after_ms),
//!         Run::Mismatch => "the order was charged for another request".to_owned(),
//!         Run::Lost { value, .. } | Run::NotRecorded { value, .. } => format!("{value}, not recorded"),
//!     })
//! }
//! ```
//!
//! The component then imports `idempotency:ledger/ledger`, and is composed with a ledger
//! component, which in turn needs a key-value store and a clock of its host.
//!
//! - [`Idempotency`]: the client. Values of type `T`, a validator for them, settings; `begin`,
//!   `complete`, `renew`, `release`, `get`.
//! - [`Idempotency::run`]: all of it in one call.
//! - [`Error`]: one for everything.
//! - [`Ledger`]: the one that the component imports or, with the feature `host`, one in this
//!   process, so that the same code is tested natively:
//!
//! ```
//! # #[cfg(feature = "host")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_ledger_client::{Idempotency, Ledger, Run};
//! use idempotency_ledger_host::{self as host, store::MemoryStore};
//!
//! let ledger = Ledger::on_host(host::Ledger::builder(MemoryStore::new()))?;
//! let charges = Idempotency::<String>::new(&ledger).scope("charges");
//! let run = charges.run("order-1", |_claim| Ok::<_, std::fmt::Error>("r-1".to_owned()))?;
//! assert!(matches!(run, Run::Ran(outcome) if outcome.value == "r-1"));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "host"))]
//! # fn main() {}
//! ```
//!
//! At most one outcome is recorded per key while it lives. The work itself can run again after
//! a crash between the work and its recording: pass the token or the key downstream, and look
//! at `attempt`.

mod client;
mod run;

mod codec;
mod error;
mod ledger;
mod types;

pub use client::Idempotency;
pub use error::{BoxError, Error};
pub use ledger::Ledger;
pub use run::Run;
pub use types::{
    Begin, Claim, Complete, Entry, Lease, LostReason, Outcome, Recorded, Release, Renew, State,
    Token,
};

/// The examples of the README compile and run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
