//! `postgres`.

use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use nix::unistd::{Uid, User, chown};
use tempfile::TempDir;

use super::certificate::Certificate;
use super::free_port;
use super::process::{Process, program};

/// The user that Debian's package makes; PostgreSQL does not run as root.
const USER: &str = "postgres";

/// A PostgreSQL server with the user `ledger`, its own superuser, and the database `ledger`.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    process: Process,
}

impl PostgresServer {
    /// A new one.
    ///
    /// # Panics
    /// Where it does not start, or is not installed.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// A new one that also speaks TLS.
    pub fn with_tls(certificate: &Certificate) -> Self {
        Self::with(&[
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate.path().display()),
            format!("ssl_key_file={}", certificate.key().display()),
        ])
    }

    fn with(settings: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the server");
        let data = folder.path().join("data");
        let mut command = Command::new("setpriv");
        if let Some(user) = user() {
            chown(folder.path(), Some(user.uid), Some(user.gid)).expect("a folder of its own");
            command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
        }
        command.arg("--").arg(program("initdb", "postgresql"));
        command.args(["--no-sync", "--auth=trust", "--username=ledger", "--encoding=UTF8"]);
        command.args(["--locale=C.UTF-8", "-D"]).arg(&data).current_dir(folder.path());
        let output = command.output().expect("initdb");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let port = free_port();
        let process = start(folder.path(), port, settings);
        let server = Self { folder, port, settings: settings.to_vec(), process };
        server.execute("CREATE DATABASE ledger");
        server
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A store URL; `schema` separates stores.
    pub fn url(&self, schema: &str) -> String {
        format!("postgres://ledger@127.0.0.1:{}/ledger?schema={schema}", self.port)
    }

    /// Has a statement carried out, in the database `postgres`.
    ///
    /// # Panics
    /// Where it fails for 20 s.
    pub fn execute(&self, statement: &str) {
        for attempt in 0..200 {
            let mut command = Command::new(program("psql", "postgresql"));
            command.args(["-h", "127.0.0.1", "-U", "ledger", "-q", "-p", &self.port.to_string()]);
            let output = command.args(["-c", statement, "postgres"]).output().expect("psql");
            if output.status.success() {
                return;
            }
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(attempt < 199, "{statement}: {said}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    /// Ends every process of it at once, without a checkpoint, as a crash does.
    pub fn kill(&mut self) {
        self.process.signal(Signal::SIGQUIT);
        self.process.stop();
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        self.process.signal(Signal::SIGINT);
        self.process.stop();
    }

    /// Starts it again, on the same port and files, and waits until it has recovered.
    pub fn start_again(&mut self) {
        self.process = start(self.folder.path(), self.port, &self.settings);
        self.execute("SELECT 1");
    }
}

/// Who runs it, where the tests run as root.
pub(super) fn user() -> Option<User> {
    let user = || User::from_name(USER).expect("a list of users").expect("its user");
    Uid::effective().is_root().then(user)
}

fn start(folder: &Path, port: u16, settings: &[String]) -> Process {
    let log = folder.join("log");
    let mut arguments = vec!["-D".to_owned(), folder.join("data").display().to_string()];
    let folder = folder.display();
    for setting in [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={folder}"),
        "max_connections=200".to_owned(),
        // Durable as by default: fsync and synchronous_commit stay on.
        "shared_buffers=32MB".to_owned(),
        "jit=off".to_owned(),
    ]
    .into_iter()
    .chain(settings.to_vec())
    {
        arguments.extend(["-c".to_owned(), setting]);
    }
    let program = program("postgres", "postgresql");
    let process = Process::start(&program, &arguments, user().map(|_| USER), Signal::SIGQUIT, &log);
    let mut process = process.expect("postgres");
    process.listens(port, &log);
    process
}
