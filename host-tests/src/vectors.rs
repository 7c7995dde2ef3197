//! The conformance vectors, and what runs them on a [`Target`](crate::Target).
//!
//! The format is described in `vectors/README.md`, for runners in other languages too.

mod expect;
mod file;
mod run;
mod spec;

pub use file::{Scenario, VectorFile, read_all};
pub use run::{Report, run_all};
