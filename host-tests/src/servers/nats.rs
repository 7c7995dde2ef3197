//! `nats-server` with JetStream: one, or a cluster.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::certificate::Certificate;
use super::free_port;
use super::process::{Process, program};

/// A newer server than Debian's, where `cargo xtask` puts it: see [`NatsCluster`].
const NEWER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/nats/bin/nats-server");

/// Looks whether a bucket has a leader, and the pause between two.
const LOOKS: u32 = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

/// A NATS server with JetStream.
#[derive(Debug)]
pub struct NatsServer {
    folder: TempDir,
    program: PathBuf,
    port: u16,
    process: Process,
}

impl NatsServer {
    /// One server by itself.
    pub fn start() -> Self {
        Self::with("")
    }

    /// One that demands TLS.
    pub fn with_tls(certificate: &Certificate) -> Self {
        let (path, key) = (certificate.path(), certificate.key());
        let (path, key) = (path.display(), key.display());
        Self::with(&format!("tls {{ cert_file: \"{path}\", key_file: \"{key}\" }}"))
    }

    /// With these lines in its configuration.
    pub fn with(settings: &str) -> Self {
        Self::of(program("nats-server", "nats-server"), settings)
    }

    /// # Panics
    /// Where it does not start.
    fn of(program: PathBuf, settings: &str) -> Self {
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder for the server");
        let mut config = format!("listen: \"127.0.0.1:{port}\"\n{settings}\n");
        let store = folder.path().join("jetstream");
        writeln!(config, "jetstream {{ store_dir: \"{}\" }}", store.display()).expect("a text");
        std::fs::write(folder.path().join("nats.conf"), config).expect("a configuration");
        let process = start(&program, &folder, port);
        Self { folder, program, port, process }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A store URL.
    pub fn url(&self, bucket: &str) -> String {
        format!("nats://127.0.0.1:{}/{bucket}", self.port)
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
        self.process = start(&self.program, &self.folder, self.port);
    }
}

fn start(program: &Path, folder: &TempDir, port: u16) -> Process {
    let log = folder.path().join("log");
    let arguments = ["-c".to_owned(), folder.path().join("nats.conf").display().to_string()];
    let process = Process::start(program, &arguments, None, Signal::SIGTERM, &log);
    let mut process = process.expect("nats-server");
    process.listens(port, &log);
    process
}

/// Three servers that keep everything three times, of a version whose replicated buckets are
/// sound; Debian 12 has an older one, which the store refuses.
#[derive(Debug)]
pub struct NatsCluster {
    servers: Vec<NatsServer>,
}

impl NatsCluster {
    /// Three servers.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Three servers with these lines in their configurations.
    pub fn with(settings: &str) -> Self {
        let newer = PathBuf::from(NEWER);
        assert!(newer.is_file(), "nats-server 2.11 or later is missing: cargo xtask servers");
        Self::of(&newer, settings)
    }

    /// Three servers of Debian's version.
    pub fn of_debian() -> Self {
        Self::of(&program("nats-server", "nats-server"), "")
    }

    fn of(program: &Path, settings: &str) -> Self {
        let routes: Vec<u16> = (0..3).map(|_| free_port()).collect();
        let others: Vec<String> =
            routes.iter().map(|port| format!("\"nats-route://127.0.0.1:{port}\"")).collect();
        let server = |(number, route): (usize, &u16)| {
            let cluster = format!(
                "server_name: n{number}\n{settings}\ncluster {{ name: ledger, \
                 listen: \"127.0.0.1:{route}\", no_advertise: true, routes: [{}] }}",
                others.join(", ")
            );
            NatsServer::of(program.to_owned(), &cluster)
        };
        Self { servers: routes.iter().enumerate().map(server).collect() }
    }

    /// A store URL that names all three, for a bucket on all three.
    pub fn url(&self, bucket: &str) -> String {
        let hosts: Vec<String> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("nats://{}/{bucket}?replicas=3", hosts.join(","))
    }

    /// The number of the server that leads the bucket, once there is one.
    ///
    /// # Panics
    /// Where there is none for a minute.
    pub async fn leader(&self, bucket: &str) -> usize {
        let hosts: Vec<String> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        let client = async_nats::connect(hosts).await.expect("a server");
        let jetstream = async_nats::jetstream::new(client);
        for _ in 0..LOOKS {
            if let Ok(stream) = jetstream.get_stream(format!("KV_{bucket}")).await {
                let cluster = stream.cached_info().cluster.as_ref();
                let leader = cluster.and_then(|cluster| cluster.leader.as_deref());
                if let Some(number) = leader.and_then(|name| name.strip_prefix('n')?.parse().ok()) {
                    return number;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("no server leads the bucket {bucket}");
    }

    /// Ends the server that leads the bucket with `SIGKILL`; answers its number.
    pub async fn kill_leader(&mut self, bucket: &str) -> usize {
        let leader = self.leader(bucket).await;
        tokio::task::block_in_place(|| self.servers[leader].kill());
        leader
    }

    /// Starts one that was killed.
    pub async fn start_again(&mut self, number: usize) {
        tokio::task::block_in_place(|| self.servers[number].start_again());
    }
}
