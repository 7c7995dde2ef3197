//! The contract of [`Store`] as a suite, for whoever implements one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use idempotency_ledger_host::store::{MemoryStore, conformance};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), conformance::Broken> {
//! conformance::check(Arc::new(MemoryStore::new())).await
//! # }
//! ```
//!
//! It finds what a few thousand calls can find: a store that passes may still be unfit, by
//! answering old values under a load that the suite does not make, say.

use std::sync::Arc;

use super::{Store, StoreError, Versioned};

mod counters;
mod keys;
mod listing;
mod outage;
mod races;
mod values;
mod versions;

pub use outage::{Outage, check_outage};

/// Every key that the suite uses begins with this.
pub const PREFIX: &str = "conformance/";

/// What a store may say of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest value that works: 1 MiB unless set. A ledger needs 640 KiB.
    pub max_value_bytes: usize,
}

impl Limits {
    /// For an engine that takes no longer values.
    pub fn max_value_bytes(max_value_bytes: usize) -> Self {
        Self { max_value_bytes }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_value_bytes: 1 << 20 }
    }
}

/// A rule of the contract that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{check}: {rule}")]
#[non_exhaustive]
pub struct Broken {
    /// The check that found it; [`CHECKS`] are their names.
    pub check: &'static str,
    /// The rule, in words; or the error that came where none belongs.
    pub rule: String,
}

/// The names of the checks, in the order in which they are made. `outage` is one of its own:
/// [`check_outage`].
pub const CHECKS: &[&str] = &[
    "values",
    "value-limits",
    "keys",
    "key-limits",
    "versions",
    "swaps",
    "counters",
    "kinds",
    "listing",
    "swap-races",
    "increment-races",
    "read-races",
    "outage",
];

/// What a check found: the broken rule.
type Verdict = Result<(), String>;

/// Check `store`, which should be empty, against the contract. Run it inside a tokio runtime,
/// one with several threads for the races to be real ones.
///
/// The keys used are deleted again if all is well.
///
/// # Errors
///
/// The first rule found broken.
pub async fn check(store: Arc<dyn Store>) -> Result<(), Broken> {
    check_within(store, &Limits::default()).await
}

/// The same for a store with limits of its own.
///
/// # Errors
///
/// The first rule found broken.
pub async fn check_within(store: Arc<dyn Store>, limits: &Limits) -> Result<(), Broken> {
    let named = |check| move |rule| Broken { check, rule };
    values::values(&*store).await.map_err(named("values"))?;
    values::limits(&*store, limits).await.map_err(named("value-limits"))?;
    keys::keys(&*store).await.map_err(named("keys"))?;
    keys::limits(&*store).await.map_err(named("key-limits"))?;
    versions::versions(&*store).await.map_err(named("versions"))?;
    versions::swaps(&*store).await.map_err(named("swaps"))?;
    counters::counters(&*store).await.map_err(named("counters"))?;
    counters::kinds(&*store).await.map_err(named("kinds"))?;
    listing::listing(&*store).await.map_err(named("listing"))?;
    races::swaps(&store).await.map_err(named("swap-races"))?;
    races::increments(&store).await.map_err(named("increment-races"))?;
    races::reads(&store).await.map_err(named("read-races"))
}

/// `Err(rule)` unless it holds.
fn rule(holds: bool, rule: impl Into<String>) -> Verdict {
    if holds { Ok(()) } else { Err(rule.into()) }
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// An error where none belongs.
fn failed(error: StoreError) -> String {
    format!("a call failed: {error}")
}

async fn value(store: &dyn Store, key: &str) -> Result<Option<Vec<u8>>, String> {
    Ok(store.get(key).await.map_err(failed)?.map(|found| found.value))
}

async fn found(store: &dyn Store, key: &str) -> Result<Versioned, String> {
    store
        .get(key)
        .await
        .map_err(failed)?
        .ok_or_else(|| format!("{key:?} was written and is absent"))
}

async fn delete(store: &dyn Store, key: &str) -> Verdict {
    store.delete(key).await.map_err(failed)
}
