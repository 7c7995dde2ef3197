//! The fuzz targets. A failure prints its input; `cargo xtask fuzz` says how to search on.

mod calls;
mod choices;
mod damage;
mod keys;
mod records;
