//! Every interleaving of the store calls of a few workers, with crashes, failing calls, effects
//! that come late, and a clock that moves between any two calls.
//!
//! The shipped core runs; each of its store calls is a point where the explorer chooses who
//! goes on, what fails, who dies, and whether the clock moves. Each history that comes out is
//! checked against the [`oracle`], which knows the promises and nothing of the code; and after
//! each, the key must become free and purges must leave nothing.

pub mod oracle;

mod scenarios;
mod script;

mod explorer;
mod hashed;
mod state;
mod store;
mod told;
mod worker;

mod aftermath;

pub use explorer::{Explored, Violation, explore, shortest};
pub use scenarios::{Size, scenarios};
pub use script::{Address, Scenario, make};
