//! The example for Spin on the double of Spin: an HTTP function and its ledger, on a real SQLite
//! file and a real Redis server.

mod costs;
mod data;
mod examples;
mod facts;
mod kills;
mod locked;
mod manifest;
mod outage;
mod promises;
mod requests;
mod scene;
mod simultaneous;
mod unsound;

#[allow(dead_code, reason = "the tests of the other examples use the rest of it")]
#[path = "../../../examples/shop/tests/examples/run_block.rs"]
mod run_block;
