//! Real servers on loopback, started by the tests that need them and stopped again by pid.
//!
//! Each keeps its files in a folder of its own, which goes with it. A program that is missing is
//! a failure that says which package to install. All servers end with the process of the tests,
//! also where it is killed.

mod certificate;
mod nats;
mod postgres;
mod process;
mod redis;
mod spin;

pub use certificate::Certificate;
pub use nats::{NatsCluster, NatsServer};
pub use postgres::PostgresServer;
pub use redis::RedisServer;
pub use spin::SpinServer;

use std::net::TcpListener;

/// A TCP port of loopback that was free a moment ago.
///
/// # Panics
/// Where there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its number").port()
}
