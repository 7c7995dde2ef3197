//! The command `idempotency` as a shell sees it: the real program, the real component, a real
//! SQLite file for each test.
//!
//! `LEDGER_TEST_SIZE=full` repeats more; the default is `small`.

#![cfg(feature = "cli")]
#![allow(missing_docs, clippy::disallowed_methods, reason = "tests, of real time too")]

mod support;

mod bad_input;
mod crash;
mod endings;
mod keys;
mod lost_lease;
mod replay;
mod signals;
mod store_trouble;
mod upkeep;
