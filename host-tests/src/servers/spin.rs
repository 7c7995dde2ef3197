//! The double of Spin in a process of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::process::Process;

/// How often it is looked whether it serves, and the pause between two: 60 s in all, for it
/// compiles its app first.
const LOOKS: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(20);

/// The program `spin-double`, serving.
#[derive(Debug)]
pub struct SpinServer {
    address: SocketAddr,
    process: Process,
}

impl SpinServer {
    /// Starts `program` with these arguments; `log` must not exist yet.
    ///
    /// # Panics
    /// Where it does not serve, with its log.
    pub fn start(program: &Path, arguments: &[String], log: &Path) -> Self {
        let process = Process::start(program, arguments, None, Signal::SIGKILL, log);
        let mut process = process.expect("setpriv");
        for _ in 0..LOOKS {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            let address = said.lines().find_map(|line| line.strip_prefix("listening on http://"));
            if let Some(address) = address.and_then(|address| address.parse().ok()) {
                return Self { address, process };
            }
            assert!(!process.is_over(), "the double of Spin ended:\n{said}");
            thread::sleep(PAUSE);
        }
        panic!("the double of Spin does not serve");
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it has died.
    pub fn is_over(&mut self) -> bool {
        self.process.is_over()
    }
}
