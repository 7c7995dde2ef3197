//! Record each operation's outcome once: a ledger of idempotency keys for any async Rust
//! program.
//!
//! ```
//! use std::time::Duration;
//!
//! use idempotency_ledger_host::store::SqliteStore;
//! use idempotency_ledger_host::{Ledger, Purger, PurgerOptions, Run, RunOptions};
//!
//! # async fn charge(idempotency_key: &str) -> Result<String, std::io::Error> {
//! #     Ok(format!("receipt for {idempotency_key}"))
//! # }
//! #
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! #   let folder = tempfile::tempdir()?;
//! #   std::env::set_current_dir(&folder)?;
//!     let ledger = Ledger::new(SqliteStore::open("ledger.db").await?).await?;
//!     let _purger = Purger::start(ledger.clone(), PurgerOptions::default(), |_sweep| {});
//!
//!     let options = RunOptions { lease: Some(Duration::from_secs(30)), ..RunOptions::default() };
//!     for _ in 0..2 {
//!         let run = ledger.run("order-42", &options, async |claim| {
//!             // Pass the token on, so that what is called can refuse late workers.
//!             let receipt = charge(&format!("order-42/{}", claim.token)).await?;
//!             Ok::<_, std::io::Error>(receipt.into_bytes())
//!         });
//!         match run.await? {
//!             Run::Ran(outcome) => println!("charged: {:?}", outcome.payload),
//!             Run::Replayed(outcome) => println!("was charged before: {:?}", outcome.payload),
//!             Run::Inflight(lease) => println!("try again in {} ms", lease.retry_after_ms),
//!             Run::Mismatch => println!("the key belongs to another request"),
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! At most one outcome is recorded per key while it lives, however many tasks, processes or
//! machines share the store, and whichever of them die half-way. The work itself can run again
//! after a crash: pass the token or the key downstream. [`Ledger::run`] does the whole dance;
//! [`Ledger::begin`], [`complete`](Ledger::complete), [`renew`](Ledger::renew) and
//! [`release`](Ledger::release) are its steps.
//!
//! The ledger itself is a WebAssembly component, carried by this crate and run by wasmtime. Its
//! traps, endless loops and memory are bounded and contained; its store and clock are yours:
//!
//! - [`store`]: the [`Store`](store::Store) contract; stores in memory, in an SQLite file, on
//!   Redis, NATS and PostgreSQL, each by a feature; a suite that checks one of your own.
//! - [`Clock`]: the system's, or one set by hand.
//! - [`Ledger`], [`LedgerBuilder`]: the calls, their bounds, and the pool of instances.
//! - [`Ledger::run`], [`RunOptions`]: work under a claim that is kept alive.
//! - [`Purger`]: the daily removal of what has expired.
//! - [`keyvalue`]: the component's imports for a linker of your own.
//!
//! Features, beside those of the stores and the command: `tracing` makes a span of each call,
//! `metrics` counts and times them, for whatever subscriber and recorder the program installs.
//! Their names are in the repository's `docs/observability.md`; no key, scope, payload or
//! message of an error is in them.

pub mod store;

mod clock;
mod error;
mod types;

mod bindings;
mod convert;
pub mod keyvalue;

mod observe;

mod engine;
mod instance;
mod pool;

mod builder;
mod ledger;
mod purger;
mod run;

pub use builder::LedgerBuilder;
pub use clock::{Clock, ManualClock, SystemClock};
pub use error::Error;
pub use ledger::Ledger;
pub use purger::{Purger, PurgerOptions, Sweep};
pub use run::{OnLost, Run, RunError, RunOptions};
pub use types::{
    Begin, BeginOptions, Claim, Complete, CompleteOptions, Entry, EntryState, Finding, Forget,
    Lease, LostReason, Outcome, PurgeOptions, PurgeReport, Recorded, Release, Renew, RenewOptions,
    StoreReport, Strategy, Token,
};

/// The examples of the README compile and run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
