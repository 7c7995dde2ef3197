//! `redis-server`.

use std::path::PathBuf;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::certificate::Certificate;
use super::free_port;
use super::process::{Process, program};

/// A Redis server that writes every change to its disk before it answers.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    process: Process,
}

impl RedisServer {
    /// With `appendonly yes` and `appendfsync always`.
    pub fn start() -> Self {
        Self::with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// With these arguments, such as `--maxmemory-policy allkeys-lru`.
    ///
    /// # Panics
    /// Where it does not start, or is not installed.
    pub fn with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the server");
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let port = free_port();
        let process = start(&folder, port, &settings);
        Self { folder, port, settings, process }
    }

    /// One that speaks TLS only.
    pub fn with_tls(certificate: &Certificate) -> Self {
        let (path, key) = (certificate.path(), certificate.key());
        let (path, key) = (path.to_string_lossy(), key.to_string_lossy());
        let files = ["--tls-cert-file", &path, "--tls-key-file", &key, "--tls-ca-cert-file", &path];
        Self::with(&[&files[..], &["--tls-auth-clients", "no"]].concat())
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A store URL; `prefix` separates stores.
    pub fn url(&self, prefix: &str) -> String {
        format!("redis://127.0.0.1:{}/?prefix={prefix}", self.port)
    }

    /// Ends it with `SIGKILL`.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Starts it again, on the same port and files.
    pub fn start_again(&mut self) {
        self.process = start(&self.folder, self.port, &self.settings);
    }
}

fn start(folder: &TempDir, port: u16, settings: &[String]) -> Process {
    let log: PathBuf = folder.path().join("log");
    let mut arguments: Vec<String> =
        ["--bind", "127.0.0.1", "--save", ""].map(String::from).to_vec();
    let with_tls = settings.iter().any(|setting| setting == "--tls-cert-file");
    let ports = if with_tls { ["--port", "0", "--tls-port"].as_slice() } else { &["--port"] };
    arguments.extend(ports.iter().map(|&argument| argument.to_owned()));
    arguments.push(port.to_string());
    arguments.push("--dir".to_owned());
    arguments.push(folder.path().display().to_string());
    arguments.extend_from_slice(settings);
    let program = program("redis-server", "redis-server");
    let process = Process::start(&program, &arguments, None, Signal::SIGTERM, &log);
    let mut process = process.expect("redis-server");
    process.listens(port, &log);
    process
}
