//! A double of Spin: it reads an app's `spin.toml`, composes the app with its ledger, serves it
//! over HTTP, and gives it stores that behave as Spin's do on the same engines.
//!
//! | | as in Spin, or not |
//! | --- | --- |
//! | serving | the same code as Spin 4's: `wasmtime-wasi-http`'s handler, with its pool of instances; for WASI 0.3 up to 16 requests at once in an instance and 128 in all, for 0.2 one request per instance |
//! | composing | the same library, `wac-graph`, by this project's own tool; Spin's isolation of environment variables is left out |
//! | store on SQLite | a real file, Spin's table and statements: [`SqliteEngine`] |
//! | store on Redis | a real server, Spin's keys and commands: [`RedisEngine`] |
//! | variables | `spin:variables@3.0.0` and `wasi:config` of the draft 2024-09-27; from the manifest and the caller, no other provider |
//! | outgoing HTTP | to what `allowed_outbound_hosts` lists, without wildcards, without TLS |
//! | triggers | one component, one HTTP trigger with the route `/...` |
//! | everything else | absent: an app that imports more does not start |
//!
//! What the stores do was measured on a Spin 4.1 built from source, or read in its source; each
//! says which. No test of this repository runs Spin itself.

mod app;
mod bank;
mod client;
mod compose;
mod engine;
mod faults;
mod keyvalue;
mod manifest;
mod outbound;
mod pool;
mod redis;
mod serve;
mod sqlite;
mod state;
mod variables;

pub use app::{App, Stores};
pub use bank::{Bank, Charge};
pub use client::{Reply, request};
pub use compose::Ledgers;
pub use engine::{Answer, Engine, Handle};
pub use faults::{Faults, Faulty};
pub use manifest::Manifest;
pub use redis::RedisEngine;
pub use serve::Double;
pub use sqlite::SqliteEngine;
