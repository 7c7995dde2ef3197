//! Stores that behave as hosts really do: doubles of Spin's.
//!
//! What each does was measured on a Spin 4.1 built from source, or read in its source, and is
//! said where the double does it. They are [`Store`]s of the host crate, so everything that runs
//! on a store of ours runs on them: ledgers of any build, the vectors, chaos.
//!
//! | | [`SpinSqlite`] | [`SpinRedis`] |
//! | --- | --- | --- |
//! | `swap`, key was absent | writes over whatever stands there by now | writes if it still is |
//! | `swap`, key was there | compares values, not versions | writes if nobody wrote |
//! | answer of `swap` | true to what it did | always that it lost the race |
//! | counter, read | 8 bytes, little-endian | decimal text |
//! | `increment` of another value | the store is dead until restart | an error |
//! | `increment` by 0 | makes the key | makes the key |
//! | failures | `database is locked`, nothing happened | a call hangs and happens later |
//! | listing | all keys at once, no cursor | the same |
//!
//! One fact cannot be told at this level: on Spin a `swap` on a handle that was never asked for
//! its `current` value writes blindly, while the host crate reads each handle when it is made.
//! No build of the ledger swaps without having asked.
//!
//! [`Store`]: idempotency_ledger_host::store::Store

mod listing;
mod pace;

pub(crate) use pace::Pace;

mod spin_redis;
mod spin_sqlite;

pub use spin_redis::SpinRedis;
pub use spin_sqlite::SpinSqlite;
