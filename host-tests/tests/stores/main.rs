//! The stores on real servers, which the tests start themselves: the contract, the vectors,
//! what each store says of itself, and what a call costs.

mod broken;
mod conformance;
mod nats;
mod postgres;
mod redis;
mod round_trips;
mod shared;
mod tls;
mod urls;
mod vectors;
