//! What the fuzz targets in `tests/` share: the shipped core over a plain store, and the calls
//! and times that they choose from.
//!
//! `cargo test` plays each target for some seconds; `cargo xtask fuzz` plays them guided by what
//! code they reach, for as long as it is told.

pub mod bucket;

pub mod world;

pub mod step;
