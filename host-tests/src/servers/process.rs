//! A server's process: started so that it cannot outlive the tests, stopped by its pid.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Looks whether a server has started or ended, and the pause between two: 20 s in all.
const LOOKS: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(20);

/// Where Debian keeps servers that are not in the search path.
const SBIN: &str = "/usr/sbin";
/// The same for PostgreSQL: `<version>/bin`.
const POSTGRESQL: &str = "/usr/lib/postgresql";

/// The path of a server's program.
///
/// # Panics
/// Where it is missing; the message says which Debian package has it.
pub(super) fn program(name: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir(POSTGRESQL).into_iter().flatten().flatten();
    let folders = std::env::split_paths(&path)
        .chain([PathBuf::from(SBIN)])
        .chain(versions.map(|version| version.path().join("bin")));
    let found = folders.map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| {
        panic!("{name} is missing: apt-get install -y --no-install-recommends {package}")
    })
}

/// A running server.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stop: Signal,
}

impl Process {
    /// Starts `program`, so that it gets `stop` when the process of the tests ends. Its output
    /// goes to the end of the file `log`.
    pub(super) fn start(
        program: &Path,
        arguments: &[String],
        user: Option<&str>,
        stop: Signal,
        log: &Path,
    ) -> io::Result<Self> {
        let log = std::fs::File::options().create(true).append(true).open(log)?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", stop.as_str().trim_start_matches("SIG")]);
        if let Some(user) = user {
            command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        }
        command.arg("--").arg(program).args(arguments).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        Ok(Self { child: spawn(command)?, stop })
    }

    /// Asks it to end as it likes to, and waits until it has.
    pub(super) fn stop(&mut self) {
        self.signal(self.stop);
        self.wait();
    }

    /// Ends it with `SIGKILL`.
    pub(super) fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        self.wait();
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(pid), signal);
    }

    /// Whether it has ended.
    pub(super) fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    fn wait(&mut self) {
        for _ in 0..LOOKS {
            if self.child.try_wait().expect("a child").is_some() {
                return;
            }
            thread::sleep(PAUSE);
        }
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
    }

    /// Waits until it listens on the port.
    ///
    /// # Panics
    /// Where it does not, with the log.
    pub(super) fn listens(&mut self, port: u16, log: &Path) {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        for _ in 0..LOOKS {
            if TcpStream::connect_timeout(&address, PAUSE).is_ok() {
                return;
            }
            if let Some(status) = self.child.try_wait().expect("a child") {
                let log = std::fs::read_to_string(log).unwrap_or_default();
                panic!("the server ended with {status}:\n{log}");
            }
            thread::sleep(PAUSE);
        }
        panic!("nothing listens on port {port}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(self.stop);
        for _ in 0..LOOKS / 4 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(PAUSE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Who asks for a process, and gets it.
type Order = (Command, Sender<io::Result<Child>>);

/// Starts a process from a thread that lives as long as this process: the signal at the
/// parent's death comes when the thread ends that started the child.
fn spawn(command: Command) -> io::Result<Child> {
    static NURSERY: OnceLock<Sender<Order>> = OnceLock::new();
    let nursery = NURSERY.get_or_init(|| {
        let (orders, ordered): (Sender<Order>, Receiver<Order>) = channel();
        thread::spawn(move || {
            for (mut command, reply) in ordered {
                let _ = reply.send(command.spawn());
            }
        });
        orders
    });
    let (reply, answer) = channel();
    nursery.send((command, reply)).expect("the nursery lives");
    answer.recv().expect("the nursery answers")
}
