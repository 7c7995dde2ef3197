//! The ledger on real hosts.
//!
//! - [`oracle`]: the promises, independent of the code, and whether a history keeps them.
//! - [`chaos`]: seeded histories of many instances of the component, with all that goes wrong.
//! - [`doubles`]: stores that behave as hosts really do.
//! - [`spin`]: a double of Spin that serves an app, on real files and servers.
//! - [`vectors`]: the conformance vectors of `vectors/*.json`, and what runs them.
//! - [`Target`]: a ledger as the tests see it: calls in, answers in the words of the WIT out,
//!   a clock set by hand, a look at the store.
//! - [`targets`]: the native core over a store of our own, and the component on the host crate.
//! - [`Probe`]: counts a target's store calls and makes chosen ones fail.
//! - [`servers`]: real servers for the stores that need one, and a [`Proxy`] before them.
//! - [`purge_until_clean`] and [`leftovers`]: what purging leaves in a store.
//! - [`STRATEGIES`]: the builds of the component that there are.
//! - [`Size`]: how much the tests do.

pub mod chaos;
pub mod doubles;
pub mod servers;
pub mod spin;

mod proxy;

pub mod vectors;

pub use ledger_model::oracle;

mod call;
mod target;

pub mod targets;

mod probe;
mod size;
mod strategies;
mod upkeep;

pub use call::{Call, CallName};
pub use idempotency_ledger_host::Strategy;
pub use probe::{Counts, Failure, Plan, Probe, Side, StoreCall};
pub use proxy::Proxy;
pub use size::Size;
pub use strategies::{STRATEGIES, builder, strategy_name};
pub use target::Target;

pub use upkeep::{leftovers, purge_until_clean, purged};

/// Lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
